"""End derived memories, that is cards and bridges, whose sources have ended.

They are found by their slot: cards by their entity, bridges under one common name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from credenda.model.change import Change, Delete, end_memory
from credenda.model.memory import BRIDGE, CARD, Memory, Relation, Status, is_dreamed, list_sources
from credenda.storage.store import MemoryFilter, Reader
from credenda.text.normalize import normalise_name

ENDED_STATUSES: Final = frozenset(
    {Status.SUPERSEDED, Status.MERGED, Status.INVALIDATED, Status.FORGOTTEN, Status.DELETED}
)
"""Statuses of memories that have ended."""
_HELD: Final = frozenset({Status.ACTIVE, Status.CHALLENGED, Status.ARCHIVED})


def end_dependents(reader: Reader, left: Mapping[str, Memory], deleted: frozenset[str], now_us: int) -> list[Change]:
    """Return the changes that end the derived memories of some sources, given as they were before they ended.

    `deleted` are the ids of deleted sources: their derived memories, in every version, are deleted too. Other derived
    memories are superseded without a successor; the next dream run derives them again.
    """
    entities = {normalise_name(memory.entity) for memory in left.values() if memory.entity}
    if not entities:
        return []
    pairs = [*((entity, CARD) for entity in sorted(entities)), (BRIDGE, BRIDGE)]
    found = {one.id: one for pair in pairs for one in reader.find(MemoryFilter(pair=pair)) if is_dreamed(one)}
    changes: list[Change] = []
    for one in sorted(found.values(), key=lambda memory: memory.created_us):
        gone = list_sources(one) & left.keys()
        if gone & deleted:
            changes.append(Delete(memory_id=one.id, reason="its source was deleted"))
        elif gone and one.status in _HELD:
            reason = f"its source {min(gone)} is no longer active"
            changes.append(end_memory(one, now_us, reason, relation=Relation.REFINED))
    return changes
