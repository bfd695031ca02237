"""Deleting for good: words are redacted wherever they stand, and a tombstone keeps them from coming back."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final, TypeVar

from credenda.clock import parse_time
from credenda.errors import Invalid, NotFound
from credenda.ids import Kind, number_of, parse_id
from credenda.model.change import Actor, ChangeKind, ChangeRecord, Delete
from credenda.model.claim import Evidence, Span
from credenda.model.contest import ContestCase, ContestState, contest_table
from credenda.model.event import Event
from credenda.model.memory import Memory, Slot, Status, TypeClass
from credenda.model.report import DeletionReport
from credenda.parts import Parts
from credenda.storage.store import EventFilter, Redaction, Writer
from credenda.text.normal import text_key, value_key
from credenda.text.sentences import sentence_spans
from credenda.write.apply import Application, apply
from credenda.write.contests import question
from credenda.write.tombstones import memory_tombstones, text_tombstone

__all__ = ["delete", "delete_where"]

T = TypeVar("T", Memory, Event)
_BLANK: Final = "\u2588"
_WORD: Final = re.compile(r"\w")
_BATCH: Final = 50


def delete(parts: Parts, target_id: str) -> None:
    """Delete a memory or an event with all that rests on it alone; repeating it does nothing.

    Raises `NotFound` for an id that is unknown here.
    """

    def work(writer: Writer) -> None:
        kind, _ = parse_id(target_id, writer.tenant.tag)
        run = _Deletion(writer, parts.clock.now_us())
        if kind is Kind.MEMORY:
            run.memory(_existing(writer.memories([target_id]), target_id))
        elif kind is Kind.EVENT:
            run.event(_existing(writer.events([target_id]), target_id))
        else:
            raise NotFound(f"{target_id} is neither memory nor event", fix="give an id that begins with m or e")

    with parts.foreground:
        parts.store.commit(parts.user_id, work)


def delete_where(
    parts: Parts,
    *,
    session: str | None = None,
    topic: str | None = None,
    source: str | None = None,
    before: datetime | str | None = None,
) -> DeletionReport:
    """Delete every event that meets all conditions, and what rests on those events alone."""
    if session is None and topic is None and source is None and before is None:
        raise Invalid("delete_where needs a condition", why="without one it would delete everything", fix="name one")
    before_us = None if before is None else parse_time(before, parts.settings.zone)
    # An event of which one sentence was deleted is redacted too, and what is left of it must go.
    wanted = EventFilter(
        session=session, topic=topic, source=source, occurred_before_us=before_us, redacted=True, limit=_BATCH
    )
    events = memories = after = 0

    def work(writer: Writer) -> tuple[int, int, int | None]:
        run = _Deletion(writer, parts.clock.now_us())
        found = writer.find_events(replace(wanted, after=after))
        for event in found:
            run.event(event)
        last = number_of(found[-1].id, Kind.EVENT, writer.tenant.tag) if found else None
        return sum(bool(event.text) for event in found), run.deleted, last

    while True:
        with parts.foreground:
            batch, gone, last = parts.store.commit(parts.user_id, work)
        if last is None:
            return DeletionReport(events=events, memories=memories)
        events, memories, after = events + batch, memories + gone, last


def _existing(found: list[T], target_id: str) -> T:
    if not found:
        raise NotFound(f"there is nothing called {target_id}", fix="copy an id from `list` or `search`")
    return found[0]


@dataclass(slots=True)
class _Deletion:
    """One deletion inside one transaction."""

    writer: Writer
    now_us: int
    deleted: int = 0
    _done: set[str] = field(default_factory=set[str])

    def memory(self, memory: Memory) -> None:
        """Delete a memory, blank the words it rests on, and take along what repeats them."""
        if memory.status is Status.DELETED or memory.id in self._done:
            return
        self._done.add(memory.id)
        evidence = self.writer.evidence(memory_ids=[memory.id])
        events = {event.id: event for event in self.writer.events(sorted({item.span.event_id for item in evidence}))}
        sentences = [self._words(events, item.span) for item in evidence]
        self._bury(memory, sentences)
        for item in evidence:
            self._blank(item.span)
        for other in self._repeating(memory, evidence):
            self.memory(other)

    def event(self, event: Event) -> None:
        """Delete an event and every memory that rests on it alone."""
        if not event.text and event.redacted_us is not None:
            return
        resting = self.writer.evidence(event_ids=[event.id])
        for memory in self.writer.memories(sorted({item.memory_id for item in resting})):
            if memory.status is not Status.DELETED and not self._rests_elsewhere(memory, event):
                self._done.add(memory.id)
                spans = [item.span for item in resting if item.memory_id == memory.id]
                self._bury(memory, [event.text[span.start : span.stop] for span in spans])
        key = self.writer.tenant.key
        for text in (event.text, *(event.text[start:stop] for start, stop in sentence_spans(event.text))):
            if text_key(text):
                self.writer.put(text_tombstone(key, text, self.now_us))
        self.writer.put(Redaction(id=event.id, at_us=self.now_us))
        self._log(event.id)

    def _rests_elsewhere(self, memory: Memory, event: Event) -> bool:
        """Say whether other words than those of an event still carry a memory; deleted ones carry nothing."""
        spans = [item.span for item in self.writer.evidence(memory_ids=[memory.id]) if item.span.event_id != event.id]
        others = {other.id: other for other in self.writer.events(sorted({span.event_id for span in spans}))}
        return any(_WORD.search(self._words(others, span)) for span in spans)

    def _bury(self, memory: Memory, sentences: Iterable[str]) -> None:
        for stone in memory_tombstones(self.writer.tenant.key, memory, sentences, self.now_us):
            self.writer.put(stone)
        self._leave_contests(memory)
        application = Application(actor=Actor.USER, now_us=self.now_us)
        apply(self.writer, [Delete(memory_id=memory.id, reason="deleted by hand")], application)
        self.deleted += 1

    @staticmethod
    def _words(events: dict[str, Event], span: Span) -> str:
        return events[span.event_id].text[span.start : span.stop] if span.event_id in events else ""

    def _blank(self, span: Span) -> None:
        """Blank a span letter by letter, so that every other span keeps its place."""
        for event in self.writer.events([span.event_id]):
            hidden = _WORD.sub(_BLANK, event.text[span.start : span.stop])
            text = event.text[: span.start] + hidden + event.text[span.stop :]
            if text != event.text:
                left = text if _WORD.search(text.replace(_BLANK, "")) else ""
                self.writer.put(Redaction(id=event.id, at_us=self.now_us, text=left))
                self._log(event.id)

    def _log(self, event_id: str) -> None:
        """Log the redaction, so that every index hears of it."""
        self.writer.put(
            ChangeRecord(
                id="",
                kind=ChangeKind.DELETE,
                actor=Actor.USER,
                reason="words redacted",
                at_us=self.now_us,
                cause=event_id,
            )
        )

    def _repeating(self, memory: Memory, evidence: list[Evidence]) -> list[Memory]:
        """Find memories read from the same words that would still say what was deleted."""
        spans = [item.span for item in evidence]
        near = self.writer.evidence(event_ids=sorted({span.event_id for span in spans}))
        ids = {item.memory_id for item in near if any(_overlap(item.span, span) for span in spans)} - self._done
        said = value_key(memory.value) if memory.value else text_key(memory.text)
        return [other for other in self.writer.memories(sorted(ids)) if other.text and said in text_key(other.text)]

    def _leave_contests(self, memory: Memory) -> None:
        for contest in self.writer.contests():
            if memory.id in contest.memory_ids:
                left = self._without(contest, memory)
                self.writer.put(left)
                self._log_contest(left)

    def _log_contest(self, contest: ContestCase) -> None:
        """Log what is left of a contest: what the log said of it before is about to be redacted."""
        self.writer.put(
            ChangeRecord(
                id="",
                kind=ChangeKind.DELETE,
                actor=Actor.USER,
                reason="a value was deleted",
                at_us=self.now_us,
                after={"contest": contest.id, "case": contest_table(contest)},
            )
        )

    def _without(self, contest: ContestCase, memory: Memory) -> ContestCase:
        gone = value_key(memory.value or memory.text)
        values = tuple(value for value in contest.values if value_key(value) != gone)
        slot = Slot(contest.speaker, contest.entity, contest.attribute, contest.scope, TypeClass(contest.type_class))
        still_open = contest.state is ContestState.OPEN and len(values) > 1
        return replace(
            contest,
            values=values,
            memory_ids=tuple(one for one in contest.memory_ids if one != memory.id),
            question=question(slot, values) if len(values) > 1 else "",
            state=ContestState.OPEN if still_open else ContestState.RESOLVED,
            resolved_us=contest.resolved_us or (None if still_open else self.now_us),
            resolution=None if still_open else "a value was deleted",
            scopes={value: scope for value, scope in contest.scopes.items() if value_key(value) != gone},
        )


def _overlap(one: Span, other: Span) -> bool:
    return one.event_id == other.event_id and one.start < other.stop and other.start < one.stop
