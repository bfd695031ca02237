"""List memories in pages."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Final

from credenda import limits
from credenda.errors import Invalid
from credenda.ids import parse_serial
from credenda.model.memory import Layer, Memory, MemoryType, Status, mark_over
from credenda.model.query import (
    Page,
)
from credenda.runtime import Parts
from credenda.storage.current_trust import find_current_trust
from credenda.storage.store import MemoryFilter
from credenda.text.normalize import normalise_attribute, normalise_name
from credenda.validation import check_member, check_name, check_text

if TYPE_CHECKING:
    pass
from credenda.services.cursors import read_cursor, write_cursor
from credenda.services.search import check_limit, resolve_moment

__all__ = ["ONCE_ACTIVE", "check_offset", "list_memories"]

_LIST: Final = "memories"
ONCE_ACTIVE: Final = frozenset({Status.ACTIVE, Status.SUPERSEDED, Status.MERGED})
"""Statuses of memories that may have been believed at an earlier time."""


_NOT_CODE: Final = frozenset(Layer) - {Layer.CODEBASE}
"""Layers that are listed by default; code scans would fill the list."""


def list_memories(  # noqa: PLR0913 - the conditions of the public verb
    parts: Parts,
    *,
    status: str | None = "active",
    type: str | None = None,
    layer: str | None = None,
    topic: str | None = None,
    entity: str | None = None,
    attribute: str | None = None,
    limit: int = 20,
    offset: int = 0,
    cursor: str | None = None,
    as_of: datetime | str | None = None,
    known_at: datetime | str | None = None,
) -> Page[Memory]:
    """Return memories, newest first, one page at a time."""
    check_limit(limit, limits.LIST_LIMIT)
    check_offset(offset)
    statuses = frozenset({check_member(Status, status, "status")}) if status else frozenset(Status)
    if as_of is not None and status == Status.ACTIVE:
        statuses = ONCE_ACTIVE
    with parts.store.reader(parts.user_id) as reader:
        wanted = MemoryFilter(
            statuses=statuses - {Status.DELETED},
            types=frozenset({check_member(MemoryType, type, "type")}) if type else None,
            layers=frozenset({check_member(Layer, layer, "layer")}) if layer else _NOT_CODE,
            topic=check_name(topic, "topic"),
            entity=normalise_name(entity) if check_text(entity, "entity") and entity else None,
            attribute=normalise_attribute(attribute) if check_text(attribute, "attribute") and attribute else None,
            below=read_cursor(_LIST, parts.user_id, cursor),
            offset=offset,
            limit=limit + 1,
            as_of_us=resolve_moment(parts, as_of),
            known_at_us=resolve_moment(parts, known_at),
        )
        found = mark_over(find_current_trust(reader, reader.find(wanted)), parts.clock.now_us())
    more = write_cursor(_LIST, parts.user_id, parse_serial(found[limit - 1].id)) if len(found) > limit else None
    return Page(items=tuple(found[:limit]), next_cursor=more)


def check_offset(offset: int) -> None:
    """Raise `Invalid` for a number of rows to skip that no list takes."""
    if not isinstance(offset, int) or not 0 <= offset <= limits.LIST_OFFSET:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise Invalid(f"offset cannot be {offset!r}", why=f"it lies in 0 to {limits.LIST_OFFSET}", fix="use the cursor")
