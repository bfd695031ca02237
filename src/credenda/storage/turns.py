"""Turns of threads: those that would only meet in the database wait for each other before they ask it."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager
from threading import Lock, RLock
from typing import Final
from weakref import WeakValueDictionary

from credenda.deadline import check_deadline, get_seconds_left
from credenda.errors import Unavailable

TURN_SECONDS: Final = 30.0
"""The longest wait for a turn; that of a call with a deadline ends there."""


class Turns:
    """Locks of this process by name; a thread may take one that it holds. A name without a holder needs no memory."""

    def __init__(self) -> None:
        """Begin without a name."""
        self._lock = Lock()
        self._turns: WeakValueDictionary[str, _Turn] = WeakValueDictionary()

    @contextmanager
    def take(self, name: str) -> Generator[None]:
        """Hold the turn of a name inside the block; raises `Unavailable` when another thread keeps it too long."""
        with self._lock:
            turn = self._turns.get(name) or self._turns.setdefault(name, _Turn())
        left = get_seconds_left()
        if not turn.lock.acquire(timeout=TURN_SECONDS if left is None else min(TURN_SECONDS, left)):
            check_deadline()
            raise Unavailable("this user is busy", why="another call has held its turn too long", fix="try again")
        try:
            yield
        finally:
            turn.lock.release()


class _Turn:
    __slots__ = ("__weakref__", "lock")

    def __init__(self) -> None:
        self.lock = RLock()


_deciding: Final = Turns()


def take_turn(store: object, user_id: str) -> AbstractContextManager[None]:
    """Let the callers of this process who wait for an answer decide for a tenant of a store one after the other.

    Of those who decide at once, all but one decide in vain (see `storage.plan`). Work in the background takes no turn,
    so that no caller waits for it.
    """
    return _deciding.take(f"{id(store)} {user_id}")
