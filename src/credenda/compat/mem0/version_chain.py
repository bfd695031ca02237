"""Join the versions of a memory: mem0 keeps one id over updates, while each Credenda version has its own."""

from __future__ import annotations

from typing import Final

from credenda import limits
from credenda.ids import IdKind, parse_id_number
from credenda.model.change import ChangeKind, ChangeRecord
from credenda.model.memory import Memory
from credenda.storage.store import ChangeFilter, Reader

__all__ = ["find_chain", "find_tip", "read_changes"]

_STEPS: Final = limits.SLOT_ROWS


def find_tip(reader: Reader, memory_id: str) -> Memory | None:
    """Return the current version of an id: the memory itself, or its last replacement."""
    parse_id_number(memory_id, IdKind.MEMORY, reader.tenant.tag)
    tip = next(iter(reader.memories([memory_id])), None)
    for _ in range(_STEPS):
        following = reader.memories([tip.superseded_by]) if tip is not None and tip.superseded_by else []
        if not following:
            return tip
        tip = following[0]
    return tip


def find_chain(reader: Reader, memory_id: str) -> list[Memory]:
    """Return all versions of a memory up to the current one, oldest first."""
    tip = find_tip(reader, memory_id)
    found: dict[str, Memory] = {}
    waiting = [tip] if tip is not None else []
    while waiting and len(found) < _STEPS:
        memory = waiting.pop()
        if memory.id not in found:
            found[memory.id] = memory
            waiting += _find_replaced(reader, memory)
    return sorted(found.values(), key=lambda memory: parse_id_number(memory.id, IdKind.MEMORY, reader.tenant.tag))


def _find_replaced(reader: Reader, memory: Memory) -> list[Memory]:
    """Find the memories that a memory replaced."""
    begun = reader.changes(ChangeFilter(memory_ids=(memory.id,)))
    replaced: list[str] = []
    for cause in sorted({change.cause for change in begun if change.cause is not None}):
        ended = reader.changes(ChangeFilter(cause=cause, kinds=frozenset({ChangeKind.SUPERSEDE})))
        replaced += (change.memory_id for change in ended if change.memory_id is not None)
    return [other for other in reader.memories(sorted(set(replaced))) if other.superseded_by == memory.id]


def read_changes(reader: Reader, line: list[Memory]) -> list[ChangeRecord]:
    """Return every change to the versions of a memory."""
    return [change for memory in line for change in reader.changes(ChangeFilter(memory_ids=(memory.id,)))]
