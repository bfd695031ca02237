"""Reads and deletions of one call in one user's memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from credenda.clock import parse_time, to_datetime
from credenda.compat.mem0.filters import Asked
from credenda.compat.mem0.responses import (
    Item,
    Record,
    build_change_rows,
    build_records,
    find_chain,
    find_tip,
    record_of_event,
    record_of_hit,
)
from credenda.compat.mem0.tenants import Tenant
from credenda.ids import IdKind, parse_id, parse_id_number
from credenda.model.event import Event, Receipt, Role
from credenda.model.memory import Status
from credenda.model.query import Hit
from credenda.services import edit
from credenda.storage.store import ChangeFilter, EventFilter, MemoryFilter, Reader
from credenda.text.normalize import normalise_text
from credenda.text.sentences import REMOVED, split_sentences
from credenda.write.extract.clauses import is_question

__all__ = [
    "delete_all",
    "delete_line",
    "describe_outcome",
    "filter_hits",
    "find_current",
    "is_only_questions",
    "list_records",
    "replace_text",
]

_PAGE: Final = 500
_HELD: Final = frozenset({Status.ACTIVE, Status.CHALLENGED})
_LEFT: Final = frozenset(Status) - {Status.DELETED}
_SPOKEN: Final = frozenset({Role.USER, Role.PERSON})
_LAST: Final = to_datetime(parse_time("9999-12-30"))


def describe_outcome(reader: Reader, receipt: Receipt) -> list[Item]:
    """Describe the effect of storing messages: the changes in the log, else that the messages are kept."""
    rows: list[Item] = []
    for event in reader.events(receipt.event_ids):
        changes = reader.changes(ChangeFilter(cause=event.id))
        named = sorted({change.memory_id for change in changes if change.memory_id is not None})
        told = build_change_rows(changes, {memory.id: memory for memory in reader.memories(named)})
        if not told and event.role in _SPOKEN and _has_words(event.text) and not is_only_questions(event.text):
            told = [{"id": event.id, "memory": event.text, "event": "NONE"}]
        rows += ({**row, **_name_author(event)} for row in told)
    return rows


def is_only_questions(text: str) -> bool:
    """Return whether a text only asks: each of its sentences ends as a question or begins as one.

    >>> is_only_questions("Where do I live? Can you tell me?"), is_only_questions("I live in Linz. Really?")
    (True, False)
    """
    sentences = [text[span.start : span.stop].strip() for span in split_sentences(text)]
    return bool(sentences) and all(one.endswith("?") or is_question(one) for one in sentences)


def _has_words(text: str) -> bool:
    """Return whether a text has words besides those that were deleted before."""
    return any(letter.isalnum() for letter in text.replace(REMOVED, ""))


def _name_author(event: Event) -> Item:
    return {"role": "user", "actor_id": event.speaker} if event.role is Role.PERSON else {"role": event.role.value}


def filter_hits(hits: Sequence[Hit], asked: Asked) -> Iterator[tuple[Hit, Record]]:
    """Return the hits that match the filters and are currently true.

    Statements of only assistants or documents are returned only if the filters name their role, messages that only ask
    not at all, and of equal texts the best.
    """
    seen: set[str] = set()
    for hit in hits:
        record = record_of_hit(hit)
        text = normalise_text(hit.text)
        if text in seen or (hit.event is not None and is_only_questions(hit.text)):
            continue
        unasked = hit.event is not None and hit.event.role not in _SPOKEN and "role" not in asked.fields
        if record is None or unasked or "superseded" in hit.flags:
            continue
        if asked.keep is None or asked.keep(record.facts):
            seen.add(text)
            yield hit, record


def find_current(tenant: Tenant, memory_id: str) -> Record | None:
    """Return the current version of an id, or a message; None if it was deleted or ended."""
    with tenant.parts.store.reader(tenant.parts.user_id) as reader:
        if parse_id(memory_id, reader.tenant.tag)[0] is IdKind.EVENT:
            return next((record_of_event(event) for event in reader.events([memory_id]) if event.text), None)
        tip = find_tip(reader, memory_id)
        return None if tip is None or tip.status not in _HELD else build_records(reader, [tip])[0]


def list_records(reader: Reader, asked: Asked, now_us: int | None) -> Iterator[Record]:
    """Return the current memories that match the filters, newest first, without those expired at `now_us`."""
    for record in _walk_pages(reader, _HELD):
        expired = now_us is not None and record.expires_us is not None and record.expires_us <= now_us
        if not expired and (asked.keep is None or asked.keep(record.facts)):
            yield record


def _walk_pages(reader: Reader, statuses: frozenset[Status]) -> Iterator[Record]:
    below: int | None = None
    while page := reader.find(MemoryFilter(statuses=statuses, below=below, limit=_PAGE)):
        yield from build_records(reader, page)
        below = min(parse_id_number(memory.id, IdKind.MEMORY, reader.tenant.tag) for memory in page)


def _walk_events(reader: Reader) -> Iterator[Event]:
    """Return all messages that still have text, including partly redacted ones."""
    after = 0
    while page := reader.find_events(EventFilter(after=after, limit=_PAGE, redacted=True)):
        yield from (event for event in page if event.text)
        after = max(parse_id_number(event.id, IdKind.EVENT, reader.tenant.tag) for event in page)


def replace_text(tenant: Tenant, record: Record, text: str) -> str:
    """Correct a memory on behalf of its agent and run; return the id of the new version."""
    wanted = edit.Correction(text=text, reason="updated", agent=record.agent, session=record.run)
    memory = edit.put_right(tenant.parts, record.id, wanted)
    tenant.client.settle()
    return memory.id


def delete_line(tenant: Tenant, memory_id: str) -> None:
    """Delete a message, or a memory with all its earlier versions."""
    if memory_id.startswith(IdKind.MEMORY):
        with tenant.parts.store.reader(tenant.parts.user_id) as reader:
            line = [memory.id for memory in find_chain(reader, memory_id)]
        for one in line:
            tenant.client.delete(one)
    tenant.client.delete(memory_id)


def delete_all(tenant: Tenant, asked: Asked) -> None:
    """Delete every matching message and every memory without other evidence."""
    wanted = asked.keep
    if wanted is None:
        tenant.client.delete_where(before=_LAST)
    with tenant.parts.store.reader(tenant.parts.user_id) as reader:
        memories = [record.id for record in _walk_pages(reader, _LEFT) if _is_unfiltered(asked, record.events)]
        events = [one.id for one in _walk_events(reader) if wanted is None or wanted(record_of_event(one).facts)]
    for target in (*events, *memories):
        tenant.client.delete(target)


def _is_unfiltered(asked: Asked, events: Iterable[Event]) -> bool:
    wanted = asked.keep
    return wanted is None or all(wanted(record_of_event(event).facts) for event in events)
