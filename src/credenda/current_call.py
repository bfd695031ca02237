"""The data of the current call: its end, author, place, and listener of its progress.

A server sets when a call ends, at a time or as soon as its caller no longer waits, and the storage stops work that goes
on beyond that. A thread cannot be ended from outside. Work beyond its end stops at its next statement: a read in
progress is interrupted, and a transaction does not begin. One that has begun commits, so that a call is done as a whole
or not.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import tzinfo
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


# The author in the current call: a server names the member who writes, and the storage keeps it with each row.


_author: ContextVar[str] = ContextVar("credenda_author", default="")


@contextmanager
def use_author(member_id: str) -> Generator[None]:
    """Name the author of everything that is written inside the block, and in threads that it starts."""
    token = _author.set(member_id)
    try:
        yield
    finally:
        _author.reset(token)


def read_author() -> str:
    """Return the id of the member who writes; "" for the user whose memory it is, and for background work."""
    return _author.get()


# The time zone of who calls: a page knows it from the browser.


_zone: ContextVar[tzinfo | None] = ContextVar("credenda_zone", default=None)


@contextmanager
def use_zone(zone: tzinfo) -> Generator[None]:
    """Read times without a zone in this one, in everything inside the block."""
    token = _zone.set(zone)
    try:
        yield
    finally:
        _zone.reset(token)


def read_zone(usual: tzinfo) -> tzinfo:
    """Return the zone of times without one; the usual one where the caller named none."""
    return _zone.get() or usual


# The progress of the current call, reported to who waits for it; work that nobody waits for reports to nobody.


Report = Callable[[float, float, str], None]
"""Takes what is done, out of what total, and what is being done: words of the program, never of a memory."""

_report: ContextVar[Report | None] = ContextVar("credenda_progress", default=None)


@contextmanager
def report_to(report: Report | None) -> Generator[None]:
    """Report the progress of everything inside the block, and of threads that it starts with its context."""
    token = _report.set(report)
    try:
        yield
    finally:
        _report.reset(token)


def report_progress(done: float, total: float, doing: str) -> None:
    """Report progress; raises `Unavailable` if the current call must end."""
    check_deadline()
    report = _report.get()
    if report is not None:
        report(done, total, doing)


@contextmanager
def report_within(done: int, total: int, doing: str) -> Generator[None]:
    """Report that a part of the work begins; progress reported inside the block is progress of that part."""
    report_progress(done, total, doing)
    outer = _report.get()

    def report_part(part: float, whole: float, _: str) -> None:
        if outer is not None and whole:
            outer(done + min(part / whole, 0.99), total, doing)

    with report_to(report_part):
        yield


# Tokens and cost of language models in the current call.


@dataclass(slots=True)
class ModelUse:
    """The sum over the calls of models."""

    tokens_in: int = 0
    tokens_out: int = 0
    cost_usd: float = 0.0


_current: ContextVar[ModelUse | None] = ContextVar("credenda_model_use", default=None)


@contextmanager
def measure_model_use() -> Generator[ModelUse]:
    """Count the calls of models inside the block, and in threads that it starts with its context."""
    use = ModelUse()
    token = _current.set(use)
    try:
        yield use
    finally:
        _current.reset(token)


def add_model_use(tokens_in: int, tokens_out: int, cost_usd: float) -> None:
    """Count a call of a model; nothing where nobody counts."""
    use = _current.get()
    if use is not None:
        use.tokens_in += tokens_in
        use.tokens_out += tokens_out
        use.cost_usd += cost_usd
