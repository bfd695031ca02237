"""The legal hold that forbids a deletion, and the counts of a deletion by conditions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from credenda.errors import Conflict
from credenda.ids import IdKind, parse_id_number
from credenda.model.event import Event
from credenda.model.memory import Status
from credenda.storage.store import EventFilter, Reader
from credenda.write.forget.scope import find_other_support

__all__ = ["check_hold", "count_matches", "find_last_number"]

_PAGE: Final = 500


def check_hold(reader: Reader) -> None:
    """Raise `Conflict` if a legal hold forbids deletion."""
    if reader.tenant.hold is not None:
        raise Conflict(
            "this user is under a legal hold", why=reader.tenant.hold, fix="lift the hold first; nothing was deleted"
        )


def count_matches(reader: Reader, wanted: EventFilter) -> tuple[int, int]:
    """Count the events that a deletion would remove, and the memories that they alone support."""
    matched: dict[str, None] = {}
    memory_ids: set[str] = set()
    after = wanted.after or 0
    while found := reader.find_events(replace(wanted, after=after, limit=_PAGE)):
        matched.update(dict.fromkeys(event.id for event in found if event.text))
        memory_ids |= {item.memory_id for item in reader.evidence(event_ids=[event.id for event in found])}
        after = parse_id_number(found[-1].id, IdKind.EVENT, reader.tenant.tag)
    gone = 0
    names = sorted(memory_ids)
    for start in range(0, len(names), _PAGE):
        held = [one for one in reader.memories(names[start : start + _PAGE]) if one.status is not Status.DELETED]
        gone += sum(not find_other_support(reader, one, matched) for one in held)
    return len(matched), gone


def find_last_number(events: Sequence[Event], tag: str) -> int | None:
    """Return the number of the last event; None for no events."""
    return parse_id_number(events[-1].id, IdKind.EVENT, tag) if events else None
