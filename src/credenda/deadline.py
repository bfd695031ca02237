"""The time by which the current call must end: a server sets it, and the storage stops work that goes on beyond it.

A thread cannot be ended from outside. Work beyond its deadline stops at its next statement: a read in progress is
interrupted, and a transaction does not begin. One that has begun commits, so that a call is done as a whole or not.
Work that somebody cancels stops at the same places.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Event

from credenda.clock import seconds
from credenda.errors import Unavailable

__all__ = ["allow_cancelling", "check_deadline", "is_limited", "is_over", "limit_duration"]

_deadline: ContextVar[float | None] = ContextVar("credenda_deadline", default=None)
_cancelled: ContextVar[Event | None] = ContextVar("credenda_cancelled", default=None)


@contextmanager
def limit_duration(duration_seconds: float) -> Generator[None]:
    """Let everything inside the block, and threads that it starts with its context, work for so long at most."""
    token = _deadline.set(seconds() + duration_seconds)
    try:
        yield
    finally:
        _deadline.reset(token)


@contextmanager
def allow_cancelling(cancelled: Event) -> Generator[None]:
    """Let everything inside the block stop at its next statement once the event is set."""
    token = _cancelled.set(cancelled)
    try:
        yield
    finally:
        _cancelled.reset(token)


def is_limited() -> bool:
    """Return whether the current call has a deadline, or may be cancelled."""
    return _deadline.get() is not None or _cancelled.get() is not None


def is_over() -> bool:
    """Return whether the current call is beyond its deadline, or was cancelled."""
    deadline = _deadline.get()
    return (deadline is not None and seconds() > deadline) or _is_cancelled()


def check_deadline() -> None:
    """Raise `Unavailable` beyond the deadline, or where the work was cancelled."""
    if _is_cancelled():
        raise Unavailable("the work was cancelled", why="its job was cancelled, or the process ends")
    if is_over():
        raise Unavailable("the call took too long", why="a server stops calls that take longer", fix="ask for less")


def _is_cancelled() -> bool:
    cancelled = _cancelled.get()
    return cancelled is not None and cancelled.is_set()
