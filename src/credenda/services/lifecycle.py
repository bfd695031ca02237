"""Retention scores, and moves of memories between layers and to the archive.

`manage` decides (pure); this module reads in batches and writes in short transactions. A retention score is derived: it
is updated in place and is not a change of the belief.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from credenda.errors import Conflict, Invalid
from credenda.ids import IdKind, parse_id_number
from credenda.manage.decay import CURVES, RetentionRules, compute_curve, compute_half_life
from credenda.manage.importance import UsageRecord, compute_importance
from credenda.manage.lifecycle import LADDER, LifecycleRules, LifecycleState, decide_lifecycle, get_next_layer
from credenda.manage.plot import draw_retention
from credenda.model.change import Actor, Change, SetLayer, SetStatus
from credenda.model.memory import Layer, Memory, Status
from credenda.model.report import (
    DecayReport,
    LifecycleReport,
    RetentionCurve,
    RetentionCurves,
    RetentionPoint,
    ScoreMove,
)
from credenda.portability.atomic_write import replace_file
from credenda.runtime import Parts
from credenda.services.lookup import get_current
from credenda.services.short_ids import resolve_id
from credenda.services.usage import Looked, Times, look, read_retention_rules, read_times
from credenda.storage.store import MemoryFilter, Reader, Retention, Watermark, Writer
from credenda.workers.idle_tasks import flush_accesses
from credenda.write.apply import Application, apply

__all__ = ["compute_retention_curves", "decay", "move_layer", "run_lifecycle", "walk_retention"]

_BATCH: Final = 1_000
_WRITTEN_TOGETHER: Final = 200
"""Rows per transaction: about a millisecond, so that other writers do not wait."""
_HELD: Final = frozenset({Status.ACTIVE, Status.CHALLENGED})
_SAME: Final = 5e-7
_MARK: Final = "decay"
_CURVE_DAYS: Final = 181
_POINTS: Final = 2_000


def _walk_batches(
    parts: Parts, wanted: MemoryFilter, looking: Callable[[Reader, list[Memory]], list[Looked]]
) -> Iterator[list[Looked]]:
    """Yield batches of memories, newest first, each read in its own view."""
    below = wanted.below
    while True:
        with parts.store.reader(parts.user_id) as reader:
            tag = reader.tenant.tag
            asked = MemoryFilter(statuses=wanted.statuses, layers=wanted.layers, below=below, limit=_BATCH)
            found = reader.find(asked)
            looked = looking(reader, found)
        if not found:
            return
        yield looked
        below = parse_id_number(found[-1].id, IdKind.MEMORY, tag)


def decay(parts: Parts, *, dry_run: bool = False) -> DecayReport:
    """Recompute the retention score of every current memory (R-088…R-100, E-049…E-055).

    Only scores change, no beliefs. An interrupted run is continued by the next.
    """
    flush_accesses(parts)
    rules = read_retention_rules(parts.settings)
    with parts.store.reader(parts.user_id) as reader:
        times = read_times(reader, parts)
        mark = None if dry_run else reader.duties.watermark(_MARK)
        tag = reader.tenant.tag
    examined = updated = 0
    moves: list[ScoreMove] = []
    wanted = MemoryFilter(statuses=_HELD, below=mark)
    for batch in _walk_batches(parts, wanted, lambda reader, found: look(reader, found, rules, times)):
        examined += len(batch)
        moved = [_move(one) for one in batch if _has_moved(one)]
        updated += len(moved)
        if dry_run:
            moves += moved
            continue
        _write_scores(parts, moved, parse_id_number(batch[-1].memory.id, IdKind.MEMORY, tag))
    if not dry_run:
        _write_scores(parts, (), None)
    return DecayReport(examined=examined, updated=updated, profile=rules.profile, dry_run=dry_run, moves=tuple(moves))


def walk_retention(parts: Parts, statuses: frozenset[Status]) -> Iterator[list[tuple[Memory, float]]]:
    """Yield batches of memories with these statuses, newest first, with their current retention."""
    rules = read_retention_rules(parts.settings)
    with parts.store.reader(parts.user_id) as reader:
        times = read_times(reader, parts)
    wanted = MemoryFilter(statuses=statuses)
    for batch in _walk_batches(parts, wanted, lambda reader, found: look(reader, found, rules, times)):
        yield [(one.memory, one.retained.score) for one in batch]


def _has_moved(one: Looked) -> bool:
    before = one.memory.decay_score
    return before is None or abs(before - one.retained.score) > _SAME


def _move(one: Looked) -> ScoreMove:
    return ScoreMove(memory_id=one.memory.id, before=one.memory.decay_score, after=one.retained.score)


def _write_scores(parts: Parts, moves: Sequence[ScoreMove], mark: int | None) -> None:
    """Write the scores of a batch and the progress of the run atomically; None in `mark` ends the run."""
    now_us = parts.clock.now_us()

    def work(writer: Writer) -> None:
        if moves:
            writer.put(Retention(scores={move.memory_id: move.after for move in moves}))
        writer.put(Watermark(name=_MARK, value=mark, at_us=now_us))

    parts.store.commit(parts.user_id, work)


def run_lifecycle(parts: Parts, *, dry_run: bool = False, rules: LifecycleRules | None = None) -> LifecycleReport:
    """Promote proven memories and archive faded ones (E-059…E-064); a second run finds nothing to do."""
    flush_accesses(parts)
    curves = read_retention_rules(parts.settings)
    with parts.store.reader(parts.user_id) as reader:
        times = read_times(reader, parts)
    examined = 0
    decided: list[Change] = []
    wanted = MemoryFilter(statuses=frozenset({Status.ACTIVE}), layers=frozenset({Layer.WORKING, Layer.EPISODIC}))
    for batch in _walk_batches(parts, wanted, lambda reader, found: look(reader, found, curves, times)):
        examined += len(batch)
        standings = [_describe_retention(one, curves.kappa) for one in batch]
        changes = decide_lifecycle(standings, rules or LifecycleRules())
        decided += changes
        if not dry_run:
            for start in range(0, len(changes), _WRITTEN_TOGETHER):
                _apply(parts, changes[start : start + _WRITTEN_TOGETHER])
    return LifecycleReport(
        examined=examined,
        promoted=sum(isinstance(change, SetLayer) for change in decided),
        archived=sum(isinstance(change, SetStatus) for change in decided),
        dry_run=dry_run,
        changes=tuple(decided),
    )


def _describe_retention(one: Looked, kappa: float) -> LifecycleState:
    memory = one.memory
    record = UsageRecord(
        base=memory.importance,
        layer=memory.layer,
        trust=memory.trust,
        age_days=one.age_days,
        uses=one.uses,
        confirmations=memory.confirmations,
        valence=memory.emotional_valence or 0.0,
        kappa=kappa,
    )
    earned = compute_importance(record).score
    return LifecycleState(
        memory=memory,
        age_days=one.age_days,
        idle_days=one.idle_days,
        uses=max(memory.access_count, len(one.uses)),
        retention=one.retained.score,
        importance=earned,
    )


def _apply(parts: Parts, changes: Sequence[Change]) -> None:
    """Apply the changes to memories that have not changed since they were read; the next run handles the others."""

    def work(writer: Writer) -> None:
        held = {memory.id: memory for memory in writer.memories([change.memory_id for change in moves])}
        fitting = [change for change in moves if _may_change_layer(held.get(change.memory_id))]
        apply(writer, fitting, Application(actor=Actor.SCHEDULE, now_us=parts.clock.now_us(), cause="lifecycle"))

    moves = [change for change in changes if isinstance(change, SetLayer | SetStatus)]
    parts.store.commit(parts.user_id, work)


def _may_change_layer(memory: Memory | None) -> bool:
    return memory is not None and memory.status is Status.ACTIVE and not memory.pinned


def move_layer(parts: Parts, memory_id: str, *, up: bool) -> Memory:
    """Move a memory one layer up or down (E-061).

    Raises `Conflict` at the ends of the ladder and for layers outside it, and `NotFound`.
    """
    memory_id = resolve_id(parts, memory_id)

    def work(writer: Writer) -> Memory:
        memory = get_current(writer, memory_id)
        layer = get_next_layer(memory.layer, up=up)
        if layer is None:
            raise Conflict(
                f"{memory_id} cannot be {'promoted' if up else 'demoted'}",
                why=f"it is {memory.layer}, and the ladder is {' → '.join(LADDER)}",
                fix="no further move is possible",
            )
        reason = "promoted by the user" if up else "demoted by the user"
        application = Application(actor=Actor.USER, now_us=parts.clock.now_us())
        apply(writer, [SetLayer(memory_id=memory_id, layer=layer, reason=reason)], application)
        return get_current(writer, memory_id)

    with parts.active_calls:
        return parts.store.commit(parts.user_id, work)


def compute_retention_curves(parts: Parts, *, plot: Path | None = None, limit: int = 200) -> RetentionCurves:
    """Return the forgetting curves over half a year, and the positions of the newest memories on them.

    `limit` bounds the memories, 1 to 2,000; `plot` names an SVG file for the drawing.
    """
    if type(limit) is not int or not 1 <= limit <= _POINTS:
        raise Invalid(f"a limit of {limit}", why=f"it must be 1 to {_POINTS:,}", fix="pass a number like 200")
    rules = read_retention_rules(parts.settings)
    days = tuple(float(day) for day in range(_CURVE_DAYS))
    with parts.store.reader(parts.user_id) as reader:
        times = read_times(reader, parts)
        found = reader.find(MemoryFilter(statuses=_HELD, limit=limit))
        looked = look(reader, found, rules, times)
    drawn = RetentionCurves(
        days=days,
        curves=tuple(_compute_curve(name, rules, days, trust) for name in CURVES for trust in (1.0, 0.5)),
        points=tuple(_place_memory(one, times) for one in looked),
        profile=rules.profile,
        mode=rules.mode,
    )
    if plot is not None:
        with replace_file(plot) as file:
            file.write(draw_retention(drawn).encode())
    return drawn


def _compute_curve(name: str, rules: RetentionRules, days: Sequence[float], trust: float) -> RetentionCurve:
    half_life = compute_half_life(rules, trust)
    shape = RetentionRules(mode=name, delta=rules.delta, ratio=rules.ratio)
    values = tuple(round(compute_curve(shape, day, half_life), 6) for day in days)
    return RetentionCurve(name=name, half_life_days=half_life, values=values)


def _place_memory(one: Looked, times: Times) -> RetentionPoint:
    memory = one.memory
    since = memory.created_us if memory.last_accessed_us is None else memory.last_accessed_us
    return RetentionPoint(
        memory_id=memory.id,
        layer=memory.layer,
        age_days=round(times.days(since), 3),
        score=one.retained.score,
        terms=one.retained.terms,
    )
