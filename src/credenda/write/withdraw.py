"""What goes with a memory that is held no more: the cards and bridges that were made of it.

They are found by their slot: a card by the entity that it is about, bridges under one name for all.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from credenda.model.change import Change, Delete, Supersede
from credenda.model.dreamed import BRIDGE, CARD, cited, is_dreamed
from credenda.model.memory import Memory, Relation, Status
from credenda.storage.store import MemoryFilter, Reader
from credenda.text.normal import name_key

__all__ = ["LEFT", "withdrawn"]

LEFT: Final = frozenset({Status.SUPERSEDED, Status.MERGED, Status.INVALIDATED, Status.FORGOTTEN, Status.DELETED})
"""Statuses of what is held no more."""
_HELD: Final = frozenset({Status.ACTIVE, Status.CHALLENGED, Status.ARCHIVED})


def withdrawn(reader: Reader, left: Mapping[str, Memory], deleted: frozenset[str], now_us: int) -> list[Change]:
    """Return what ends with some memories, given as they were before: those made of deleted ones lose their words too.

    `deleted` names those of them that are. What was made of the others is superseded by nothing; the next dream makes
    it again of what is left. Earlier versions of a card go with the words of a deleted memory as the present one does.
    """
    entities = {name_key(memory.entity) for memory in left.values() if memory.entity}
    if not entities:
        return []
    pairs = [*((entity, CARD) for entity in sorted(entities)), (BRIDGE, BRIDGE)]
    found = {one.id: one for pair in pairs for one in reader.find(MemoryFilter(pair=pair)) if is_dreamed(one)}
    changes: list[Change] = []
    for one in sorted(found.values(), key=lambda memory: memory.created_us):
        gone = cited(one) & left.keys()
        if gone & deleted:
            changes.append(Delete(memory_id=one.id, reason="its source was deleted"))
        elif gone and one.status in _HELD:
            changes.append(_ended(one.id, min(gone), now_us))
    return changes


def _ended(memory_id: str, gone: str, now_us: int) -> Supersede:
    return Supersede(
        memory_id=memory_id,
        successor=None,
        relation=Relation.REFINED,
        valid_until_us=now_us,
        reason=f"its source {gone} is no longer active",
    )
