"""Pin and unpin a memory."""

from __future__ import annotations

from typing import Final

from credenda.errors import Conflict
from credenda.model.change import Pin
from credenda.model.memory import Memory, Status
from credenda.runtime import Parts
from credenda.services.edit import commit_edit, make_application
from credenda.services.expectation import read_expectation
from credenda.services.lookup import get_current, get_expected
from credenda.services.short_ids import resolve_id
from credenda.storage.store import Writer
from credenda.write.apply import apply

__all__ = ["pin"]

_PINNABLE: Final = frozenset({Status.ACTIVE, Status.CHALLENGED})


def pin(parts: Parts, memory_id: str, *, pinned: bool) -> Memory:
    """Pin or unpin a memory; pinned memories are in every context. Repeating this changes nothing."""
    memory_id = resolve_id(parts, memory_id)
    expected = read_expectation()

    def work(writer: Writer) -> Memory:
        memory = get_expected(writer, memory_id, expected)
        if memory.status not in _PINNABLE and pinned:
            raise Conflict(f"{memory_id} cannot be pinned", why=f"it is {memory.status}", fix="restore it first")
        if memory.pinned != pinned:
            reason = "pinned by the user" if pinned else "unpinned by the user"
            apply(writer, [Pin(memory_id=memory_id, pinned=pinned, reason=reason)], make_application(parts))
        return get_current(writer, memory_id)

    return commit_edit(parts, work)
