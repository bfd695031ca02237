"""Delete a memory, an event, or all events that meet conditions, permanently."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from itertools import islice
from typing import Final, TypeVar

from credenda import limits
from credenda.clock import parse_time
from credenda.errors import Invalid, NotFound
from credenda.ids import IdKind, parse_id
from credenda.model.change import Actor
from credenda.model.event import Event, Source
from credenda.model.governance import BlankedWords, DeletionPlan, DeletionReceipt, SharedMemory
from credenda.model.memory import Memory, Status
from credenda.model.report import DeletionReport
from credenda.runtime import Parts
from credenda.services.browse import read_expectation, resolve_id_in
from credenda.storage.store import EventFilter, Reader, Writer
from credenda.validation import check_condition, check_member
from credenda.write.forget.delete import Deletion, find_last_number
from credenda.write.forget.scope import find_mentions

T = TypeVar("T", Memory, Event)
P = TypeVar("P")


def delete(parts: Parts, target_id: str, *, actor: Actor = Actor.USER, whole_message: bool = False) -> DeletionReceipt:
    """Delete a memory or event with everything that only it supports; repeating this changes nothing.

    `actor` is the user, through an interface or a page. `whole_message` deletes the messages of a memory whole. Raises
    `NotFound` for an unknown id, `Conflict` under a legal hold.
    """
    expected = read_expectation()

    def work(writer: Writer) -> tuple[Deletion, tuple[str, ...]]:
        target = _find_target(writer, target_id)
        if isinstance(target, Memory):
            expected.check(target.id, target)
        reason = "removed from a page" if actor is Actor.FILE else "deleted by the user"
        run = Deletion(writer, parts.clock.now_us(), actor=actor, reason=reason, extractor=parts.extractor)
        _delete(run, target, whole_message=whole_message)
        return run, tuple(one.id for one in run.find_mentions())

    with parts.active_calls:
        run, mentions = parts.store.commit(parts.user_id, work)
    parts.jobs_ready.set()
    return DeletionReceipt(
        id=target_id,
        events=len(run.events),
        memories=run.deleted + len(run.withdrawn),
        kept=tuple(run.renamed.get(name, name) for name in run.kept),
        taken=tuple(name for name in run.removed if name != target_id),
        mentions=mentions,
        log_emptied=parts.store.log_emptied,
    )


def _delete(run: Deletion, target: Memory | Event, *, whole_message: bool) -> None:
    if isinstance(target, Event):
        run.event(target)
        return
    if whole_message and target.status is not Status.DELETED:
        run.messages(target)
    for memory in run.writer.memories([target.id]):
        run.memory(memory)


class _Undone(Exception):  # noqa: N818 - it only undoes the transaction, and never leaves this module
    """Undoes the transaction that raises it."""


def attempt(parts: Parts, work: Callable[[Writer], P]) -> P:
    """Return the result of some work, which is done in a transaction that is undone."""
    plans: list[P] = []

    def undo(writer: Writer) -> None:
        plans.append(work(writer))
        raise _Undone

    with contextlib.suppress(_Undone), parts.active_calls:
        parts.store.commit(parts.user_id, undo)
    return plans[-1]


def plan_deletion(parts: Parts, target_id: str, *, whole_message: bool = False) -> DeletionPlan:
    """Say what `delete` would remove: it deletes in a transaction that is undone. Short ids are accepted.

    Raises `NotFound` for an id that is unknown here, `Conflict` under a legal hold.
    """

    def work(writer: Writer) -> DeletionPlan:
        target = _find_target(writer, resolve_id_in(writer, target_id))
        run = Deletion(writer, parts.clock.now_us(), extractor=parts.extractor)
        _delete(run, target, whole_message=whole_message)
        return DeletionPlan(
            id=target.id,
            text=target.text,
            events=len(run.events),
            memories=run.deleted + len(run.withdrawn),
            blanked=tuple(BlankedWords(event_id=name, words=words) for name, words in run.blanked),
            kept=tuple(SharedMemory(id=name, text=text, left=left) for name, (text, left) in run.kept.items()),
            taken=tuple(SharedMemory(id=name, text=text) for name, text in run.removed.items() if name != target.id),
            mentions=tuple(SharedMemory(id=one.id, text=one.text, left=one.text) for one in run.find_mentions()),
        )

    return attempt(parts, work)


def _find_target(writer: Writer, target_id: str) -> Memory | Event:
    """Return the memory or event that an id names."""
    kind, _ = parse_id(target_id, writer.tenant.tag)
    if kind is IdKind.MEMORY:
        return _require_found(writer.memories([target_id]), target_id)
    if kind is IdKind.EVENT:
        return _require_found(writer.events([target_id]), target_id)
    raise NotFound(f"{target_id} is neither memory nor event", fix="give an id that begins with m or e")


def _require_found(found: list[T], target_id: str) -> T:
    if not found:
        raise NotFound(f"there is nothing called {target_id}", fix="copy an id from `list` or `search`")
    return found[0]


# Delete every event that meets conditions.


_BATCH: Final = 50


@dataclass(slots=True)
class _Tally:
    """Sum up the batches of a deletion. A memory that other messages state too keeps its first id here."""

    events: int = 0
    taken: dict[str, str] = field(default_factory=dict[str, str])
    kept: dict[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])
    told: set[str] = field(default_factory=set[str])
    first: dict[str, str] = field(default_factory=dict[str, str])
    """The first ids of memories that got another one."""

    def add(self, run: Deletion, events: int) -> None:
        """Add a batch."""
        self.events += events
        self.told |= run.told
        for before, after in run.renamed.items():
            self.first[after] = self.first.get(before, before)
        for name, (text, left) in run.kept.items():
            known = self.first.get(name, name)
            self.kept[known] = (self.kept.get(known, (text, ""))[0], left)
        for name, text in run.removed.items():
            known = self.first.get(name, name)
            self.taken[known] = self.kept.pop(known, (text, ""))[0]

    def report(self, reader: Reader, *, dry_run: bool) -> DeletionReport:
        """Name the memories; `reader` sees the state after the deletion."""
        shortened = {name for name, (text, left) in self.kept.items() if text != left}
        mentions = find_mentions(reader, self.told, self.taken.keys() | shortened | self.first.keys())
        latest = {first: name for name, first in self.first.items()}

        def name(found: Iterable[tuple[str, str, str]]) -> tuple[SharedMemory, ...]:
            first = islice(found, limits.DELETION_NAMES)
            if dry_run:
                return tuple(SharedMemory(id=one, text=text, left=left) for one, text, left in first)
            return tuple(SharedMemory(id=latest.get(one, one), text="") for one, _, _ in first)

        return DeletionReport(
            events=self.events,
            memories=len(self.taken),
            dry_run=dry_run,
            kept=name((one, text, left) for one, (text, left) in self.kept.items()),
            kept_total=len(self.kept),
            taken=name((one, text, "") for one, text in self.taken.items()),
            mentions=name((one.id, one.text, one.text) for one in mentions),
            mentions_total=len(mentions),
        )


def delete_where(
    parts: Parts,
    *,
    session: str | None = None,
    topic: str | None = None,
    source: str | None = None,
    before: datetime | str | None = None,
    dry_run: bool = False,
) -> DeletionReport:
    """Delete every event that meets all conditions, and everything that only they support.

    `dry_run` does the same in a transaction that is undone.
    """
    wanted = _check_conditions(parts, session, topic, (source, before))

    def work(writer: Writer, after: int) -> tuple[Deletion, int, int | None]:
        run = Deletion(writer, parts.clock.now_us(), extractor=parts.extractor)
        found = writer.find_events(replace(wanted, after=after))
        for event in found:
            run.event(event)
        return run, sum(bool(event.text) for event in found), find_last_number(found, writer.tenant.tag)

    def work_all(writer: Writer) -> DeletionReport:
        tally, after = _Tally(), 0
        while after is not None:
            run, events, after = work(writer, after)
            tally.add(run, events)
        return tally.report(writer, dry_run=True)

    if dry_run:
        return attempt(parts, work_all)
    tally, after = _Tally(), 0
    while after is not None:
        with parts.active_calls:
            run, events, after = parts.store.commit(parts.user_id, partial(work, after=after))
        tally.add(run, events)
    parts.jobs_ready.set()
    with parts.store.reader(parts.user_id) as reader:
        report = tally.report(reader, dry_run=False)
    return replace(report, log_emptied=parts.store.log_emptied)


def _check_conditions(
    parts: Parts, session: str | None, topic: str | None, rest: tuple[str | None, datetime | str | None]
) -> EventFilter:
    """Validate the conditions; the filter includes redacted events, so that their remaining text is deleted as well."""
    source, before = rest
    if session is None and topic is None and source is None and before is None:
        raise Invalid("delete_where needs a condition", why="without one it would delete everything", fix="name one")
    before_us = None if before is None else parse_time(before, parts.settings.zone)
    return EventFilter(
        session=check_condition(session, "session"),
        topic=check_condition(topic, "topic"),
        source=None if source is None else check_member(Source, source, "source").value,
        occurred_before_us=before_us,
        redacted=True,
        limit=_BATCH,
    )
