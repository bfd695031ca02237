"""Reads and deletions of one call in one user's memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from credenda.clock import parse_time, to_datetime
from credenda.compat.mem0.filters import Asked
from credenda.compat.mem0.responses import Item, Record, change_rows, record_of_event, record_of_hit, records
from credenda.compat.mem0.tenants import Tenant
from credenda.compat.mem0.version_chain import line_of, tip_of
from credenda.ids import Kind, number_of, parse_id
from credenda.model.event import Event, Receipt, Role
from credenda.model.memory import Status
from credenda.model.query import Hit
from credenda.services import edit
from credenda.storage.store import ChangeFilter, EventFilter, MemoryFilter, Reader
from credenda.write.journal import REMOVED

__all__ = ["current", "delete_all", "delete_line", "fitting", "held", "outcome", "replace_text"]

_PAGE: Final = 500
_HELD: Final = frozenset({Status.ACTIVE, Status.CHALLENGED})
_LEFT: Final = frozenset(Status) - {Status.DELETED}
_SPOKEN: Final = frozenset({Role.USER, Role.PERSON})
_LAST: Final = to_datetime(parse_time("9999-12-30"))


def outcome(reader: Reader, receipt: Receipt) -> list[Item]:
    """Describe the effect of storing messages: the changes in the log, else that the messages are kept."""
    rows: list[Item] = []
    for event in reader.events(receipt.event_ids):
        changes = reader.changes(ChangeFilter(cause=event.id))
        named = sorted({change.memory_id for change in changes if change.memory_id is not None})
        told = change_rows(changes, {memory.id: memory for memory in reader.memories(named)})
        if not told and event.role in _SPOKEN and _says_something(event.text):
            told = [{"id": event.id, "memory": event.text, "event": "NONE"}]
        rows += ({**row, **_who(event)} for row in told)
    return rows


def _says_something(text: str) -> bool:
    """Return whether a text has words besides those that were deleted before."""
    return any(letter.isalnum() for letter in text.replace(REMOVED, ""))


def _who(event: Event) -> Item:
    return {"role": "user", "actor_id": event.speaker} if event.role is Role.PERSON else {"role": event.role.value}


def fitting(hits: Sequence[Hit], asked: Asked) -> Iterator[tuple[Hit, Record]]:
    """Return the hits that match the filters and are currently true.

    Statements of only assistants or documents are returned only if the filters name their role.
    """
    for hit in hits:
        record = record_of_hit(hit)
        unasked = hit.event is not None and hit.event.role not in _SPOKEN and "role" not in asked.fields
        if record is None or unasked or "superseded" in hit.flags:
            continue
        if asked.keep is None or asked.keep(record.facts):
            yield hit, record


def current(tenant: Tenant, memory_id: str) -> Record | None:
    """Return the current version of an id, or a message; None if it was deleted or ended."""
    with tenant.parts.store.reader(tenant.parts.user_id) as reader:
        if parse_id(memory_id, reader.tenant.tag)[0] is Kind.EVENT:
            return next((record_of_event(event) for event in reader.events([memory_id]) if event.text), None)
        tip = tip_of(reader, memory_id)
        return None if tip is None or tip.status not in _HELD else records(reader, [tip])[0]


def held(reader: Reader, asked: Asked, now_us: int | None) -> Iterator[Record]:
    """Return the current memories that match the filters, newest first, without those expired at `now_us`."""
    for record in _pages(reader, _HELD):
        expired = now_us is not None and record.expires_us is not None and record.expires_us <= now_us
        if not expired and (asked.keep is None or asked.keep(record.facts)):
            yield record


def _pages(reader: Reader, statuses: frozenset[Status]) -> Iterator[Record]:
    below: int | None = None
    while page := reader.find(MemoryFilter(statuses=statuses, below=below, limit=_PAGE)):
        yield from records(reader, page)
        below = min(number_of(memory.id, Kind.MEMORY, reader.tenant.tag) for memory in page)


def _events(reader: Reader) -> Iterator[Event]:
    """Return all messages that still have text, including partly redacted ones."""
    after = 0
    while page := reader.find_events(EventFilter(after=after, limit=_PAGE, redacted=True)):
        yield from (event for event in page if event.text)
        after = max(number_of(event.id, Kind.EVENT, reader.tenant.tag) for event in page)


def replace_text(tenant: Tenant, record: Record, text: str) -> str:
    """Correct a memory on behalf of its agent and run; return the id of the new version."""
    memory = edit.correct(tenant.parts, record.id, text=text, reason="updated", agent=record.agent, session=record.run)
    tenant.client.settle()
    return memory.id


def delete_line(tenant: Tenant, memory_id: str) -> None:
    """Delete a message, or a memory with all its earlier versions."""
    if memory_id.startswith(Kind.MEMORY):
        with tenant.parts.store.reader(tenant.parts.user_id) as reader:
            line = [memory.id for memory in line_of(reader, memory_id)]
        for one in line:
            tenant.client.delete(one)
    tenant.client.delete(memory_id)


def delete_all(tenant: Tenant, asked: Asked) -> None:
    """Delete every matching message and every memory without other evidence."""
    wanted = asked.keep
    if wanted is None:
        tenant.client.delete_where(before=_LAST)
    with tenant.parts.store.reader(tenant.parts.user_id) as reader:
        memories = [record.id for record in _pages(reader, _LEFT) if _wants_all(asked, record.events)]
        events = [one.id for one in _events(reader) if wanted is None or wanted(record_of_event(one).facts)]
    for target in (*events, *memories):
        tenant.client.delete(target)


def _wants_all(asked: Asked, events: Iterable[Event]) -> bool:
    wanted = asked.keep
    return wanted is None or all(wanted(record_of_event(event).facts) for event in events)
