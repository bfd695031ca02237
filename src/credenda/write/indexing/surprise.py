"""Surprise: how new a memory is compared with earlier memories; the last step of a write.

Measured outside any transaction from the resident index: sign bits nominate neighbours, stored vectors decide. It is
stored once, together with the vector, so that repeating the job changes nothing. Surprise is a derived value and no
change. A repetition is a change, logged and undoable.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from credenda import index as index_modules
from credenda.index.document_names import find_owner_id
from credenda.model.change import Actor, Change, Confirm, Retag, Support
from credenda.model.memory import HELD, Memory
from credenda.model.surprise import DUPLICATE_OF, DUPLICATE_SIMILARITY, NEIGHBOURS, adjust_importance, compute_surprise
from credenda.storage.store import Reader, Surprise, Vector, Writer
from credenda.write.apply import Application, apply
from credenda.write.indexing.near_duplicate import is_exact_repeat, may_repeat

if TYPE_CHECKING:
    from credenda.index.resident import ResidentIndex

__all__ = ["Novelty", "measure_novelty", "store_novelty"]

_PLACES: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Novelty:
    """How surprising a memory is, and the id of its nearest neighbour with their cosine, where there is one."""

    surprise: float
    nearest: str | None = None
    similarity: float = 0.0


def measure_novelty(reader: Reader, index: ResidentIndex, vectors: Sequence[Vector]) -> Mapping[int, Novelty]:
    """Compare the vectors of memories, by code, with those of earlier memories (E-043).

    Later memories do not count, in whatever order their jobs ran, nor do archived, quarantined and code memories.
    """
    found = index_modules.neighbours.find_nearest_memories(index, reader, vectors, NEIGHBOURS)
    return {vector.code: _score_novelty(near, reader.tenant.tag) for vector, near in zip(vectors, found, strict=True)}


def _score_novelty(near: Sequence[tuple[int, float]], tag: str) -> Novelty:
    if not near:
        return Novelty(surprise=compute_surprise(()))
    code, similarity = near[0]
    return Novelty(
        surprise=compute_surprise([cosine for _, cosine in near]),
        nearest=find_owner_id(code, tag),
        similarity=similarity,
    )


def store_novelty(writer: Writer, memory: Memory, novelty: Novelty, now_us: int) -> None:
    """Store the surprise and importance of a memory that has none yet, and flag repetitions (E-044, E-048)."""
    if memory.surprise is not None:
        return
    worth = adjust_importance(memory.base_importance, novelty.surprise)
    writer.put(Surprise(memory_id=memory.id, score=novelty.surprise, importance=worth))
    changes = _flag_repeat(writer, memory, novelty)
    if changes:
        cause = next((item.span.event_id for item in writer.evidence(memory_ids=[memory.id])), None)
        apply(writer, changes, Application(actor=Actor.SCHEDULE, now_us=now_us, cause=cause))


def _flag_repeat(writer: Writer, memory: Memory, novelty: Novelty) -> list[Change]:
    """Flag a memory that may repeat its neighbour; an exact repetition also confirms the neighbour."""
    if novelty.nearest is None or novelty.similarity < DUPLICATE_SIMILARITY:
        return []
    other_id = novelty.nearest
    found = writer.memories([other_id])
    if not found or found[0].status not in HELD or memory.status not in HELD or not may_repeat(memory, found[0]):
        return []
    alike = f"similarity {novelty.similarity:.{_PLACES}f}"
    changes: list[Change] = [
        Retag(
            memory_id=memory.id,
            metadata={**memory.metadata, DUPLICATE_OF: other_id},
            reason=f"possible duplicate of {other_id} ({alike})",
        )
    ]
    support = _find_independent_support(writer, memory.id, other_id)
    if support and is_exact_repeat(memory, found[0]):
        reason = f"restated as {memory.id} with only filler words changed ({alike})"
        changes.append(Confirm(memory_id=other_id, support=support, reason=reason))
    return changes


def _find_independent_support(writer: Writer, memory_id: str, other_id: str) -> tuple[Support, ...]:
    """Return the evidence of a memory from events that do not support the other one."""
    known = {item.span.event_id for item in writer.evidence(memory_ids=[other_id])}
    return tuple(
        Support(item.span, item.claim_hash, item.reader or "")
        for item in writer.evidence(memory_ids=[memory_id])
        if item.span.event_id not in known
    )
