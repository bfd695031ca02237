"""Run the dream: its steps in order; a step can run alone, and a failed step does not stop the others."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from credenda.errors import Conflict, CredendaError, Invalid
from credenda.model.dream import DreamReport, DreamStep
from credenda.progress import report_within
from credenda.runtime import Parts
from credenda.services.dream.merge_step import merge
from credenda.services.dream.prune_step import prune
from credenda.services.dream.step_context import Night, write_report
from credenda.services.dream.steps import run_bridges, run_cards, run_decay, run_drift, run_probe
from credenda.validation import check_words
from credenda.workers.idle_tasks import flush_accesses
from credenda.workers.leases import HeldError, hold_lock

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
    return replace(_report(parts, done, dry_run=dry_run), took_over=taken)


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


def _report(parts: Parts, done: Sequence[DreamStep], *, dry_run: bool) -> DreamReport:
    changed = sum(len(step.changes) + _count_other_effects(step) for step in done)
    told = write_report(done, parts.clock.now_us(), parts.settings.zone, dry_run=dry_run)
    return DreamReport(ran=True, dry_run=dry_run, steps=tuple(done), changed=changed, brief=told)


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
