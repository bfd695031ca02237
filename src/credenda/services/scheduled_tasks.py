"""Scheduled tasks: leadership, due times and results.

For each user one process leads at a time, by a lease in the database; it runs the due tasks and records the results.
Processes that work for all users go through them together, a portion each at a time. Only `credenda worker` and
long-lived processes run scheduled tasks, not single commands.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from credenda import services
from credenda.clock import DAY_US, SECOND_US, has_ended
from credenda.current_call import report_within
from credenda.errors import Conflict, CredendaError, Invalid
from credenda.manage.dream_cards import MergeRules, PruneRules
from credenda.manage.lifecycle import ScheduledTask, describe_state, find_due
from credenda.model.job import DutyRun
from credenda.model.report import DreamReport, DreamStep, ScheduleReport
from credenda.runtime import Parts
from credenda.services.consolidation import Wanted, run_over
from credenda.services.core import core
from credenda.services.dream_steps import Night, run_bridges, run_cards, run_decay, run_drift, run_probe, write_report
from credenda.services.edit import find_loops
from credenda.services.lifecycle import decay, run_lifecycle
from credenda.storage.store import EventFilter, Prune, Watermark, Writer
from credenda.text.recalled_block import count_kind, count_noun
from credenda.validation import check_words
from credenda.workers.loop import HeldError, flush_accesses, hold_lock, make_lease, take

# Run the dream: its steps in order; a failed step does not stop the others.


# Step 2: pass large, close clusters to the judge of consolidation.


def merge(night: Night, rules: MergeRules | None = None) -> DreamStep:
    """Merge equivalent memories in clusters of five or more; memories that differ in meaning stay separate."""
    bounds = rules or MergeRules()
    night.stay()
    settings = night.parts.settings
    wanted = Wanted(
        topic=None,
        threshold=1.0,
        k=settings.memory_consolidation_neighbor_k,
        cluster_max=settings.memory_consolidation_cluster_max,
        floor=bounds.cosine,
        least=bounds.least,
    )
    report = run_over(night.parts, wanted, dry_run=night.dry_run, night=True)
    became, went = ("would become", "would go") if night.dry_run else ("became", "went")
    told: list[str] = []
    if report.memories_consolidated:
        gone, judge = report.memories_consolidated, report.judge
        fewer = f"{became} {report.memories_created:,} or " if report.memories_created else ""
        told.append(f"{count_noun(gone, 'memory')} {fewer}{went} as doubles; judged by {judge}.")
    if report.failed:
        told.append(f"{count_noun(report.failed, 'cluster')} could not be judged and will be tried again.")
    counts = {
        "examined": report.examined,
        "merged": report.memories_consolidated,
        "created": report.memories_created,
        "linked": report.linked,
        "failed": report.failed,
    }
    return DreamStep(name="merge", ran=report.ran, reason=report.reason, told=tuple(told), counts=counts, merged=report)


# Step 7: delete old rows of operational logs; the journal and the change log stay complete (E-072).


def prune(night: Night, rules: PruneRules | None = None) -> DreamStep:
    """Delete old impressions without feedback and old finished jobs, in small batches."""
    bounds = rules or PruneRules()
    showings_us, jobs_us = bounds.before_us(night.now_us)
    found = night.see(lambda reader: reader.duties.prunable(showings_us, jobs_us))
    rounds = -(-max(found.values(), default=0) // bounds.rows_per_batch)
    row = Prune(showings_before_us=showings_us, jobs_before_us=jobs_us, limit=bounds.rows_per_batch)
    for _ in range(0 if night.dry_run else rounds):
        night.stay()
        night.parts.active_calls.wait_idle(1.0)
        night.parts.store.commit(night.parts.user_id, lambda writer: writer.put(row))
    verb = "would go" if night.dry_run else "went"
    days = {"showings": bounds.impressions_days, "jobs": bounds.jobs_days}
    told = [f"{count_kind(count, name)} older than {days[name]} days {verb}." for name, count in found.items() if count]
    return DreamStep(name="prune", told=tuple(told), counts=found)


_LOCK: Final = "dream"
_LOCK_SECONDS: Final = 300
"""Seconds, beyond two LLM calls, until the lock of a killed process expires; a running process renews it."""
_CARDS_MOVED: Final = frozenset({"written", "rewritten", "ended"})

STEPS: Final[Mapping[str, Callable[[Night], DreamStep]]] = {
    "forgetting": run_decay,
    "merge": merge,
    "cards": run_cards,
    "bridges": run_bridges,
    "probe": run_probe,
    "drift": run_drift,
    "prune": prune,
}
"""The steps by name, in their order (E-066…E-072)."""


def dream(
    parts: Parts,
    steps: Sequence[str] | None = None,
    *,
    dry_run: bool = False,
    stay: Callable[[], None] | None = None,
) -> DreamReport:
    """Run all steps or the named ones, in their order; a `dry_run` changes nothing and reports the planned changes.

    One process dreams at a time: while another does, nothing runs and `reason` says so. Each step writes in small
    commits, so the next run completes an interrupted one, and a second run changes nothing. `stay` renews the caller's
    own lease during the run. Raises `Invalid` for an unknown step.
    """
    if steps is None or not steps:
        chosen = list(STEPS)
    else:
        names = [name.strip() for one in check_words(steps, "steps") for name in one.split(",")]
        for name in names:
            if name not in STEPS:
                raise Invalid(
                    f"there is no step {name!r}",
                    why="the dream has no such step",
                    fix=f"choose among {', '.join(STEPS)}",
                )
        chosen = [name for name in STEPS if name in names]
    done: list[DreamStep] = []
    taken = False
    try:
        seconds = _LOCK_SECONDS + 2 * int(parts.settings.llm_timeout_seconds)
        with hold_lock(parts, _LOCK, seconds, free=dry_run) as lock:
            taken = lock.taken
            night = Night(parts=parts, dry_run=dry_run, stay=_renew_locks(lock.renew, None if dry_run else stay))
            for number, name in enumerate(chosen):
                parts.active_calls.wait_idle(1.0)
                night.stay()
                with report_within(number, len(chosen), name):
                    done.append(_run_step(name, night))
            _tell_again(night, done)
    except HeldError as error:
        if not done:
            return DreamReport(ran=False, dry_run=dry_run, reason=str(error))
        if len(done) < len(chosen):
            done.append(DreamStep(name=chosen[len(done)], ran=False, reason=str(error)))
    changed = sum(len(step.changes) + _count_other_effects(step) for step in done)
    told = write_report(done, parts.clock.now_us(), parts.settings.zone, dry_run=dry_run)
    return replace(
        DreamReport(ran=True, dry_run=dry_run, steps=tuple(done), changed=changed, brief=told), took_over=taken
    )


def _tell_again(night: Night, done: list[DreamStep]) -> None:
    """Rewrite cards whose facts were challenged or invalidated by later steps, so that a second run finds nothing."""
    place = next((place for place, step in enumerate(done) if step.name == "cards"), None)
    moved = any(step.name == "probe" and step.changes for step in done)
    moved = moved or any(step.counts.get("invalidated") for step in done)
    if place is None or not moved or night.dry_run:
        return
    night.stay()
    first, again = done[place], _run_step("cards", night)
    counts = Counter(first.counts)
    counts.update({name: count for name, count in again.counts.items() if name in _CARDS_MOVED})
    done[place] = replace(
        first,
        told=(*first.told, *again.told),
        counts=dict(counts),
        changes=(*first.changes, *again.changes),
        failed=first.failed or again.failed,
        reason=first.reason or again.reason,
    )


def _renew_locks(renew: Callable[[], None], beside: Callable[[], None] | None) -> Callable[[], None]:
    """Return a function that renews the lock and the caller's lease."""

    def keep() -> None:
        renew()
        try:
            if beside is not None:
                beside()
        except Conflict as error:
            raise HeldError(error.what) from error

    return keep


def _run_step(name: str, night: Night) -> DreamStep:
    """Run one step; an error becomes part of the report, and only a lost lease ends the run."""
    try:
        if not night.dry_run:
            flush_accesses(night.parts)
        return STEPS[name](night)
    except HeldError:
        raise
    except CredendaError as error:
        _log.warning("a step of the dream failed", extra={"step": name, "error": error.code})
        return DreamStep(name=name, failed=True, reason=error.code, told=(f"It failed: {error}.",))
    except Exception as error:  # noqa: BLE001 - a job boundary: the other steps continue
        _log.exception("a step of the dream failed", extra={"step": name})
        return DreamStep(name=name, failed=True, reason=type(error).__name__)


def _count_other_effects(step: DreamStep) -> int:
    """Count the writes that are not changes of beliefs: scores and rows of logs."""
    match step.name:
        case "forgetting":
            return step.counts.get("moved", 0)
        case "merge":
            return step.counts.get("merged", 0)
        case "drift":
            return step.counts.get("invalidated", 0)
        case "prune":
            return sum(step.counts.values())
        case _:
            return 0


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
    report = dream(parts, stay=lambda: _acquire_leadership(parts))
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
        tag = ""
        if page:
            with parts.store.reader(page[-1]) as reader:
                tag = reader.tenant.tag
        marks = [Watermark(name=_PLACE, value=int(tag, 16) if tag else None, at_us=now_us)]
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
