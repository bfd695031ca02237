"""When the current call must end: at a time, or as soon as its caller no longer waits for it.

A server sets both, and the storage stops work that goes on beyond them. A thread cannot be ended from outside. Work
beyond its end stops at its next statement: a read in progress is interrupted, and a transaction does not begin. One
that has begun commits, so that a call is done as a whole or not.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Event

from credenda.clock import seconds
from credenda.errors import Unavailable

_deadline: ContextVar[float | None] = ContextVar("credenda_deadline", default=None)
_stop: ContextVar[Event | None] = ContextVar("credenda_stop", default=None)


@contextmanager
def limit_duration(duration_seconds: float) -> Generator[None]:
    """Let everything inside the block, and threads that it starts with its context, work for so long at most."""
    token = _deadline.set(seconds() + duration_seconds)
    try:
        yield
    finally:
        _deadline.reset(token)


@contextmanager
def allow_stop(stop: Event | None = None) -> Generator[Event]:
    """Give an event, a new one if none is given, that ends everything inside the block when it is set.

    It also ends threads that the block starts with its context. Any thread may set it.
    """
    stop = stop or Event()
    token = _stop.set(stop)
    try:
        yield stop
    finally:
        _stop.reset(token)


def has_deadline() -> bool:
    """Return whether the current call may have to end before its work does."""
    return _deadline.get() is not None or _stop.get() is not None


def get_seconds_left() -> float | None:
    """Return how long the current call may work yet, 0 where it must end; None without a limit."""
    deadline = _deadline.get()
    return None if deadline is None else max(0.0, deadline - seconds())


def is_over() -> bool:
    """Return whether the current call must end."""
    return _is_stopped() or _is_late()


def _is_stopped() -> bool:
    stop = _stop.get()
    return stop is not None and stop.is_set()


def _is_late() -> bool:
    deadline = _deadline.get()
    return deadline is not None and seconds() > deadline


def check_deadline() -> None:
    """Raise `Unavailable` if the current call must end."""
    if _is_stopped():
        raise Unavailable("the call was cancelled", why="its caller asked for that", fix="call again")
    if _is_late():
        raise Unavailable("the call took too long", why="a server stops calls that take longer", fix="ask for less")
