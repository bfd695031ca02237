"""Run the dream: its steps in order; a step can run alone, and a failed step does not stop the others."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from credenda.current_call import report_within
from credenda.errors import Conflict, CredendaError, Invalid
from credenda.manage.dream_cards import MergeRules, PruneRules
from credenda.model.dream import DreamReport, DreamStep
from credenda.runtime import Parts
from credenda.services.consolidation import Wanted, run_over
from credenda.services.dream_steps import Night, run_bridges, run_cards, run_decay, run_drift, run_probe, write_report
from credenda.storage.store import Prune
from credenda.text.recalled_block import count_kind, count_noun
from credenda.validation import check_words
from credenda.workers.loop import HeldError, flush_accesses, hold_lock

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


_log = logging.getLogger(__name__)
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
    chosen = _choose_steps(steps)
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
                    done.append(_run(name, night))
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
    first, again = done[place], _run("cards", night)
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


def _choose_steps(steps: Sequence[str] | None) -> list[str]:
    """Parse step names, several of which may be in one text, and put them in order."""
    if steps is None or not steps:
        return list(STEPS)
    names = [name.strip() for one in check_words(steps, "steps") for name in one.split(",")]
    for name in names:
        if name not in STEPS:
            raise Invalid(
                f"there is no step {name!r}", why="the dream has no such step", fix=f"choose among {', '.join(STEPS)}"
            )
    return [name for name in STEPS if name in names]


def _run(name: str, night: Night) -> DreamStep:
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
