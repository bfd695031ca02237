"""Deletion by age: expiry dates of events and memories, and retention policies. Repeatable."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from credenda import limits
from credenda.clock import DAY_US
from credenda.model.change import Actor
from credenda.model.report import ExpiryReport
from credenda.runtime import Parts
from credenda.storage.store import EventFilter, MemoryFilter, Reader, Writer
from credenda.write.forget.delete import Deletion
from credenda.write.forget.matches import check_hold, count_matches, find_last_number

__all__ = ["apply_policies"]

_BATCH: Final = 50


@dataclass(slots=True)
class _Tally:
    """The deletions so far, and how many batches may follow."""

    batches: int
    events: int = 0
    memories: int = 0


def apply_policies(parts: Parts, *, dry_run: bool = False, batches_max: int | None = None) -> ExpiryReport:
    """Delete expired rows and rows older than the policies allow; `dry_run` only counts.

    Each batch is a transaction of its own. With `batches_max` it stops after so many batches and continues in the next
    call. Raises `Conflict` under a legal hold.
    """
    now_us = parts.clock.now_us()
    with parts.store.reader(parts.user_id) as reader:
        check_hold(reader)
        if not reader.tenant.tag:
            return ExpiryReport(ran=False, reason="nothing to do", dry_run=dry_run)
        wanted = [EventFilter(expires_before_us=now_us + 1, redacted=True, worded=True, limit=_BATCH)]
        wanted += [
            EventFilter(
                topic=policy.topic,
                occurred_before_us=now_us - policy.days * DAY_US,
                redacted=True,
                worded=True,
                limit=_BATCH,
            )
            for policy in parts.store.rules(parts.user_id).policies
        ]
        if dry_run:
            return _count_due(reader, wanted, now_us)
        wanted = [one for one in wanted if reader.find_events(replace(one, limit=1))]
        if not wanted and not reader.find(MemoryFilter(expires_before_us=now_us + 1, limit=1)):
            return ExpiryReport(ran=False, reason="nothing to do")
    tally = _Tally(batches_max or 1 << 40)
    for condition in wanted:
        _delete_events(parts, condition, tally)
    _delete_memories(parts, now_us, tally)
    nothing = not tally.events and not tally.memories
    return ExpiryReport(
        ran=not nothing,
        reason="nothing to do" if nothing else None,
        events=tally.events,
        memories=tally.memories,
        more=tally.batches == 0,
    )


def _make_deletion(writer: Writer, parts: Parts) -> Deletion:
    return Deletion(
        writer,
        parts.clock.now_us(),
        actor=Actor.SCHEDULE,
        reason="its time was over",
        buried=False,
        extractor=parts.extractor,
    )


def _delete_events(parts: Parts, wanted: EventFilter, tally: _Tally) -> None:
    """Delete the events that match a condition, batch by batch."""
    after: int | None = 0

    def work(writer: Writer) -> tuple[int, int, int | None]:
        run = _make_deletion(writer, parts)
        found = writer.find_events(replace(wanted, after=after))
        for event in found:
            run.event(event)
        return len(found), run.deleted, find_last_number(found, writer.tenant.tag)

    def look(reader: Reader) -> object:
        return reader.find_events(replace(wanted, after=after, limit=1))

    while after is not None and _has_due(parts, look):
        if not tally.batches:
            return
        tally.batches -= 1
        events, memories, after = parts.store.commit(parts.user_id, work)
        tally.events += events
        tally.memories += memories


def _delete_memories(parts: Parts, now_us: int, tally: _Tally) -> None:
    """Delete the memories that expire before their evidence does."""
    wanted = MemoryFilter(expires_before_us=now_us + 1, limit=_BATCH)

    def work(writer: Writer) -> int:
        run = _make_deletion(writer, parts)
        for memory in writer.find(wanted):
            run.memory(memory)
        return run.deleted

    while tally.batches and _has_due(parts, lambda reader: reader.find(replace(wanted, limit=1))):
        tally.batches -= 1
        tally.memories += parts.store.commit(parts.user_id, work)


def _has_due(parts: Parts, look: Callable[[Reader], object]) -> bool:
    """Check without the write lock whether anything is due; usually nothing is."""
    with parts.store.reader(parts.user_id) as reader:
        return bool(look(reader))


def _count_due(reader: Reader, wanted: list[EventFilter], now_us: int) -> ExpiryReport:
    """Count the rows that each condition would delete; a row that matches two conditions counts twice."""
    counts = [count_matches(reader, condition) for condition in wanted]
    alone = len(reader.find(MemoryFilter(expires_before_us=now_us + 1, limit=limits.POLICY_COUNT)))
    return ExpiryReport(
        ran=False,
        reason="dry run",
        events=sum(events for events, _ in counts),
        memories=max(sum(memories for _, memories in counts), alone),
        dry_run=True,
    )
