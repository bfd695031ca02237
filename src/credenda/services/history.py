"""List the versions of a slot or memory."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from credenda import read
from credenda.errors import Invalid
from credenda.model.query import (
    SlotVersion,
)
from credenda.runtime import Parts
from credenda.services.short_ids import resolve_id_in
from credenda.validation import check_text

if TYPE_CHECKING:
    pass
from credenda.services.search import resolve_moment

__all__ = ["history"]


def history(
    parts: Parts,
    *,
    id: str | None = None,
    entity: str | None = None,
    attribute: str | None = None,
    as_of: datetime | str | None = None,
    known_at: datetime | str | None = None,
) -> list[SlotVersion]:
    """Return every value of a slot, or of the slot of a memory, oldest first."""
    if (id is None) == (entity is None or attribute is None):
        raise Invalid("history needs a slot", why="either an id, or an entity and an attribute", fix="give one of them")
    check_text(entity, "entity")
    check_text(attribute, "attribute")
    as_of_us, known_at_us = resolve_moment(parts, as_of), resolve_moment(parts, known_at)
    with parts.store.reader(parts.user_id) as reader:
        id = None if id is None else resolve_id_in(reader, id)
        return read.history.read_slot_history(
            reader,
            id=id,
            entity=entity,
            attribute=attribute,
            as_of_us=as_of_us,
            known_at_us=known_at_us,
            now_us=parts.clock.now_us() if as_of_us is None else as_of_us,
        )
