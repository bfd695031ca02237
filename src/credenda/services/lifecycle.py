"""Retention scores, and moves of memories between layers and to the archive.

`manage` decides (pure); this module reads in batches and writes in short transactions. A retention score is derived: it
is updated in place and is not a change of the belief.
"""

from __future__ import annotations

from collections.abc import Sequence

from credenda.manage.importance import UsageRecord, compute_importance
from credenda.manage.lifecycle import LifecycleRules, LifecycleState, decide_lifecycle
from credenda.model.change import Actor, Change, SetLayer, SetStatus
from credenda.model.memory import Layer, Memory, Status
from credenda.model.report import (
    LifecycleReport,
)
from credenda.runtime import Parts
from credenda.services.decay import WRITE_BATCH, walk_batches
from credenda.services.usage import Looked, look, read_retention_rules, read_times
from credenda.storage.store import MemoryFilter, Writer
from credenda.workers.idle_tasks import flush_accesses
from credenda.write.apply import Application, apply

__all__ = ["run_lifecycle"]


def run_lifecycle(parts: Parts, *, dry_run: bool = False, rules: LifecycleRules | None = None) -> LifecycleReport:
    """Promote proven memories and archive faded ones (E-059…E-064); a second run finds nothing to do."""
    flush_accesses(parts)
    curves = read_retention_rules(parts.settings)
    with parts.store.reader(parts.user_id) as reader:
        times = read_times(reader, parts)
    examined = 0
    decided: list[Change] = []
    wanted = MemoryFilter(statuses=frozenset({Status.ACTIVE}), layers=frozenset({Layer.WORKING, Layer.EPISODIC}))
    for batch in walk_batches(parts, wanted, lambda reader, found: look(reader, found, curves, times)):
        examined += len(batch)
        standings = [_describe_retention(one, curves.kappa) for one in batch]
        changes = decide_lifecycle(standings, rules or LifecycleRules())
        decided += changes
        if not dry_run:
            for start in range(0, len(changes), WRITE_BATCH):
                _apply(parts, changes[start : start + WRITE_BATCH])
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
