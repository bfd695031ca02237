"""Scheduled tasks: leadership, due times and results.

For each user one process leads at a time, by a lease in the database; it runs the due tasks and records the results.
Processes that work for all users go through them together, a portion each at a time. Only `credenda worker` and
long-lived processes run scheduled tasks, not single commands.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from credenda import services
from credenda.clock import DAY_US, SECOND_US, has_ended
from credenda.errors import Conflict, CredendaError, Invalid
from credenda.manage.lifecycle import ScheduledTask, describe_state, find_due
from credenda.model.report import DutyRun, ScheduleReport
from credenda.runtime import Parts
from credenda.services import dream_run
from credenda.services.core import core
from credenda.services.lifecycle import decay, run_lifecycle
from credenda.services.resolve import find_loops
from credenda.storage.store import EventFilter, Watermark, Writer
from credenda.text.recalled_block import count_noun
from credenda.workers.loop import make_lease, take

_log = logging.getLogger(__name__)
_LEASE_SECONDS: Final = 900
"""Time after which a silent leader is replaced; longer than any task takes."""
_AUDIT_DAYS: Final = 30
_PLACE: Final = "place in the pass"
"""The watermark of the last user that was claimed: its tag, as a number. There is none before the first one."""
_REST: Final = "end of the pass"
"""The watermark of the time at which the next pass over all users may begin."""
_PASS_US: Final = 60 * SECOND_US
_PORTION: Final = 16
_TRIES: Final = 5


def _run_decay(parts: Parts) -> str:
    report = decay(parts)
    return f"{report.updated:,} of {report.examined:,} scores changed"


def _run_lifecycle(parts: Parts) -> str:
    report = run_lifecycle(parts)
    return f"{report.promoted:,} promoted, {report.archived:,} archived"


def _run_audit(parts: Parts) -> str:
    found = find_loops(parts)
    return f"{len(found):,} slots alternate" + ("; see `credenda contests --audit`" if found else "")


def _run_core(parts: Parts) -> str:
    report = core(parts)
    changed = len(report.diff.added) + len(report.diff.removed) + len(report.diff.reworded)
    return f"{changed:,} {'line' if changed == 1 else 'lines'} changed" if report.rewritten else "nothing changed"


def _run_dream(parts: Parts) -> str:
    report = dream_run.dream(parts, stay=lambda: _acquire_leadership(parts))
    if not report.ran:
        return f"nothing: {report.reason}"
    failed = [step.name for step in report.steps if step.failed]
    changes = "1 change" if report.changed == 1 else f"{report.changed or 'no'} changes"
    return changes + (f"; failed: {', '.join(failed)}" if failed else "")


def _run_consolidation(parts: Parts) -> str:
    report = services.consolidation.consolidate(parts)
    told = f"{count_noun(report.memories_consolidated, 'memory')} consolidated" if report.ran else report.reason
    left_out = f"; {len(report.quarantined):,} failed three times and are left out" if report.quarantined else ""
    return told + left_out


_DUTIES: Final[Mapping[str, Callable[[Parts], str]]] = {
    "decay": _run_decay,
    "lifecycle": _run_lifecycle,
    "consolidate": _run_consolidation,
    "dream": _run_dream,
    "audit": _run_audit,
    "core": _run_core,
}


def list_cadences(parts: Parts) -> tuple[ScheduledTask, ...]:
    """Return the scheduled tasks with their cadence; for consolidation, how often its trigger is checked."""
    settings = parts.settings
    enabled = settings.memory_consolidation_enabled
    return (
        ScheduledTask(
            name="decay",
            every_us=settings.decay_interval * SECOND_US,
            meaning="recompute retention scores",
        ),
        ScheduledTask(name="lifecycle", every_us=DAY_US, meaning="promote or archive memories"),
        ScheduledTask(name="core", every_us=DAY_US, meaning="update the core from the recall log"),
        ScheduledTask(
            name="consolidate",
            every_us=settings.memory_consolidation_interval_seconds * SECOND_US if enabled else 0,
            meaning="merge equivalent or successive memories",
        ),
        ScheduledTask(name="dream", every_us=DAY_US, meaning="cards, bridges, doubts, code drift, old logs"),
        ScheduledTask(name="audit", every_us=_AUDIT_DAYS * DAY_US, meaning="find slots that alternate (R-084)"),
    )


def schedule(parts: Parts) -> ScheduleReport:
    """Return the state of every scheduled task."""
    return _report(parts)


def run_duties(parts: Parts, names: tuple[str, ...] = ()) -> ScheduleReport:
    """Run the tasks that are due, or the named ones in any case, and return the state of all.

    Raises `Invalid` for an unknown name. While another process leads, nothing runs and `reason` says so. A failed task
    is recorded with the type of its error; the others still run.
    """
    known = {duty.name: duty for duty in list_cadences(parts)}
    for name in names:
        if name not in known:
            raise Invalid(f"there is no scheduled task {name!r}", fix=f"choose among {', '.join(known)}")
    ran, reason = _run_tasks(parts, [known[name] for name in names] or _find_due(parts))
    return _report(parts, tuple(ran), reason=reason)


def run_due(parts: Parts) -> list[DutyRun]:
    """Run the tasks that are due, as `run_duties` does, and return their results."""
    return _run_tasks(parts, _find_due(parts))[0]


def _find_due(parts: Parts) -> list[ScheduledTask]:
    with parts.store.reader(parts.user_id) as reader:
        runs = {run.name: run for run in reader.duties.runs()}
    return find_due(list_cadences(parts), runs, parts.clock.now_us())


def _run_tasks(parts: Parts, wanted: Sequence[ScheduledTask]) -> tuple[list[DutyRun], str]:
    """Run tasks; return their results, and why the rest of them did not run."""
    ran: list[DutyRun] = []
    try:
        for duty in wanted:
            _acquire_leadership(parts)
            ran.append(_run(parts, duty.name))
    except Conflict as error:
        return ran, str(error)
    return ran, "" if wanted else "nothing is due"


def take_users(parts: Parts) -> list[str]:
    """Return the next users to look after, in order of name; none until the next pass over all users begins.

    No other process gets them in this pass; if this one dies, the next pass reaches them. How far the pass has come is
    a row of the user of `parts`. It names the last user by the tag of the ids, which does not outlive an erasure.
    """
    for _ in range(_TRIES):
        with parts.store.reader(parts.user_id) as reader:
            place, rest_us = reader.duties.watermark(_PLACE), reader.duties.watermark(_REST) or 0
        now_us = parts.clock.now_us()
        if not has_ended(rest_us, now_us):
            return []
        last = None if place is None else parts.store.user_of(f"{place:06x}")
        page = parts.store.users(after=last or "", limit=_PORTION)
        marks = [Watermark(name=_PLACE, value=_find_tag(parts, page[-1]) if page else None, at_us=now_us)]
        if not page:
            marks.append(Watermark(name=_REST, value=now_us + _PASS_US, at_us=now_us))

        def claim(writer: Writer, place: int | None = place, marks: list[Watermark] = marks) -> bool:
            is_free = writer.duties.watermark(_PLACE) == place
            for mark in marks if is_free else ():
                writer.put(mark)
            return is_free

        if parts.store.commit(parts.user_id, claim):
            return page
    return []


def _find_tag(parts: Parts, user: str) -> int | None:
    with parts.store.reader(user) as reader:
        return int(reader.tenant.tag, 16) if reader.tenant.tag else None


def _acquire_leadership(parts: Parts) -> None:
    take(parts, make_lease(parts, _LEASE_SECONDS))


def _run(parts: Parts, name: str) -> DutyRun:
    started_us, failed = parts.clock.now_us(), False
    try:
        result = _DUTIES[name](parts)
    except CredendaError as error:
        failed, result = True, error.code
        _log.warning("duty failed", extra={"duty": name, "error": error.code})
    took_us = parts.clock.now_us() - started_us
    run = DutyRun(name=name, started_us=started_us, took_us=took_us, result=result, failed=failed)
    parts.store.commit(parts.user_id, lambda writer: writer.put(run))
    return run


def _report(parts: Parts, ran: tuple[DutyRun, ...] = (), reason: str = "") -> ScheduleReport:
    now_us = parts.clock.now_us()
    with parts.store.reader(parts.user_id) as reader:
        runs = {run.name: run for run in reader.duties.runs()}
        first = reader.find_events(EventFilter(limit=1, redacted=True))
        began_us = first[0].recorded_us if first else now_us
    states = tuple(describe_state(duty, runs.get(duty.name), now_us, began_us) for duty in list_cadences(parts))
    return ScheduleReport(duties=states, ran=ran, reason=reason)
