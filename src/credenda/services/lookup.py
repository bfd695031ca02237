"""Look up the current version of a memory by its id."""

from __future__ import annotations

from credenda.errors import NotFound
from credenda.ids import IdKind, parse_id_number
from credenda.model.memory import Memory, Status
from credenda.services.expectation import Expectation
from credenda.storage.store import Reader

__all__ = ["get_current", "get_expected"]


def get_current(reader: Reader, memory_id: str) -> Memory:
    """Return the current version of a visible memory; raises `NotFound` for any other id."""
    parse_id_number(memory_id, IdKind.MEMORY, reader.tenant.tag)
    found = reader.memories([memory_id])
    if not found or found[0].status is Status.DELETED:
        raise NotFound(
            f"there is no memory {memory_id}",
            why="it never existed, or it was deleted",
            fix="copy an id from `list` or `search`",
        )
    return found[0]


def get_expected(reader: Reader, memory_id: str, expectation: Expectation) -> Memory:
    """Return the current version of a visible memory to change; raises `Conflict` if its caller expects another one."""
    memory = get_current(reader, memory_id)
    expectation.check(memory.id, memory)
    return memory
