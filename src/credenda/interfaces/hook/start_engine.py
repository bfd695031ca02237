"""Start a process that files the waiting messages and ends, if none runs."""

from __future__ import annotations

import os
import sys

from credenda.hook_files.places import Places, is_recent, list_waiting, set_mark

_BETWEEN_SECONDS = 5.0
"""Least time between two starts: one that is starting has not taken the lock yet."""


def start_engine(places: Places, database: str, user: str) -> bool:
    """Start `credenda worker --once` in the background if messages wait and none was started lately.

    The process inherits neither standard streams nor the agent's session, so that the agent waits for nothing.
    """
    if os.name == "nt" or not sys.executable or not list_waiting(places) or not _take_turn(places):
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


def _take_turn(places: Places) -> bool:
    mark = os.path.join(places.folder, "started")
    if is_recent(mark, _BETWEEN_SECONDS):  # a clock that was put back must not stop them
        return False
    set_mark(mark)
    return True
