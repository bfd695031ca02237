"""Recompute the retention of current memories."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from credenda.ids import IdKind, parse_id_number
from credenda.model.memory import Memory, Status
from credenda.model.report import (
    DecayReport,
    ScoreMove,
)
from credenda.runtime import Parts
from credenda.services.usage import Looked, look, read_retention_rules, read_times
from credenda.storage.store import MemoryFilter, Reader, Retention, Watermark, Writer
from credenda.workers.idle_tasks import flush_accesses

__all__ = ["RETAINED_STATUSES", "WRITE_BATCH", "decay", "walk_batches", "walk_retention"]

_BATCH: Final = 1_000


WRITE_BATCH: Final = 200
"""Rows per transaction: about a millisecond, so that other writers do not wait."""


RETAINED_STATUSES: Final = frozenset({Status.ACTIVE, Status.CHALLENGED})


_SAME: Final = 5e-7


_MARK: Final = "decay"


def walk_batches(
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
    wanted = MemoryFilter(statuses=RETAINED_STATUSES, below=mark)
    for batch in walk_batches(parts, wanted, lambda reader, found: look(reader, found, rules, times)):
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
    for batch in walk_batches(parts, wanted, lambda reader, found: look(reader, found, rules, times)):
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
