"""Convert memories, messages and changes to mem0's dictionaries, and to values for filters."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from credenda import limits
from credenda.clock import format_time, to_datetime
from credenda.compat.mem0.filters import Facts
from credenda.ids import IdKind, parse_id_number
from credenda.model.change import ChangeKind, ChangeRecord
from credenda.model.event import Event, Role
from credenda.model.memory import Memory, Status
from credenda.model.query import Hit
from credenda.storage.store import ChangeFilter, Reader

Item = dict[str, Any]
_ROLES: Final = {"user": "user", "assistant": "assistant"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A memory with its evidence messages, or a message without a memory."""

    id: str
    text: str
    created_us: int
    updated_us: int
    speaker: str
    metadata: Mapping[str, object]
    events: tuple[Event, ...]
    expires_us: int | None = None

    @property
    def role(self) -> str:
        """Return the speaker's role, in mem0's terms."""
        if self.events:
            role = self.events[0].role
            return "user" if role is Role.PERSON else role.value
        return _ROLES.get(self.speaker, "user")

    @property
    def agent(self) -> str | None:
        """Return the agent of the first message."""
        return next((event.agent for event in self.events if event.agent), None)

    @property
    def run(self) -> str | None:
        """Return the run of the first message."""
        return next((event.session for event in self.events if event.session), None)

    @property
    def facts(self) -> Facts:
        """Return the values by field, from all its messages."""
        found: dict[str, list[object]] = {}
        for table in (self.metadata, *(event.metadata for event in self.events)):
            for name, value in table.items():
                found.setdefault(name, []).append(value)
        own = {
            "agent_id": [event.agent for event in self.events if event.agent],
            "run_id": [event.session for event in self.events if event.session],
            "actor_id": [self.speaker],
            "role": [self.role],
            "created_at": [self.created_us],
            "updated_at": [self.updated_us],
        }
        return {name: tuple(values) for name, values in {**found, **own}.items()}

    def item(self, user: str) -> Item:
        """Return mem0's dictionary; `hash` is the MD5 of the text, as in mem0."""
        item: Item = {
            "id": self.id,
            "memory": self.text,
            "hash": hashlib.md5(self.text.encode(), usedforsecurity=False).hexdigest(),
            "metadata": {
                **{name: value for event in self.events for name, value in event.metadata.items()},
                **self.metadata,
            },
            "created_at": _format_time(self.created_us),
            "updated_at": _format_time(self.updated_us),
            "user_id": user,
            "role": self.role,
        }
        optional = {"agent_id": self.agent, "run_id": self.run, "expiration_date": format_time(self.expires_us)}
        optional["actor_id"] = None if self.speaker in _ROLES else self.speaker
        return item | {name: value for name, value in optional.items() if value is not None}


def _format_time(moment_us: int) -> str:
    return to_datetime(moment_us).isoformat()


def build_records(reader: Reader, memories: Sequence[Memory]) -> list[Record]:
    """Return memories with their messages, except deleted ones, in the given order."""
    links = reader.evidence(memory_ids=[memory.id for memory in memories]) if memories else []
    said = reader.events(sorted({link.span.event_id for link in links}))
    events = {event.id: event for event in said if event.text}
    resting: dict[str, dict[str, Event]] = {}
    for link in links:
        if link.span.event_id in events:
            resting.setdefault(link.memory_id, {})[link.span.event_id] = events[link.span.event_id]
    return [_build_record(memory, tuple(resting.get(memory.id, {}).values())) for memory in memories]


def _build_record(memory: Memory, events: tuple[Event, ...]) -> Record:
    return Record(
        id=memory.id,
        text=memory.text,
        created_us=memory.created_us,
        updated_us=memory.recorded_us,
        speaker=memory.speaker,
        metadata=memory.metadata,
        events=events,
        expires_us=memory.expires_us,
    )


def record_of_event(event: Event, text: str | None = None) -> Record:
    """Return the record of a message, or of the passage of it that was found."""
    return Record(
        id=event.id,
        text=event.text if text is None else text,
        created_us=event.recorded_us,
        updated_us=event.recorded_us,
        speaker=event.speaker,
        metadata=event.metadata,
        events=(event,),
        expires_us=event.expires_us,
    )


def record_of_hit(hit: Hit) -> Record | None:
    """Return the record of a search hit; None if the hit has neither memory nor event."""
    if hit.memory is not None:
        return _build_record(hit.memory, hit.evidence)
    return None if hit.event is None else record_of_event(hit.event, hit.text)


def build_change_rows(changes: Sequence[ChangeRecord], known: Mapping[str, Memory]) -> list[Item]:
    """Describe changes in mem0's terms: a replaced memory and its successor are one UPDATE."""
    replaced: dict[str, list[str]] = {}
    for change in changes:
        if change.kind is ChangeKind.SUPERSEDE and change.memory_id:
            successor = change.after.get("superseded_by")
            replaced.setdefault(str(successor or ""), []).append(change.memory_id)
    rows: dict[str, Item] = {}
    for change in changes:
        memory = known.get(change.memory_id or "")
        if memory is not None:
            row = _build_change_row(change, memory, replaced.get(memory.id, ()), known)
            if row is not None and (memory.id not in rows or row["event"] != "NONE"):
                rows[memory.id] = row
    return list(rows.values())


def _build_change_row(
    change: ChangeRecord, memory: Memory, replaced: Sequence[str], known: Mapping[str, Memory]
) -> Item | None:
    match change.kind:
        case ChangeKind.ADD | ChangeKind.RESTORE:
            before = [known[id] for id in replaced if id in known]
            update = {"previous_memory": before[0].text, "previous_id": before[0].id} if before else {}
            return {"id": memory.id, "memory": memory.text, "event": "UPDATE" if before else "ADD", **update}
        case ChangeKind.CONFIRM:
            return {"id": memory.id, "memory": memory.text, "event": "NONE"}
        case ChangeKind.SUPERSEDE if memory.superseded_by is None:
            return {"id": memory.id, "memory": memory.text, "event": "DELETE"}
        case _:
            return None


def build_history_rows(line: Sequence[Memory], changes: Sequence[ChangeRecord]) -> list[Item]:
    """Return the changes of a memory and of its earlier versions, oldest first, without deleted text."""
    known = {memory.id: memory for memory in line}
    before = {memory.superseded_by: memory for memory in line if memory.superseded_by is not None}
    rows: list[Item] = []
    for change in sorted(changes, key=lambda change: (change.at_us, change.memory_id or "")):
        memory = known.get(change.memory_id or "")
        event = _name_history_event(change, memory, before) if memory is not None else None
        if memory is not None and event is not None:
            rows.append(_build_history_row(change, memory, event, before.get(memory.id)))
    return rows


def _name_history_event(change: ChangeRecord, memory: Memory, before: Mapping[str, Memory]) -> str | None:
    match change.kind:
        case ChangeKind.ADD:
            return "UPDATE" if memory.id in before else "ADD"
        case ChangeKind.RESTORE:
            return "ADD"
        case ChangeKind.DELETE | ChangeKind.FORGET:
            return "DELETE"
        case ChangeKind.SUPERSEDE if memory.superseded_by is None:
            return "DELETE"
        case _:
            return None


def _build_history_row(change: ChangeRecord, memory: Memory, event: str, before: Memory | None) -> Item:
    gone = event == "DELETE"
    old = memory if gone else before
    return {
        "id": change.id,
        "memory_id": memory.id,
        "old_memory": None if old is None else old.text or None,
        "new_memory": None if gone else memory.text or None,
        "event": event,
        "created_at": _format_time(memory.created_us),
        "updated_at": _format_time(change.at_us),
        "is_deleted": gone or memory.status is Status.DELETED,
        "actor_id": None if memory.speaker in _ROLES else memory.speaker,
        "role": _ROLES.get(memory.speaker, "user"),
    }


# Join the versions of a memory: mem0 keeps one id over updates, while each Credenda version has its own.


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
            # Find the memories that a memory replaced.
            begun = reader.changes(ChangeFilter(memory_ids=(memory.id,)))
            replaced: list[str] = []
            for cause in sorted({change.cause for change in begun if change.cause is not None}):
                ended = reader.changes(ChangeFilter(cause=cause, kinds=frozenset({ChangeKind.SUPERSEDE})))
                replaced += (change.memory_id for change in ended if change.memory_id is not None)
            waiting += [other for other in reader.memories(sorted(set(replaced))) if other.superseded_by == memory.id]
    return sorted(found.values(), key=lambda memory: parse_id_number(memory.id, IdKind.MEMORY, reader.tenant.tag))


def read_changes(reader: Reader, line: list[Memory]) -> list[ChangeRecord]:
    """Return every change to the versions of a memory."""
    return [change for memory in line for change in reader.changes(ChangeFilter(memory_ids=(memory.id,)))]
