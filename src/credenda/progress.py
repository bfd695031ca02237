"""The progress of the current call, reported to who waits for it; work that nobody waits for reports to nobody."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar

from credenda.deadline import check_deadline

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
