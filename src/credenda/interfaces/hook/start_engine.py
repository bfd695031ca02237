"""Start a process that files the waiting messages, reads what is not read yet and ends."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress

from credenda.hook_files.places import Places, is_recent, list_waiting, set_mark

_BETWEEN_SECONDS = 5.0
"""Least time between two starts, unless the first process has begun to look."""


def start_engine(places: Places, database: str, user: str, *, has_unread: Callable[[], bool] = lambda: False) -> bool:
    """Start `credenda worker --once` in the background if messages wait, or are filed and not read, and none starts.

    The process inherits neither standard streams nor the agent's session, so that the agent waits for nothing.
    """
    if os.name == "nt" or not sys.executable or not (list_waiting(places) or has_unread()) or not _take_turn(places):
        return False
    arguments = [sys.executable, "-P", "-m", "credenda", "--db", database, "--user", user, "worker", "--once"]
    null = os.open(os.devnull, os.O_RDWR)
    try:
        streams = [(os.POSIX_SPAWN_DUP2, null, number) for number in range(3)]
        environment = dict(os.environ)
        os.posix_spawn(sys.executable, arguments, environment, file_actions=streams, setsid=True)
    except (OSError, NotImplementedError):
        return False
    finally:
        os.close(null)
    return True


def begin_to_look(places: Places) -> None:
    """Tell in the process that was started that what comes from now on needs another one: it may not see that."""
    with suppress(OSError):
        os.unlink(_find_mark(places))


def _take_turn(places: Places) -> bool:
    mark = _find_mark(places)
    if is_recent(mark, _BETWEEN_SECONDS):  # a clock that was put back must not stop them
        return False
    set_mark(mark)
    return True


def _find_mark(places: Places) -> str:
    return os.path.join(places.folder, "started")
