"""Repeat in a restored backup the deletions made in the database since the backup."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final, cast

from credenda.ids import IdKind, parse_id_number
from credenda.model.change import Actor
from credenda.model.claim import Span
from credenda.model.event import Event
from credenda.model.memory import Memory, Status
from credenda.storage.store import EventFilter, MemoryFilter, Reader, Store, Tombstone, Writer
from credenda.write.forget.delete import Deletion
from credenda.write.forget.scope import BLANK

__all__ = ["delete_again"]

_BATCH: Final = 50
_REASON: Final = "deleted since the backup was made"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Gone:
    """The deletions in a database: redacted events with their remaining text, and memories."""

    events: Mapping[str, Event]
    memories: Mapping[str, Memory]


def delete_again(old: Store, new: Store, user_id: str, now_us: int) -> int:
    """Delete in `new`, an earlier state of `old`, everything deleted in `old`; return the number of rows deleted.

    A row that only shares the id of a deleted row, because the databases diverged, is left unchanged.
    """
    with old.reader(user_id) as before, new.reader(user_id) as after:
        if not before.tenant.tag or (before.tenant.tag, before.tenant.key) != (after.tenant.tag, after.tenant.key):
            return 0
        gone = _Gone(
            events={one.id: one for one in _read_redacted(before)},
            memories={one.id: one for one in before.find(MemoryFilter(statuses=frozenset({Status.DELETED})))},
        )
    names = [*gone.memories, *gone.events]
    count = 0
    for start in range(0, len(names), _BATCH):
        batch = names[start : start + _BATCH]
        count += new.commit(user_id, lambda writer, batch=batch: _delete(writer, gone, batch, now_us))
    stones = _read_tombstones(old, user_id)
    new.commit(user_id, lambda writer: _add_tombstones(writer, stones))
    return count


def _read_tombstones(old: Store, user_id: str) -> list[Tombstone]:
    """Read the tombstones of a user; rows of a dump have plain values."""
    found: list[Tombstone] = []
    with old.dump(user_id) as dump:
        for table, row in dump.rows:
            if table == "tombstones":
                cells = cast("Mapping[str, Any]", row)
                kind, normaliser, created_us = cells["kind"], cells["normaliser"], cells["created_at"]
                digest = bytes(cells["digest"])
                found.append(Tombstone(digest=digest, kind=kind, normaliser=normaliser, created_us=created_us))
    return found


def _read_redacted(reader: Reader) -> Iterator[Event]:
    after = 0
    while found := reader.find_events(EventFilter(after=after, redacted=True, limit=_BATCH * 10)):
        yield from (event for event in found if event.redacted_us is not None)
        after = parse_id_number(found[-1].id, IdKind.EVENT, reader.tenant.tag)


def _delete(writer: Writer, gone: _Gone, names: Sequence[str], now_us: int) -> int:
    run = Deletion(writer, now_us, actor=Actor.USER, reason=_REASON, buried=False)
    count = 0
    for memory in writer.memories([name for name in names if name in gone.memories]):
        if memory.status is not Status.DELETED and memory.created_us == gone.memories[memory.id].created_us:
            run.memory(memory)
            count += 1
    for event in writer.events([name for name in names if name in gone.events]):
        left = gone.events[event.id]
        if event.chain_hash != left.chain_hash or event.text == left.text:
            continue
        if not left.text:
            run.event(event)
        for span in _find_blanked_spans(event, left.text):
            run.span(span)
        count += 1
    return count


def _find_blanked_spans(event: Event, left: str) -> list[Span]:
    """Return the spans that are blank in the remaining text of an event; blanking preserves positions."""
    hidden = [at for at, (now, then) in enumerate(zip(left, event.text, strict=False)) if now == BLANK != then]
    runs = (list(run) for _, run in groupby(enumerate(hidden), key=lambda pair: pair[1] - pair[0]))
    return [Span(event.id, run[0][1], run[-1][1] + 1) for run in runs]


def _add_tombstones(writer: Writer, stones: Sequence[Tombstone]) -> None:
    held = writer.tombstoned([stone.digest for stone in stones])
    for stone in stones:
        if stone.digest not in held:
            writer.put(stone)
