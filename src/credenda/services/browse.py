"""Let a person browse: memories with counts by their fields, the use of a memory, and sessions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from credenda import limits
from credenda.clock import DAY_US
from credenda.errors import NotFound
from credenda.ids import parse_serial
from credenda.model.browse import (
    Browse,
    LearnedMemory,
    MemoryUse,
    MemoryUses,
    SessionDetails,
    SessionSummary,
)
from credenda.model.event import Event, Source
from credenda.model.feedback import FeedbackCounts
from credenda.model.memory import Layer, Memory, MemoryType, Stance, Status, mark_over
from credenda.model.query import Page
from credenda.runtime import Parts
from credenda.services.cursors import read_cursor, write_cursor
from credenda.services.list_memories import ONCE_ACTIVE, check_offset
from credenda.services.search import check_limit, resolve_moment
from credenda.services.short_ids import resolve_id_in
from credenda.storage.current_trust import find_current_trust
from credenda.storage.store import EventFilter, MemoryFilter, Reader
from credenda.text.normalize import normalise_attribute, normalise_name
from credenda.validation import check_member, check_name, check_text

__all__ = ["browse_memories", "list_sessions", "list_uses", "show_session"]

_SESSIONS: Final = "sessions"
_VALUES: Final = 12
"""So many values of a facet are returned."""
_MESSAGES: Final = 500
"""So many messages are read for a page of sessions, and for one session."""
_USES: Final = 50
_GRACE_US: Final = 7 * DAY_US
_FACETS: Final = ("status", "type", "layer", "stance", "topic", "entity", "attribute", "session", "source")


def browse_memories(  # noqa: PLR0913 - the conditions of the public verb
    parts: Parts,
    *,
    status: str | None = None,
    type: str | None = None,
    layer: str | None = None,
    stance: str | None = None,
    topic: str | None = None,
    entity: str | None = None,
    attribute: str | None = None,
    session: str | None = None,
    source: str | None = None,
    limit: int = 20,
    offset: int = 0,
    as_of: datetime | str | None = None,
    known_at: datetime | str | None = None,
) -> Browse:
    """Return the memories that match all conditions, and counts of their fields."""
    check_limit(limit, limits.LIST_LIMIT)
    check_offset(offset)
    statuses = frozenset({check_member(Status, status, "status")} if status else Status)
    if as_of is not None and status in {None, "", Status.ACTIVE}:
        statuses = ONCE_ACTIVE
    wanted = MemoryFilter(
        statuses=statuses - {Status.DELETED},
        types=frozenset({check_member(MemoryType, type, "type")}) if type else None,
        layers=frozenset({check_member(Layer, layer, "layer")}) if layer else None,
        stances=frozenset({check_member(Stance, stance, "stance")}) if stance else None,
        topic=check_name(topic, "topic"),
        session=check_name(session, "session") or None,
        source=check_member(Source, source, "source").value if source else None,
        entity=normalise_name(entity) if check_text(entity, "entity") and entity else None,
        attribute=normalise_attribute(attribute) if check_text(attribute, "attribute") and attribute else None,
        limit=limit,
        offset=offset,
        as_of_us=resolve_moment(parts, as_of),
        known_at_us=resolve_moment(parts, known_at),
    )
    with parts.store.reader(parts.user_id) as reader:
        counts = reader.count_fields(wanted, most=_VALUES, unused_before_us=parts.clock.now_us() - _GRACE_US)
        shown = mark_over(find_current_trust(reader, reader.find(wanted)), parts.clock.now_us())
        said = _find_times(reader, shown)
    counted = counts.get("all", {}).get("", 0)
    return Browse(
        items=tuple(shown),
        counted=counted,
        has_more=counted > offset + len(shown),
        facets={name: counts.get(name, {}) for name in _FACETS},
        never_used=counts.get("unused", {}).get("", 0),
        said=said,
    )


def _find_times(reader: Reader, memories: Sequence[Memory]) -> dict[str, datetime]:
    """Return when the last message that states a memory was said, by id; none for a memory without one."""
    evidence = reader.evidence(memory_ids=[one.id for one in memories])
    events = {one.id: one for one in reader.events(list({one.span.event_id for one in evidence}))}
    said: dict[str, datetime] = {}
    for one in evidence:
        event = events.get(one.span.event_id)
        if event is not None:
            said[one.memory_id] = max(said.get(one.memory_id, event.occurred_at), event.occurred_at)
    return said


def list_uses(parts: Parts, memory_id: str) -> MemoryUses:
    """Return the sessions that got a memory, the latest first; raises `NotFound` for an unknown one."""
    with parts.store.reader(parts.user_id) as reader:
        memory_id = resolve_id_in(reader, memory_id)
        if not reader.memories([memory_id]):
            raise NotFound(f"there is no memory {memory_id}", fix="copy an id from `list` or `search`")
        found = sorted(reader.usage.accesses([memory_id]), key=lambda one: -one.at_us)
        counts = reader.usage.regards([memory_id]).get(memory_id, FeedbackCounts())
    uses = (
        MemoryUse(session=one.session, at_us=one.at_us, shown=one.shown, useful=one.useful) for one in found[:_USES]
    )
    return MemoryUses(id=memory_id, uses=tuple(uses), feedback=counts)


def list_sessions(parts: Parts, *, cursor: str | None = None) -> Page[SessionSummary]:
    """Return the sessions of the newest messages, the latest first.

    A page is made from five hundred messages; a session that has more is on the next page too, with the rest of them.
    """
    with parts.store.reader(parts.user_id) as reader:
        below = read_cursor(_SESSIONS, parts.user_id, cursor)
        events = reader.find_events(EventFilter(below=below, limit=_MESSAGES, newest_first=True))
        learned = _find_learned(reader, events)
    more = write_cursor(_SESSIONS, parts.user_id, parse_serial(events[-1].id)) if len(events) == _MESSAGES else None
    by_session: dict[str, list[Event]] = defaultdict(list)
    for event in events:
        by_session[event.session].append(event)
    return Page(items=tuple(_sum_up(name, found, learned) for name, found in by_session.items()), next_cursor=more)


def _find_learned(reader: Reader, events: Sequence[Event]) -> dict[str, set[str]]:
    """Return the memories that rest on each of these events, by its id."""
    learned: dict[str, set[str]] = defaultdict(set)
    for one in reader.evidence(event_ids=[event.id for event in events]):
        learned[one.span.event_id].add(one.memory_id)
    return learned


def _sum_up(name: str, events: Sequence[Event], learned: Mapping[str, set[str]]) -> SessionSummary:
    times = [event.occurred_us for event in events]
    memories = {memory for event in events for memory in learned.get(event.id, ())}
    return SessionSummary(
        session=name, first_us=min(times), last_us=max(times), messages=len(events), memories=len(memories)
    )


def show_session(parts: Parts, session: str) -> SessionDetails:
    """Return the messages of a session, oldest first, and the memories that rest on them; raises `NotFound`."""
    name = check_name(session, "session") or ""
    with parts.store.reader(parts.user_id) as reader:
        events = reader.find_events(EventFilter(session=name, limit=_MESSAGES + 1))
        if not events:
            raise NotFound(f"there is no session {name[:64]!r}", fix="copy a name from the list of sessions")
        shown = events[:_MESSAGES]
        learned = _find_learned(reader, shown)
        by_memory: dict[str, list[str]] = defaultdict(list)
        for event in shown:
            for memory in sorted(learned.get(event.id, ())):
                by_memory[memory].append(event.id)
        memories = mark_over(find_current_trust(reader, reader.memories(list(by_memory))), parts.clock.now_us())
    return SessionDetails(
        session=name,
        events=tuple(shown),
        learned=tuple(
            LearnedMemory(memory=one, event_ids=tuple(by_memory[one.id]))
            for one in memories
            if one.status is not Status.DELETED
        ),
        has_more=len(events) > _MESSAGES,
    )
