"""One event as it was said, and what rests on it."""

from __future__ import annotations

from credenda.errors import NotFound
from credenda.ids import IdKind, parse_id_number
from credenda.model.memory import Status
from credenda.model.query import EventDetails
from credenda.runtime import Parts
from credenda.services.short_ids import resolve_id_in

__all__ = ["get_event"]


def get_event(parts: Parts, event_id: str) -> EventDetails:
    """Return an event with the memories that rest on it, oldest first; raises `NotFound` for an unknown one."""
    with parts.store.reader(parts.user_id) as reader:
        event_id = resolve_id_in(reader, event_id)
        parse_id_number(event_id, IdKind.EVENT, reader.tenant.tag)
        found = reader.events([event_id])
        if not found:
            raise NotFound(f"there is no event {event_id}", fix="copy an id from `search` or `why`")
        ids = dict.fromkeys(item.memory_id for item in reader.evidence(event_ids=[event_id]))
        memories = [memory for memory in reader.memories(list(ids)) if memory.status is not Status.DELETED]
    return EventDetails(event=found[0], memories=tuple(memories))
