"""Delete memories and events in one transaction: redact their text everywhere and leave tombstones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Final

from credenda import limits
from credenda.errors import Conflict
from credenda.ids import IdKind, parse_id_number
from credenda.model.change import Actor, Add, ChangeKind, ChangeRecord, Delete, Revise, Support
from credenda.model.claim import Extractor, Span
from credenda.model.contest import ContestCase, ContestState, to_contest_dict
from credenda.model.event import Event
from credenda.model.memory import Draft, Memory, Relation, Slot, Status, TypeClass
from credenda.storage.job_kinds import EMBED
from credenda.storage.store import EventFilter, Job, Reader, Redaction, Tombstone, Writer
from credenda.text.normalize import normalise_attribute, normalise_name, normalise_text, normalise_value
from credenda.text.sentences import split_sentences
from credenda.write.apply import Application, apply
from credenda.write.forget.blank import Blanker, log_redaction
from credenda.write.forget.cut import Assertion
from credenda.write.forget.part import Part, find_part, make_tombstones
from credenda.write.forget.restated import find_restated
from credenda.write.forget.scope import (
    ValueHolders,
    find_kept_digests,
    find_other_support,
    find_similar_events,
    has_overlap,
    is_repeat,
    is_stated,
)
from credenda.write.forget.tombstones import get_voice, make_text_tombstones
from credenda.write.reconcile.contest_trigger import format_question
from credenda.write.reconcile.slots import CURRENT_STATUSES
from credenda.write.reconcile.wording import quote_parts

__all__ = ["Deletion", "check_hold", "count_matches", "find_last_number"]

_PAGE: Final = 500


def check_hold(reader: Reader) -> None:
    """Raise `Conflict` if a legal hold forbids deletion."""
    if reader.tenant.hold is not None:
        raise Conflict(
            "this user is under a legal hold", why=reader.tenant.hold, fix="lift the hold first; nothing was deleted"
        )


@dataclass(slots=True)
class Deletion:
    """One deletion in one transaction; raises `Conflict` under a legal hold.

    A user's deletion is `buried`: it leaves tombstones, so that the text cannot return. Deletion by age leaves none, so
    that the same text may be stored again.
    """

    writer: Writer
    now_us: int
    actor: Actor = Actor.USER
    reason: str = "deleted by the user"
    buried: bool = True
    deleted: int = 0
    extractor: Extractor | None = None
    """Extracts what remains of a sentence, to check that it still states the other memories."""
    taken: dict[str, str] = field(default_factory=dict[str, str])
    """Texts by id of the memories that were deleted because their words are the same words."""
    _done: set[str] = field(default_factory=set[str])
    _whole: set[str] = field(default_factory=set[str])
    _searched: set[str] = field(default_factory=set[str])
    _holdings: ValueHolders = field(init=False)
    _blanker: Blanker = field(init=False)
    _kept_digests: set[bytes] = field(default_factory=set[bytes])
    """Hashes of text and values that other evidence still supports."""

    def __post_init__(self) -> None:
        """Check for a legal hold before any change."""
        self._holdings = ValueHolders(self.writer)
        self._blanker = Blanker(self.writer, self.now_us, self.actor, self._done, self.extractor)
        check_hold(self.writer)

    @property
    def kept(self) -> dict[str, tuple[str, str]]:
        """The memories that lost words and stay: their texts before and after, by id."""
        return {name: texts for name, texts in self._blanker.kept.items() if name not in self._done}

    @property
    def events(self) -> set[str]:
        """The ids of the events that lost words."""
        return self._whole | {name for name, _ in self.blanked}

    @property
    def blanked(self) -> list[tuple[str, str]]:
        """The words that were blanked, each with the id of its event."""
        return self._blanker.blanked

    def messages(self, memory: Memory) -> None:
        """Delete the whole messages on which a memory rests."""
        names = sorted({item.span.event_id for item in self.writer.evidence(memory_ids=[memory.id])})
        for event in self.writer.events(names):
            self.event(event)

    def memory(self, memory: Memory) -> None:
        """Delete a memory and blank its words; other memories on the same message keep the words that are theirs.

        Memories that hold the same value in the same slot are deleted too, and so are those whose words are the same
        words. Messages of the same person that repeat the words without supporting a memory are blanked too.
        """
        if memory.status is Status.DELETED or memory.id in self._done:
            return
        self._done.add(memory.id)
        evidence = self.writer.evidence(memory_ids=[memory.id])
        events = {event.id: event for event in self.writer.events(sorted({item.span.event_id for item in evidence}))}
        twins, _ = self._holdings.beside(memory)
        repeats = self._find_repeats(memory, [item.span for item in evidence])
        self._done.update(one.id for one in (*twins, *repeats))
        found = [
            find_part(
                self.writer,
                memory,
                events[item.span.event_id],
                item,
                without=self._done,
                extractor=self.extractor,
            )
            for item in evidence
            if item.span.event_id in events
        ]
        self._done.difference_update(one.id for one in (*twins, *repeats))
        self._narrow(memory, found)
        self._redact_memory(memory, found)
        gone = Assertion.of(memory)
        for part in found:
            self._blank(part.event.id, part.spans, gone)
        for part in found:
            for other in self.writer.memories(part.inseparable):
                self._take_along(other)
        if self.buried:
            self._blank_restatements(memory, found)
        for other in (*repeats, *twins):
            if other.id in self._done or not self._split_merged(other, memory):
                self.memory(other)

    def _narrow(self, memory: Memory, found: Sequence[Part]) -> None:
        """Let the evidence of a memory cover only its own words, because the rest stays visible."""
        moved = [(part.item, part.narrow()) for part in found if part.spans]
        self._blanker.put(memory, {}, moved)

    def _blank(self, event_id: str, spans: Sequence[tuple[int, int]], gone: Assertion) -> None:
        for other in self._blanker.blank(event_id, spans, gone):
            self._take_along(other)

    def _take_along(self, other: Memory) -> None:
        """Delete a memory that has no words left of its own; it leaves no tombstone, since nobody named it."""
        if other.status is Status.DELETED or other.id in self._done:
            return
        self._done.add(other.id)
        self.taken[other.id] = other.text
        for item in self.writer.evidence(memory_ids=[other.id]):
            self._blank(item.span.event_id, [(item.span.start, item.span.stop)], Assertion.of(other))
        self._redact_memory(other, [], buried=False)

    def _blank_restatements(self, memory: Memory, found: Sequence[Part]) -> None:
        """Blank the words of other messages that the new tombstones cover."""
        texts = [memory.text, *(text for part in found for text in (part.text, part.alone or ""))]
        for event in find_similar_events(self.writer, texts, self._searched):
            spans = find_restated(self.writer, event, None).spans
            self._blank(event.id, spans, Assertion.of(memory))

    def event(self, event: Event) -> None:
        """Delete an event and every memory that it alone supports.

        A memory with other evidence whose text comes from this event is rewritten from that evidence. Text and values
        that other events or memories still support get no tombstone.
        """
        if not event.text and event.redacted_us is not None:
            return
        resting = self.writer.evidence(event_ids=[event.id])
        held = self.writer.memories(sorted({item.memory_id for item in resting}))
        self._kept_digests = find_kept_digests(self._holdings, event, held) if self.buried else set()
        leaving = [one for one in held if one.value and not find_other_support(self.writer, one, {event.id})]
        for memory in held:
            if memory.status is Status.DELETED or self._split_if_named(memory, leaving):
                continue
            left = find_other_support(self.writer, memory, {event.id})
            told_here = normalise_text(memory.text) in normalise_text(event.text)
            if left and not (told_here and not is_stated(memory, left)):
                continue
            self._done.add(memory.id)
            spans = [item for item in resting if item.memory_id == memory.id]
            parts = [Part(event, item, event.text[item.span.start : item.span.stop]) for item in spans]
            if left and memory.status in CURRENT_STATUSES:
                self._reword(memory, parts, left)
            else:
                self._redact_memory(memory, parts, value=not left)
        self._put_event_tombstones(event)
        self._kept_digests = set()
        self._whole.add(event.id)
        self.writer.put(Redaction(id=event.id, at_us=self.now_us))
        log_redaction(self.writer, event.id, self.now_us, self.actor)

    def _split_if_named(self, memory: Memory, leaving: Sequence[Memory]) -> bool:
        """Split a merged text that names a value of the memories to be deleted; return whether it was split."""
        said = normalise_text(memory.text)
        named = (one for one in leaving if one.id != memory.id and normalise_value(one.value or "") in said)
        return any(self._split_merged(memory, one) for one in named)

    def _reword(self, memory: Memory, parts: Sequence[Part], left: dict[str, list[str]]) -> None:
        """Rewrite a memory from its remaining evidence; only the text of the deleted event gets tombstones."""
        support = tuple(
            Support(span=item.span, claim_hash=item.claim_hash)
            for item in self.writer.evidence(memory_ids=[memory.id])
            if item.span.event_id in left
        )
        said = next(iter(left.values()))[0].strip()[: limits.MEMORY_TEXT_CHARACTERS]
        kept = Draft(**{field.name: getattr(memory, field.name) for field in fields(Draft)})
        draft = replace(kept, text=said)
        add = Add(key="new:reworded", draft=draft, support=support, reason="other messages state it too")
        self._redact_memory(memory, parts, value=False)
        application = Application(actor=self.actor, now_us=self.now_us)
        (new_id,) = apply(self.writer, [add], application).ids.values()
        self._holdings.forget()
        for contest in self.writer.contests():
            if memory.id in contest.memory_ids:
                ids = tuple(new_id if one == memory.id else one for one in contest.memory_ids)
                self.writer.put(replace(contest, memory_ids=ids))
                self._log_contest(replace(contest, memory_ids=ids))
        number = parse_id_number(support[0].span.event_id, IdKind.EVENT, self.writer.tenant.tag)
        self.writer.put(Job(kind=EMBED, first=number, last=number))

    def _put_event_tombstones(self, event: Event) -> None:
        """Put the tombstones of an event: of its whole text and of each sentence."""
        key = self.writer.tenant.key
        for text in (event.text, *(event.text[start:stop] for start, stop in split_sentences(event.text))):
            self._put(make_text_tombstones(key, text, self.now_us, get_voice(event)))

    def _put(self, stones: Iterable[Tombstone]) -> None:
        for stone in stones if self.buried else ():
            if stone.digest not in self._kept_digests:
                self.writer.put(stone)

    def _redact_memory(self, memory: Memory, parts: Sequence[Part], *, value: bool = True, buried: bool = True) -> None:
        """Redact a memory and put its tombstones, without that of its value if other evidence still supports it."""
        if self.buried and buried:
            _, apart = self._holdings.beside(memory)
            self._put(make_tombstones(self.writer, memory, parts, self.now_us, apart=bool(apart), value=value))
        changed = self._remove_from_contests(memory) if value else set[str]()
        pair = (normalise_name(memory.entity or ""), normalise_attribute(memory.attribute or ""))
        application = Application(actor=self.actor, now_us=self.now_us)
        apply(self.writer, [Delete(memory_id=memory.id, reason=self.reason)], application)
        phrases = quote_parts(memory.value, memory.text)
        for contest in self.writer.contests():
            same = (normalise_name(contest.entity), normalise_attribute(contest.attribute)) == pair
            if same or contest.id in changed or _has_quote(contest, phrases):
                self._log_contest(contest)
        self.deleted += value

    def _log_contest(self, contest: ContestCase) -> None:
        """Log the remaining state of a contest, because its earlier log entries will be redacted."""
        self.writer.put(
            ChangeRecord(
                id="",
                kind=ChangeKind.DELETE,
                actor=self.actor,
                reason="a value was deleted",
                at_us=self.now_us,
                after={"contest": contest.id, "case": to_contest_dict(contest)},
            )
        )

    def _find_repeats(self, memory: Memory, spans: list[Span]) -> list[Memory]:
        """Find memories from overlapping evidence that state the deleted claim itself."""
        near = self.writer.evidence(event_ids=sorted({span.event_id for span in spans}))
        ids = {item.memory_id for item in near if any(has_overlap(item.span, span) for span in spans)} - self._done
        others = self.writer.memories(sorted(ids))
        return [one for one in others if is_repeat(memory, one) or self._find_merged_parts(one, memory)]

    def _find_merged_parts(self, other: Memory, gone: Memory) -> list[Memory]:
        """Find the memories without a deleted value that were merged into one text that names it."""
        said = normalise_value(gone.value or "")
        if not (said and other.value and said != normalise_value(other.value) and said in normalise_text(other.text)):
            return []
        events = {item.span.event_id for item in self.writer.evidence(memory_ids=[other.id])}
        resting = self.writer.evidence(event_ids=sorted(events))
        return [
            one
            for one in self.writer.memories(sorted({item.memory_id for item in resting} - self._done))
            if one.superseded_by == other.id
            and one.relation is Relation.MERGED
            and said not in normalise_text(one.text)
        ]

    def _split_merged(self, other: Memory, gone: Memory) -> bool:
        """Reactivate the memories that were merged into one text that names a deleted value.

        Deleting Y from "Now X; previously Y" keeps X: each part gets the status of the merged memory. Returns False if
        there are no parts.
        """
        parts = self._find_merged_parts(other, gone)
        if not parts:
            return False
        self._done.add(other.id)
        application = Application(actor=self.actor, now_us=self.now_us)
        apply(self.writer, [self._restore_part(one, other) for one in parts], application)
        self._redact_memory(other, [], value=False)
        return True

    def _restore_part(self, part: Memory, whole: Memory) -> Revise:
        earlier = [one for one in self.writer.versions([part.id]) if one.status in CURRENT_STATUSES]
        until_us = earlier[-1].valid_until_us if earlier and whole.status in CURRENT_STATUSES else whole.valid_until_us
        fields = {
            "status": whole.status,
            "relation": whole.relation,
            "superseded_by": whole.superseded_by,
            "valid_until_us": until_us,
        }
        return Revise(memory_id=part.id, fields=fields, reason="the text that it was merged into was deleted")

    def _remove_from_contests(self, memory: Memory) -> set[str]:
        """Remove a memory's value from every contest that names it; return the ids of those contests.

        Closing a contest clears the `contested` flag of its remaining memory.
        """
        changed: set[str] = set()
        gone = normalise_value(memory.value or memory.text)
        for contest in self.writer.contests():
            pair = (normalise_name(contest.entity), normalise_attribute(contest.attribute))
            same = pair == (normalise_name(memory.entity or ""), normalise_attribute(memory.attribute or ""))
            if memory.id in contest.memory_ids or (
                same and any(normalise_value(one) == gone for one in contest.values)
            ):
                left = self._remove_value(contest, memory)
                self.writer.put(left)
                changed.add(left.id)
                if contest.state is ContestState.OPEN and left.state is ContestState.RESOLVED:
                    self._settle(left)
        return changed

    def _settle(self, closed: ContestCase) -> None:
        """Clear the `contested` flag of the last value of a closed contest."""
        asked = {name for one in self.writer.contests(state=ContestState.OPEN) for name in one.memory_ids}
        reason, fields = "the conflicting value was deleted", {"contested": False}
        settled = [
            Revise(memory_id=one.id, fields=fields, reason=reason)
            for one in self.writer.memories([name for name in closed.memory_ids if name not in asked])
            if one.contested and one.status is not Status.DELETED
        ]
        apply(self.writer, settled, Application(actor=self.actor, now_us=self.now_us))

    def _remove_value(self, contest: ContestCase, memory: Memory) -> ContestCase:
        gone = normalise_value(memory.value or memory.text)
        left = self.writer.memories([one for one in contest.memory_ids if one != memory.id])
        if any(normalise_value(one.value or one.text) == gone for one in left):  # another memory has the value too
            gone = ""
        values = tuple(value for value in contest.values if normalise_value(value) != gone)
        slot = Slot(contest.speaker, contest.entity, contest.attribute, contest.scope, TypeClass(contest.type_class))
        still_open = contest.state is ContestState.OPEN and len(values) > 1
        return replace(
            contest,
            values=values,
            memory_ids=tuple(one for one in contest.memory_ids if one != memory.id),
            question=format_question(slot, values) if len(values) > 1 else "",
            state=ContestState.OPEN if still_open else ContestState.RESOLVED,
            resolved_us=contest.resolved_us or (None if still_open else self.now_us),
            resolution=None if still_open else "a value was deleted",
            scopes={value: scope for value, scope in contest.scopes.items() if normalise_value(value) != gone},
        )


def _has_quote(contest: ContestCase, phrases: Iterable[str]) -> bool:
    """Return whether the log of a contest quotes one of these phrases, so that its entry must be redacted too."""
    told = (contest.question, contest.resolution or "", *quote_parts(*contest.values))
    return any(phrase in text for phrase in phrases for text in told)


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
