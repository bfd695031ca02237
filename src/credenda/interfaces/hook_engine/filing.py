"""File the messages that hooks have written to disk."""

from __future__ import annotations

import logging
import os
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from credenda.agents.denial import challenge_denied
from credenda.clock import to_datetime
from credenda.errors import Conflict, CredendaError, Unavailable
from credenda.hook_files.places import Places, find_places, list_waiting
from credenda.interfaces.hook.read_file import has_unread
from credenda.interfaces.hook.run import Waiting, read_waiting, start_engine

if TYPE_CHECKING:
    from credenda.client import Credenda

_log: Final = logging.getLogger(__name__)
_DAMAGED: Final = ".damaged"


def find_memory_places(memory: Credenda) -> Places:
    """Return the places of the hooks of an open memory."""
    return find_places(memory.location, memory.user)


def file_waiting(memory: Credenda, places: Places) -> int:
    """File every message that waits, oldest first, and return how many were filed.

    A message is removed when it is on disk in the database; its key keeps a second filing from doing anything. What the
    memory refuses is removed, because it would be refused again. Raises `Unavailable` if the database cannot be
    written; then the rest stays.
    """
    filed = 0
    for path in list_waiting(places):
        message = read_waiting(path)
        if message is None:
            if os.path.exists(path):
                os.replace(path, path + _DAMAGED)
            continue
        try:
            _file(memory, message)
            filed += 1
        except Conflict:
            _log.debug("a message was filed before")
        except Unavailable:
            raise
        except CredendaError as error:
            _log.warning("a message of a hook was refused: %s", error.code)
        with suppress(FileNotFoundError):
            os.unlink(path)
    return filed


def leave_work(memory: Credenda) -> None:
    """Have another process do what this one leaves, which a host ends at once: file what waits, and read the rest.

    It does nothing where no hook has run, and for a database on a server, whose address this process does not tell.
    """
    path, user, places = memory.location, memory.user, find_memory_places(memory)
    if memory.read_only or not os.path.isdir(places.folder) or not os.path.exists(path):
        return
    start_engine(places, path, user, has_unread=lambda: has_unread(path, user))


def _file(memory: Credenda, message: Waiting) -> None:
    memory.remember(
        [{"role": message.role, "content": message.text}],
        session=message.session,
        agent=message.agent,
        source=message.source,
        occurred_at=to_datetime(message.moment_us),
        metadata={"project": message.project} if message.project else None,
        idempotency_key=f"hook-{message.key}",
    )
    if message.role == "user" and message.shown:
        challenge_denied(memory, message.text, message.shown)
