"""Decide which scheduled tasks are due, by interval and last run; a missed run is made up once. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from credenda.clock import is_ahead
from credenda.model.report import DutyRun, DutyState


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduledTask:
    """A scheduled task: its name and the microseconds between the starts of its runs; 0 for on demand only."""

    name: str
    every_us: int
    meaning: str


def find_due(duties: Sequence[ScheduledTask], runs: Mapping[str, DutyRun], now_us: int) -> list[ScheduledTask]:
    """Return the tasks that are due, the most overdue first."""
    waiting = [(_get_next_us(duty, runs.get(duty.name), now_us), duty) for duty in duties if duty.every_us]
    return [duty for next_us, duty in sorted(waiting, key=lambda one: one[0]) if next_us <= now_us]


def describe_state(duty: ScheduledTask, run: DutyRun | None, now_us: int, began_us: int) -> DutyState:
    """Describe the state of a task; `began_us` is when the store was created, the base of a first run's delay."""
    next_us = _get_next_us(duty, run, now_us) or now_us
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


def _get_next_us(duty: ScheduledTask, run: DutyRun | None, now_us: int) -> int:
    """Return when a task is due; 0 (at once) if it never ran, or ran before the clock was put back."""
    return 0 if run is None or is_ahead(run.started_us, now_us) else run.started_us + duty.every_us
