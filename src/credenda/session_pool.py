"""A bounded pool of open memories, one for each user, for doors and shims that serve many users of one store."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from threading import Condition
from typing import Final, Generic, Protocol, TypeVar

from credenda import limits
from credenda.errors import Unavailable

_log: Final = logging.getLogger(__name__)


class Session(Protocol):
    """A memory that the pool keeps open: a `Credenda`, or an object that wraps one."""

    def close(self) -> None:
        """Release it."""
        ...


S = TypeVar("S", bound=Session)


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolCounts:
    """How a pool stands, and how often each thing happened since it was made."""

    open: int = 0
    """Sessions that are open, being opened, or being closed."""
    in_use: int = 0
    """Of them, those that a call is using."""
    waiting: int = 0
    """Calls that wait for room or for a session that another call opens."""
    opened: int = 0
    reused: int = 0
    evicted: int = 0
    refused: int = 0
    """Calls that found no room in time."""


class _Entry(Generic[S]):
    """A user's place in the pool: `session` is None while it is being opened, and `leases` counts the calls."""

    def __init__(self) -> None:
        self.session: S | None = None
        self.failure: Exception | None = None
        self.leases = 1


class SessionPool(Generic[S]):
    """Open sessions by user, of which at most `sessions_max` are open at a time.

    A session that a call is using is never closed. Where there is no room, the session that was idle longest is closed
    first; where all are in use, a call waits, and after `wait_seconds` raises `Unavailable`. Two calls for one user
    share one session: the first opens it, and the other waits. All methods may be called from any thread.

    The setting `open_memories` is the usual bound. `open_session` is usually
    `lambda user: memory.for_user(user, workers=False)`: all sessions then share the store and the embedder of `memory`,
    which is closed after the pool.

    >>> from credenda import Credenda
    >>> memory = Credenda.open(getfixture("tmp_path") / "memory.db", user="server")
    >>> pool = SessionPool(lambda user: memory.for_user(user, workers=False), sessions_max=2)
    >>> with pool.lend("ana") as ana:
    ...     ana.user
    'ana'
    >>> pool.close(), memory.close()
    (None, None)
    """

    def __init__(
        self,
        open_session: Callable[[str], S],
        *,
        sessions_max: int,
        wait_seconds: float = limits.POOL_WAIT_SECONDS,
    ) -> None:
        self._open_session = open_session
        self._sessions_max = sessions_max
        self._wait_seconds = wait_seconds
        self._changed = Condition()
        self._entries: OrderedDict[str, _Entry[S]] = OrderedDict()
        self._closing = 0
        self._paused = False
        self._closed = False
        self._counted = PoolCounts()

    def __len__(self) -> int:
        with self._changed:
            return len(self._entries) + self._closing

    def counts(self) -> PoolCounts:
        """Return the figures for metrics."""
        with self._changed:
            used = sum(1 for entry in self._entries.values() if entry.leases)
            return replace(self._counted, open=len(self._entries) + self._closing, in_use=used)

    @contextmanager
    def lend(self, user: str) -> Generator[S]:
        """Lend the session of a user for the length of a call.

        Raises `Unavailable` for a closed pool or where all sessions stay in use, and whatever opening one raises.
        """
        entry = self._take(user)
        try:
            yield self._session_of(entry)
        finally:
            with self._changed:
                entry.leases -= 1
                last = self._closed and not entry.leases and self._entries.get(user) is entry
                leaving = self._take_out([user]) if last else []
                self._changed.notify_all()
            self._close_all(leaving)

    @contextmanager
    def paused(self) -> Generator[None]:
        """Close every session and let none be opened until the block ends; raises `Unavailable` while one is in use."""
        with self._changed:
            if self._paused or any(entry.leases for entry in self._entries.values()):
                raise Unavailable("the memory is in use", why="another call is under way", fix="try again when none is")
            self._paused = True
            idle = self._take_out([*self._entries])
        try:
            self._close_all(idle)
            yield
        finally:
            with self._changed:
                self._paused = False
                self._changed.notify_all()

    def close(self) -> None:
        """Close every session; one that a call is using is closed when the call ends. Closing twice does nothing."""
        with self._changed:
            self._closed = True
            idle = self._take_out([user for user, entry in self._entries.items() if not entry.leases])
            self._changed.notify_all()
        self._close_all(idle)

    def _take(self, user: str) -> _Entry[S]:
        """Count one more call of a user; where the user has no session, make room for one, which the caller opens."""
        with self._changed:
            self._wait_until(lambda: self._has_room(user))
            if self._closed:
                raise Unavailable("this memory is closed", fix="open a new one")
            known = self._entries.get(user)
            if known is not None:
                known.leases += 1
                self._entries.move_to_end(user)
                self._count(reused=1)
                return known
            entry = self._entries[user] = _Entry[S]()
            surplus = len(self._entries) + self._closing - self._sessions_max
            idle = [name for name, one in self._entries.items() if not one.leases][: max(0, surplus)]
            leaving = self._take_out(idle)
            self._count(opened=1, evicted=len(leaving))
        try:
            self._close_all(leaving)
            session = self._open_session(user)
        except BaseException as error:
            with self._changed:
                entry.failure = error if isinstance(error, Exception) else Unavailable("opening was broken off")
                self._entries.pop(user)
                self._changed.notify_all()
            raise
        with self._changed:
            entry.session = session
            self._changed.notify_all()
        return entry

    def _has_room(self, user: str) -> bool:
        """Say whether a call for a user can go on: the pool is closed, or the user has a place, or there is one."""
        if self._closed or (user in self._entries and not self._paused):
            return True
        used = sum(1 for entry in self._entries.values() if entry.leases)
        return not self._paused and used + self._closing < self._sessions_max

    def _wait_until(self, ready: Callable[[], bool]) -> None:
        if ready():
            return
        self._count(waiting=1)
        found = self._changed.wait_for(ready, self._wait_seconds)
        self._count(waiting=-1, refused=0 if found else 1)
        if not found:
            why = f"{self._sessions_max} may be open at a time, and others are in use or being opened"
            raise Unavailable("no memory can be opened now", why=why, fix="try again")

    def _session_of(self, entry: _Entry[S]) -> S:
        """Return the session, once the call that opens it has; raises what that call met."""
        with self._changed:
            self._wait_until(lambda: entry.session is not None or entry.failure is not None)
            if entry.session is None:
                raise entry.failure or Unavailable("no memory was opened")
            return entry.session

    def _take_out(self, users: list[str]) -> list[S]:
        """Take idle sessions out, to be closed without the lock."""
        leaving = [entry.session for user in users if (entry := self._entries.pop(user)).session is not None]
        self._closing += len(leaving)
        return leaving

    def _close_all(self, sessions: list[S]) -> None:
        for session in sessions:
            try:
                session.close()
            except Exception as error:  # noqa: BLE001 - the call of one user must not fail for the session of another
                _log.warning("a memory did not close: %s", type(error).__name__)
            finally:
                with self._changed:
                    self._closing -= 1
                    self._changed.notify_all()

    def _count(self, *, waiting: int = 0, opened: int = 0, reused: int = 0, evicted: int = 0, refused: int = 0) -> None:
        known = self._counted
        self._counted = replace(
            known,
            waiting=known.waiting + waiting,
            opened=known.opened + opened,
            reused=known.reused + reused,
            evicted=known.evicted + evicted,
            refused=known.refused + refused,
        )
