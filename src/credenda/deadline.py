"""The time by which the current call must end: a server sets it, and the storage stops work that goes on beyond it.

A thread cannot be ended from outside. Work beyond its deadline stops at its next statement: a read in progress is
interrupted, and a transaction does not begin. One that has begun commits, so that a call is done as a whole or not.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

from credenda.clock import seconds
from credenda.errors import Unavailable

__all__ = ["check_deadline", "limit_duration", "read_deadline"]

_deadline: ContextVar[float | None] = ContextVar("credenda_deadline", default=None)


@contextmanager
def limit_duration(duration_seconds: float) -> Generator[None]:
    """Let everything inside the block, and threads that it starts with its context, work for so long at most."""
    token = _deadline.set(seconds() + duration_seconds)
    try:
        yield
    finally:
        _deadline.reset(token)


def read_deadline() -> float | None:
    """Return the deadline on the clock of `clock.seconds`; None where there is none."""
    return _deadline.get()


def check_deadline() -> None:
    """Raise `Unavailable` beyond the deadline."""
    deadline = _deadline.get()
    if deadline is not None and seconds() > deadline:
        raise Unavailable("the call took too long", why="a server stops calls that take longer", fix="ask for less")
