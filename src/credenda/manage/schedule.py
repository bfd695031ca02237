"""Which duties are due: a duty has a cadence and a last run, and what was missed is caught up once. Pure.

A duty that has never run is due at once. Nothing is run twice for two periods that went by: every duty works on the
state as it is. It is overdue when its next run is late by a whole period more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from credenda.model.report import DutyRun, DutyState

__all__ = ["Cadence", "due", "state"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cadence:
    """A duty by name and the microseconds from the start of one run to the next; 0 runs it on demand alone."""

    name: str
    every_us: int
    meaning: str


def due(duties: Sequence[Cadence], runs: Mapping[str, DutyRun], now_us: int) -> list[Cadence]:
    """Return the duties whose time has come, those that have waited longest first."""
    waiting = [(_next_us(duty, runs.get(duty.name)), duty) for duty in duties if duty.every_us]
    return [duty for next_us, duty in sorted(waiting, key=lambda one: one[0]) if next_us <= now_us]


def state(duty: Cadence, run: DutyRun | None, now_us: int, began_us: int) -> DutyState:
    """Say how a duty stands; `began_us` is since when the memory exists, which is what a first run is late against."""
    next_us = _next_us(duty, run) or now_us
    waited_us = now_us - (run.started_us if run else began_us)
    return DutyState(
        name=duty.name,
        meaning=duty.meaning,
        every_seconds=duty.every_us // 1_000_000,
        last_us=run.started_us if run else None,
        took_ms=run.took_us / 1_000 if run else None,
        result=run.result if run else "",
        failed=run.failed if run else False,
        next_us=next_us if duty.every_us else None,
        overdue=bool(duty.every_us) and waited_us > 2 * duty.every_us,
    )


def _next_us(duty: Cadence, run: DutyRun | None) -> int:
    return run.started_us + duty.every_us if run else 0
