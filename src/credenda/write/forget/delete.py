"""Delete memories and events in one transaction: redact their text everywhere and leave tombstones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Final

from credenda import limits
from credenda.errors import Conflict
from credenda.ids import IdKind, parse_id_number
from credenda.model.change import Actor, Add, Delete, Revise, Support
from credenda.model.claim import Extractor, Span
from credenda.model.event import Event
from credenda.model.memory import Draft, Memory, Status
from credenda.model.statement import replace_given
from credenda.storage.records import EMBED
from credenda.storage.store import EventFilter, Job, Reader, Redaction, Tombstone, Writer
from credenda.text.normalize import normalise_text, normalise_value
from credenda.text.sentences import split_sentences
from credenda.write.apply import Application, apply
from credenda.write.forget.copies import (
    Contested,
    Copies,
    Labels,
    Removal,
    is_mentioned,
    list_mentions,
    list_names,
    remove_labels,
)
from credenda.write.forget.cut import Assertion, find_phrase
from credenda.write.forget.derived import end_dependents
from credenda.write.forget.scope import (
    Blanker,
    Part,
    ValueHolders,
    find_kept_digests,
    find_mentions,
    find_merged_parts,
    find_other_support,
    find_own_words,
    find_part,
    find_similar_events,
    has_overlap,
    is_repeat,
    is_stated,
    log_redaction,
    make_tombstones,
)
from credenda.write.forget.tombstones import cut_mention, find_restated, get_voice, make_extract, make_text_tombstones
from credenda.write.reconcile.slots import CURRENT_STATUSES, describe_claim

# The legal hold that forbids a deletion, and the counts of a deletion by conditions.


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


_NOTHING: Final = Assertion(None, None, None)


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
    removed: dict[str, str] = field(default_factory=dict[str, str])
    """Texts by id of all memories that were deleted, but for those that `reworded` names."""
    withdrawn: set[str] = field(default_factory=set[str])
    """The ids of those among them that were derived from the others."""
    reasons: dict[str, str] = field(default_factory=dict[str, str])
    """Why the others were deleted that nobody named, by id; the rest of them state the same."""
    renamed: dict[str, str] = field(default_factory=dict[str, str])
    """The new ids of memories that other messages state too, by their old ids."""
    _reworded: dict[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])
    _settled: set[str] = field(default_factory=set[str])
    told: set[str] = field(default_factory=set[str])
    """The values that were deleted, and the texts of memories without one."""
    _owed: list[Removal] = field(default_factory=list[Removal])
    """Deleted words whose copies are not found yet."""
    _corrections: set[str] = field(default_factory=set[str])
    """The memories that corrected a deleted one."""
    _done: set[str] = field(default_factory=set[str])
    _whole: set[str] = field(default_factory=set[str])
    _searched: set[str] = field(default_factory=set[str])
    _holdings: ValueHolders = field(init=False)
    _blanker: Blanker = field(init=False)
    _contested: Contested = field(init=False)
    _copies: Copies = field(init=False)
    _kept_digests: set[bytes] = field(default_factory=set[bytes])
    """Hashes of text and values that other evidence still supports."""

    def __post_init__(self) -> None:
        """Check for a legal hold before any change."""
        self._holdings = ValueHolders(self.writer)
        self._blanker = Blanker(self.writer, self.now_us, self.actor, self._done, self.extractor)
        self._contested = Contested(self.writer, self.now_us, self.actor)
        self._copies = Copies(self.writer, self._blanker, self._contested, self.buried)
        check_hold(self.writer)

    @property
    def kept(self) -> dict[str, tuple[str, str]]:
        """The memories that lost words, labels or reasons, and stay: their texts before and after, by id."""
        cleaned = {name: (text, text) for name, text in self._blanker.cleaned.items() if name not in self._done}
        return cleaned | self._shortened

    @property
    def _shortened(self) -> dict[str, tuple[str, str]]:
        """Those among them whose texts lost words."""
        return {name: texts for name, texts in self._blanker.kept.items() if name not in self._done} | self._reworded

    @property
    def events(self) -> set[str]:
        """The ids of the events that lost words."""
        return self._whole | {name for name, _ in self.blanked}

    @property
    def blanked(self) -> list[tuple[str, str]]:
        """The words that were blanked, each with the id of its event."""
        return self._blanker.blanked

    def find_mentions(self) -> list[Memory]:
        """Find the memories that name a deleted value in words of their own, and corrections that keep a part of it."""
        without = self._done | self._shortened.keys()
        found = find_mentions(self.writer, self.told, without)
        found += [
            one
            for one in self.writer.memories(sorted(self._corrections - without - {other.id for other in found}))
            if any(find_phrase(one.text, name) for told in self.told for name in list_names(told) if not name.islower())
        ]
        return found[: limits.DELETION_NAMES]

    def messages(self, memory: Memory) -> None:
        """Delete the whole messages on which a memory rests."""
        names = sorted({item.span.event_id for item in self.writer.evidence(memory_ids=[memory.id])})
        for event in self.writer.events(names):
            self.event(event)

    def span(self, span: Span) -> None:
        """Blank a span character by character, so that all other spans keep their offsets."""
        self._blank(span.event_id, [(span.start, span.stop)], _NOTHING)
        self._reach_copies()

    def memory(self, memory: Memory) -> None:
        """Delete a memory and blank its words; other memories on the same message keep the words that are theirs.

        Memories that hold the same value in the same slot are deleted too, and so are those whose words are the same
        words. Messages of the same person that repeat the words without supporting a memory are blanked too. Texts that
        were written from the words lose them.
        """
        self._delete(memory)
        self._reach_copies()

    def _delete(self, memory: Memory) -> None:
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
        names = sorted({name for part in found for name in part.inseparable} - self._done)
        bound = [one for one in self.writer.memories(names) if one.status is not Status.DELETED]
        self._done.update(one.id for one in bound)
        for part in found:
            self._blank(part.event.id, part.spans, gone)
        for other in bound:
            self._narrow_beside(other, found)
            self._take(other)
        for other in (*repeats, *twins):
            if other.id in self._done or not self._split_merged(other, memory):
                self._delete(other)
        if self.buried:
            self._blank_restatements(memory, found)  # after the twins, whose evidence it would narrow to other words

    def _narrow(self, memory: Memory, found: Sequence[Part]) -> None:
        """Let the evidence of a memory cover only its own words, because the rest stays visible."""
        moved = [(part.item, part.narrow()) for part in found if part.spans]
        self._blanker.put(memory, {}, moved)

    def _narrow_beside(self, other: Memory, found: Sequence[Part]) -> None:
        """Let the evidence of a memory that goes with another stand where that one's words were."""
        places = [(part.item.span, part.narrow().span) for part in found if part.spans]
        moved = [
            (one, replace(one, span=place))
            for one in self.writer.evidence(memory_ids=[other.id])
            for sentence, place in places
            if has_overlap(one.span, sentence)
        ]
        self._blanker.put(other, {}, moved)

    def _blank(self, event_id: str, spans: Sequence[tuple[int, int]], gone: Assertion) -> None:
        before = len(self.blanked)
        emptied = self._blanker.blank(event_id, spans, gone)
        words = tuple(dict.fromkeys(words for _, words in self.blanked[before:]))
        if words:
            roots = sorted({item.memory_id for item in self.writer.evidence(event_ids=[event_id])})
            self._owed.append(Removal(tuple(roots), words, gone))
        for other in emptied:
            self._take_along(other)

    def _reach_copies(self) -> None:
        """Take deleted words out of their copies, and delete cards and bridges made of memories that lost words."""
        while self._owed:
            owed = self._owed.pop(0)
            self._copies.reword(owed)
            for name, corrected in self._copies.find(owed).items():
                self._corrections |= {name} if corrected else set()
                if name not in self._done:
                    self._reach_copy(name, owed, corrected=corrected)
        lost = self._shortened.keys() - self._settled
        self._settled |= lost
        self._withdraw({one.id: one for one in self.writer.memories(sorted(lost))})

    def _reach_copy(self, name: str, owed: Removal, *, corrected: bool) -> None:
        if self.buried and name not in owed.roots:
            self._blank_told_again(name, owed, corrected=corrected)
        for copy in self.writer.memories([name]):
            told = self._copies.clean(copy, owed, corrected=corrected)
            if told is None:
                self._take_along(copy)
            elif told and corrected:
                self._owed.append(Removal((name,), tuple(told), _NOTHING))

    def _blank_told_again(self, name: str, owed: Removal, *, corrected: bool) -> None:
        """Blank deleted words in the messages of a memory that replaced another: "I'm a baker, not a nurse"."""
        items = self.writer.evidence(memory_ids=[name])
        for event in self.writer.events(sorted({item.span.event_id for item in items})):
            self._blank(event.id, find_restated(self.writer, event, self.extractor).spans, owed.said)
        for phrase in list_mentions(owed, self.writer.memories([name])[0], corrected=corrected):
            said = owed.said._replace(value=phrase)
            for item in self.writer.evidence(memory_ids=[name]):
                for event in self.writer.events([item.span.event_id]):
                    if not is_mentioned(owed, phrase, event.text):
                        continue
                    # Find a deleted value in a message of other memories; words that these need stay, unless one
                    # corrected it.
                    near = {
                        one.memory_id
                        for one in self.writer.evidence(event_ids=[event.id])
                        if has_overlap(one.span, item.span)
                    }
                    others = [Assertion.of(one) for one in self.writer.memories(sorted(near - self._done)) if one.value]
                    start = item.span.start
                    extract = None if self.extractor is None else make_extract(self.extractor, event)
                    spans = cut_mention(event.text[start : item.span.stop], said, others, extract, needed=not corrected)
                    self._blank(event.id, ([(start + begin, start + end) for begin, end in spans]), owed.said)

    def _withdraw(self, left: Mapping[str, Memory]) -> None:
        """Delete cards and bridges made of memories that are deleted or have lost words."""
        application = Application(actor=self.actor, now_us=self.now_us)
        for change in end_dependents(self.writer, left, frozenset(left), self.now_us):
            for one in self.writer.memories([change.memory_id] if isinstance(change, Delete) else []):
                if one.status is not Status.DELETED:
                    self._done.add(one.id)
                    self.withdrawn.add(one.id)
                    self.reasons[one.id] = "it was derived from what is deleted"
                    self.removed[one.id] = one.text
                    apply(self.writer, [change], application)

    def _take_along(self, other: Memory) -> None:
        """Delete a memory that has no words left of its own; it leaves no tombstone, since nobody named it."""
        if other.status is not Status.DELETED and other.id not in self._done:
            self._done.add(other.id)
            self._take(other)

    def _take(self, other: Memory) -> None:
        self.reasons[other.id] = "it tells of it by name, or in the same words"
        for item in self.writer.evidence(memory_ids=[other.id]):
            for event in self.writer.events([item.span.event_id]):
                spans = find_own_words(self.writer, other, event, item, without=self._done, extractor=self.extractor)
                self._blank(event.id, spans, Assertion.of(other))
        self._redact_memory(other, [], buried=False)
        self.removed[other.id] = describe_claim(other) or other.text

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
            self.reasons[memory.id] = "no other message states it"
            spans = [item for item in resting if item.memory_id == memory.id]
            parts = [Part(event, item, event.text[item.span.start : item.span.stop]) for item in spans]
            if left and memory.status in CURRENT_STATUSES:
                self._reword(memory, parts, left)
            else:
                self._redact_memory(memory, parts, value=not left)
        # Put the tombstones of an event: of its whole text and of each sentence.
        key = self.writer.tenant.key
        for text in (event.text, *(event.text[start:stop] for start, stop in split_sentences(event.text))):
            self._put(make_text_tombstones(key, text, self.now_us, get_voice(event)))
        labels = Labels.of([event])
        self._owed.append(Removal(tuple(one.id for one in held), (event.text,), _NOTHING, labels=labels))
        self._kept_digests = set()
        self._whole.add(event.id)
        self.writer.put(Redaction(id=event.id, at_us=self.now_us))
        log_redaction(self.writer, event.id, self.now_us, self.actor)
        self._reach_copies()

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
        kept = replace(kept, metadata=replace_given(kept.metadata))
        others = self.writer.events(sorted(left))
        labels = remove_labels(kept, Labels.of([part.event for part in parts]), Labels.of(others), lambda _: False)
        draft = replace(kept, text=said, **labels)
        add = Add(key="new:reworded", draft=draft, support=support, reason="other messages state it too")
        self._redact_memory(memory, parts, value=False)
        application = Application(actor=self.actor, now_us=self.now_us)
        (new_id,) = apply(self.writer, [add], application).ids.values()
        self._holdings.forget()
        self._contested.rename(memory.id, new_id)
        self._reworded[memory.id] = (self.removed.pop(memory.id), said)
        self.renamed[memory.id] = new_id
        number = parse_id_number(support[0].span.event_id, IdKind.EVENT, self.writer.tenant.tag)
        self.writer.put(Job(kind=EMBED, first=number, last=number))

    def _put(self, stones: Iterable[Tombstone]) -> None:
        for stone in stones if self.buried else ():
            if stone.digest not in self._kept_digests:
                self.writer.put(stone)

    def _redact_memory(self, memory: Memory, parts: Sequence[Part], *, value: bool = True, buried: bool = True) -> None:
        """Redact a memory and put its tombstones, without that of its value if other evidence still supports it."""
        if self.buried and buried:
            _, apart = self._holdings.beside(memory)
            self._put(make_tombstones(self.writer, memory, parts, self.now_us, apart=bool(apart), value=value))
        changed = self._contested.remove(memory) if value else set[str]()
        labels = Labels.of(self.writer.versions([memory.id]))
        self._withdraw({memory.id: memory})
        self._blanker.name_quoting(memory)
        apply(
            self.writer,
            [Delete(memory_id=memory.id, reason=self.reason)],
            Application(actor=self.actor, now_us=self.now_us),
        )
        self._contested.log_quoting(memory, changed)
        self.removed[memory.id] = memory.text
        self.told |= {memory.value or memory.text} if value else set()
        self.deleted += value
        words = dict.fromkeys((memory.text, *(part.text for part in parts)))
        said = Assertion.of(memory) if value else _NOTHING
        self._owed.append(Removal((memory.id,), tuple(words), said, memory, labels))

    def _find_repeats(self, memory: Memory, spans: list[Span]) -> list[Memory]:
        """Find memories from overlapping evidence that state the deleted claim itself."""
        near = self.writer.evidence(event_ids=sorted({span.event_id for span in spans}))
        ids = {item.memory_id for item in near if any(has_overlap(item.span, span) for span in spans)} - self._done
        others = self.writer.memories(sorted(ids))
        return [
            one for one in others if is_repeat(memory, one) or find_merged_parts(self.writer, one, memory, self._done)
        ]

    def _split_merged(self, other: Memory, gone: Memory) -> bool:
        """Reactivate the memories that were merged into one text that names a deleted value.

        Deleting Y from "Now X; previously Y" keeps X: each part gets the status of the merged memory. Returns False if
        there are no parts.
        """
        parts = find_merged_parts(self.writer, other, gone, self._done)
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
