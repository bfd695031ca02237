"""Get one memory by its id, as of now or of another time."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from credenda import read
from credenda.clock import format_time
from credenda.errors import NotFound
from credenda.model.memory import Memory, Relation, Status, mark_over
from credenda.runtime import Parts
from credenda.services.lookup import get_current
from credenda.services.short_ids import resolve_id_in
from credenda.storage.current_trust import find_current_trust

if TYPE_CHECKING:
    pass
from credenda.services.search import resolve_moment

__all__ = ["get"]


def get(
    parts: Parts, memory_id: str, as_of: datetime | str | None = None, known_at: datetime | str | None = None
) -> Memory:
    """Return a memory as believed now or at a time; raises `NotFound` if it was not believed then."""
    as_of_us, known_at_us = resolve_moment(parts, as_of), resolve_moment(parts, known_at)
    with parts.store.reader(parts.user_id) as reader:
        memory_id = resolve_id_in(reader, memory_id)
        now = get_current(reader, memory_id)
        held = reader.memories([memory_id], known_at_us) if known_at_us is not None else [now]
        held = mark_over(find_current_trust(reader, held), parts.clock.now_us() if as_of_us is None else as_of_us)
    if not held:
        known = f"it is held since {format_time(now.created_us)}"
        raise NotFound(f"{memory_id} was not held then", why=known, fix="ask for a later known_at")
    if as_of_us is not None and not read.visibility.was_valid_at(held[0], as_of_us):
        raise NotFound(
            f"{memory_id} was not true then", why=_describe_validity(held[0]), fix="`history` shows what was"
        )
    return held[0]


def _describe_validity(memory: Memory) -> str:
    """Describe when a memory was true."""
    if memory.relation is Relation.CORRECTED or memory.status is Status.INVALIDATED:
        return "it turned out to be wrong"
    since = format_time(memory.created_us if memory.valid_from_us is None else memory.valid_from_us)
    return f"it was true from {since}" + (f" to {format_time(memory.valid_until_us)}" if memory.valid_until_us else "")
