"""Remove what hooks of agents have written for a user."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress

from credenda.hook_files.places import find_places


def remove_hook_files(database: str, user: str) -> None:
    """Remove a user's waiting messages, sessions and log; an engine that listens there goes on without its socket.

    Raises OSError if a message stays, because a removal must not be said to be complete then.
    """
    places = find_places(database, user)
    if not os.path.isdir(places.folder):
        return
    shutil.rmtree(places.waiting, ignore_errors=True)
    shutil.rmtree(places.folder, ignore_errors=True)
    if os.path.isdir(places.waiting):
        for name in os.listdir(places.waiting):
            os.unlink(os.path.join(places.waiting, name))
    with suppress(OSError):
        os.rmdir(os.path.dirname(places.folder))
