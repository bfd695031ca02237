"""The scope of a deletion: which other text and memories it must cover, and which it must keep."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final
from unicodedata import normalize

from credenda import limits
from credenda.ids import IdKind, parse_id_number, parse_serial
from credenda.index.document_names import list_event_ids, list_memory_ids
from credenda.model.change import Actor, ChangeKind, ChangeRecord
from credenda.model.claim import Claim, Evidence, Extractor, Span, UpdateKind
from credenda.model.event import Event
from credenda.model.memory import Memory, Relation, Status
from credenda.model.statement import list_given
from credenda.storage.records import EMBED
from credenda.storage.store import ChangeFilter, Job, MemoryFilter, Reader, Redaction, Rewording, Tombstone, Writer
from credenda.text.normalize import find_condition_forms, list_condition_terms, normalise_text, normalise_value
from credenda.text.sentences import BLANK, blank_span, leave_out_blanks
from credenda.text.tokens import is_run
from credenda.write.correct import is_value_alone
from credenda.write.forget.cut import Assertion, find_phrase, merge_spans, remove_cuts
from credenda.write.forget.derived import leave_out_wordings
from credenda.write.forget.tombstones import (
    NUMBER,
    cut_from_others,
    get_tombstone_form,
    get_voice,
    get_voice_of_claim,
    hash_slot_forms,
    hash_text_forms,
    list_value_forms,
    make_extract,
    make_memory_tombstones,
    make_part_tombstones,
    normalise_assertion,
)
from credenda.write.messages import extract_around_blanks
from credenda.write.reconcile.candidate import claim_hash, make_claim
from credenda.write.reconcile.slots import get_slot, quote_parts

__all__ = [
    "BLANK",
    "WORD",
    "Blanker",
    "Part",
    "ValueHolders",
    "find_in_reasons",
    "find_kept_digests",
    "find_mentions",
    "find_merged_parts",
    "find_other_support",
    "find_own_words",
    "find_part",
    "find_similar_events",
    "get_span_text",
    "has_overlap",
    "is_merged_pair",
    "is_repeat",
    "is_stated",
    "log_redaction",
    "make_tombstones",
]


WORD: Final = re.compile(r"\w")
_WORD_RUN: Final = re.compile(r"[^\W_]+")
_WORDS_ASKED: Final = 8
_RUN_ASKED: Final = 16
_MENTIONS_ASKED: Final = 500
_REPEATS_MAX: Final = 100_000
"""Maximum number of documents with all words of a deleted sentence that are compared with it."""


@dataclass(slots=True)
class ValueHolders:
    """The holders of each value by pair, read once for all deletions of a transaction.

    Call `forget` after adding a memory.
    """

    reader: Reader
    _held: dict[tuple[str, str], dict[tuple[str, str], list[str]]] = field(
        default_factory=dict[tuple[str, str], dict[tuple[str, str], list[str]]]
    )

    def beside(self, memory: Memory) -> tuple[list[Memory], list[Memory]]:
        """Find the other current and past holders of a memory's value, in all forms of its tombstone.

        Returns those in its slot, and those in another scope, speaker or type class; of a long number also those in
        other slots of its entity.
        """
        slot, form = get_slot(memory), get_tombstone_form(memory)
        if slot is None or form is None:
            return [], []
        names = self._index_pair((slot.entity, slot.attribute)).get(form, [])
        found = self.reader.memories([name for name in names if name != memory.id])
        if form[0] == NUMBER:
            of_entity = self.reader.find(MemoryFilter(entity=slot.entity))
            found += [one for one in of_entity if one.id not in {memory.id, *names}]
        same = [other for other in found if other.status is not Status.DELETED and form in list_value_forms(other)]
        return [one for one in same if get_slot(one) == slot], [one for one in same if get_slot(one) != slot]

    def _index_pair(self, pair: tuple[str, str]) -> dict[tuple[str, str], list[str]]:
        if pair not in self._held:
            named: dict[tuple[str, str], list[str]] = {}
            for one in self.reader.find(MemoryFilter(pair=pair)):
                for form in list_value_forms(one):
                    named.setdefault(form, []).append(one.id)
            self._held[pair] = named
        return self._held[pair]

    def forget(self) -> None:
        """Discard the cached holders."""
        self._held.clear()


def find_kept_digests(holdings: ValueHolders, event: Event, held: Iterable[Memory]) -> set[bytes]:
    """Hash text and values that other evidence supports when an event is deleted; they must get no tombstone.

    `held` are the memories that rest on the event.
    """
    reader, key = holdings.reader, holdings.reader.tenant.key
    near = {one.id: one for one in held if one.status is not Status.DELETED}
    for memory in list(near.values()):
        for others in holdings.beside(memory):
            near |= {one.id: one for one in others}
    found: set[bytes] = set()
    voice = get_voice(event)
    for memory in near.values():
        left = find_other_support(reader, memory, {event.id})
        if left:
            found.update(hash_slot_forms(key, memory))
            said = [text for texts in left.values() for text in texts]
            said += [memory.text] if is_stated(memory, left) else []
            found.update(digest for text in said for digest in hash_text_forms(key, text, voice))
    return found


def find_mentions(reader: Reader, phrases: Iterable[str], without: Collection[str]) -> list[Memory]:
    """Find memories that hold one of these phrases in their texts, or in the reasons of their changes."""
    found: dict[str, Memory] = {}
    for phrase in sorted({one for one in phrases if WORD.search(one)}):
        codes = reader.nominate([_choose_search_words(phrase)], _MENTIONS_ASKED, memories=True)
        ids = [name for name in list_memory_ids(codes, reader.tenant.tag) if name not in without]
        held = (one for one in reader.memories(ids) if one.status is not Status.DELETED)
        found |= {one.id: one for one in held if find_phrase(one.text, phrase)}
        named = find_in_reasons(reader, [phrase]) - found.keys() - set(without)
        found |= {one.id: one for one in reader.memories(sorted(named)) if one.status is not Status.DELETED}
    return sorted(found.values(), key=lambda one: parse_serial(one.id))


def find_in_reasons(reader: Reader, phrases: Iterable[str], *, quoted: bool = False) -> set[str]:
    """Return the ids of memories that have one of these phrases in the reasons of their changes, or exactly so."""
    return {
        change.memory_id
        for phrase in phrases
        for form in {normalize("NFC", phrase), normalize("NFD", phrase)}
        for change in reader.changes(ChangeFilter(reason=form))
        if change.memory_id is not None and (form in change.reason if quoted else find_phrase(change.reason, phrase))
    }


def find_similar_events(reader: Reader, texts: Sequence[str], sought: set[str]) -> list[Event]:
    """Find events that have all the words of one of these texts, by the full-text index; includes pending ones.

    Texts in `sought` are skipped; texts searched now are added to it.
    """
    keys = {normalise_text(one): one for one in texts if WORD.search(one.replace(BLANK, ""))}
    found: dict[str, Event] = {}
    for key in keys.keys() - sought - {""}:
        terms = [_choose_search_words(keys[key]), *list_condition_terms(keys[key])]
        ids = list_event_ids(reader.nominate(terms, _REPEATS_MAX), reader.tenant.tag)
        found.update((event.id, event) for event in reader.events([name for name in ids if name not in found]))
    sought |= keys.keys()
    return list(found.values())


def _choose_search_words(text: str) -> str:
    """Choose search words of a text: long words are rare; scripts without spaces contribute a prefix."""
    chosen = sorted(set(_WORD_RUN.findall(text)), key=lambda word: (len(word), word))[-_WORDS_ASKED:]
    return " ".join(word[:_RUN_ASKED] if is_run(word[0]) else word for word in chosen)


def is_repeat(memory: Memory, other: Memory) -> bool:
    """Return whether a memory from the same evidence states the deleted claim itself, not only the same sentence."""
    if not other.text or is_merged_pair(memory, other):
        return bool(other.text)
    if memory.value is None:
        return normalise_text(memory.text) in normalise_text(other.text)
    if normalise_text(memory.text) == normalise_text(other.text):
        return False
    conditions = find_condition_forms(memory.text) & find_condition_forms(other.text)
    said = normalise_value(memory.value)
    return bool(conditions) or (not other.value and said in normalise_text(other.text))


def find_merged_parts(reader: Reader, other: Memory, gone: Memory, without: Collection[str]) -> list[Memory]:
    """Find the memories without a deleted value that were merged into one text that names it."""
    said = normalise_value(gone.value or "")
    if not (said and other.value and said != normalise_value(other.value) and said in normalise_text(other.text)):
        return []
    events = {item.span.event_id for item in reader.evidence(memory_ids=[other.id])}
    resting = reader.evidence(event_ids=sorted(events))
    return [
        one
        for one in reader.memories(sorted({item.memory_id for item in resting} - set(without)))
        if one.superseded_by == other.id and one.relation is Relation.MERGED and said not in normalise_text(one.text)
    ]


def is_merged_pair(one: Memory, other: Memory) -> bool:
    """Return whether one of two memories was merged into the other."""
    merged = {Relation.MERGED, Relation.DUPLICATE}
    return any(gone.superseded_by == kept.id and gone.relation in merged for gone, kept in ((one, other), (other, one)))


def find_other_support(reader: Reader, memory: Memory, gone: Iterable[str]) -> dict[str, list[str]]:
    """Return the remaining text of other events that supports a memory, by event id."""
    without = set(gone)
    spans = [item.span for item in reader.evidence(memory_ids=[memory.id]) if item.span.event_id not in without]
    others = {other.id: other for other in reader.events(sorted({span.event_id for span in spans}))}
    found: dict[str, list[str]] = {}
    for span in spans:
        said = get_span_text(others, span)
        if WORD.search(said.replace(BLANK, "")):
            found.setdefault(span.event_id, []).append(said)
    return found


def is_stated(memory: Memory, said: dict[str, list[str]]) -> bool:
    """Return whether any of the texts contains the memory's text."""
    whole = normalise_text(memory.text)
    return any(whole in normalise_text(one) for spans in said.values() for one in spans)


def get_span_text(events: dict[str, Event], span: Span) -> str:
    """Return the text of a span without its blanks, or "" if its event is missing."""
    return leave_out_blanks(events[span.event_id].text[span.start : span.stop]).text if span.event_id in events else ""


def has_overlap(one: Span, other: Span) -> bool:
    """Return whether two spans overlap."""
    return one.event_id == other.event_id and one.start < other.stop and other.start < one.stop


# The words of a memory in one event, among those of other memories.


@dataclass(frozen=True, slots=True)
class Part:
    """The words that state a memory in a sentence of an event.

    `spans` of the event are to be blanked. `text` is the sentence, `alone` the words that state the memory alone; it
    equals `text` if the sentence states nothing else. `inseparable` are the ids of memories on the same words.
    """

    event: Event
    item: Evidence
    text: str
    spans: tuple[tuple[int, int], ...] = ()
    whole: bool = True
    alone: str | None = None
    inseparable: tuple[str, ...] = ()

    def narrow(self) -> Evidence:
        """Return the evidence with the span of the first of these words."""
        start, stop = self.spans[0]
        return replace(self.item, span=replace(self.item.span, start=start, stop=stop))


def find_part(
    reader: Reader, memory: Memory, event: Event, item: Evidence, *, without: set[str], extractor: Extractor | None
) -> Part:
    """Find the words of a memory in its sentence; memories in `without` are deleted with it and claim no words.

    They are the whole sentence if another was typed in its place, and no other memory rests on it.
    """
    start, stop = item.span.start, item.span.stop
    text = event.text[start:stop]
    others = _find_others(reader, event, item, without)
    extract = None if extractor is None else make_extract(extractor, event)
    gone = Assertion.of(memory)
    inseparable = [one for one in others if _is_inseparable(text, gone, one)]
    kept = [Assertion.of(one) for one in others if one.value and one not in inseparable]
    cut = cut_from_others(text, gone, kept, extract) if gone.value or kept else None
    if cut is None or (not others and _is_retyped(reader, memory, without)):
        same = tuple(one.id for one in others)
        return Part(event, item, text, ((start, stop),), whole=True, alone=text, inseparable=same)
    part = Part(event, item, text, inseparable=tuple(one.id for one in inseparable))
    start, stop = part.item.span.start, part.item.span.stop
    # Of the memories on the same words go the words that the others need not, too.
    bound = [cut_from_others(text, Assertion.of(one), kept, extract, yields=True) for one in inseparable]
    spans = merge_spans(text, [*cut.spans, *(span for one in bound if one is not None for span in one.spans)])
    if cut.whole or not WORD.search(remove_cuts(text, spans)):
        return replace(part, spans=((start, stop),), whole=True, alone=part.text)
    places = tuple((start + begin, start + end) for begin, end in spans)
    return replace(part, spans=places, whole=False, alone=cut.alone)


def find_own_words(
    reader: Reader, memory: Memory, event: Event, item: Evidence, *, without: set[str], extractor: Extractor | None
) -> tuple[tuple[int, int], ...]:
    """Return the spans of an event in which a memory that is taken along stands, without words that others need."""
    start, stop = item.span.start, item.span.stop
    kept = [Assertion.of(one) for one in _find_others(reader, event, item, without) if one.value]
    if not kept:
        return ((start, stop),)
    extract = None if extractor is None else make_extract(extractor, event)
    cut = cut_from_others(event.text[start:stop], Assertion.of(memory), kept, extract, yields=True)
    return () if cut is None else tuple((start + begin, start + end) for begin, end in cut.spans)


def _is_retyped(reader: Reader, memory: Memory, without: set[str]) -> bool:
    """Return whether the user corrected a memory by a sentence, not by a value alone."""
    corrected = memory.superseded_by if memory.relation is Relation.CORRECTED else None
    found = reader.memories([corrected]) if corrected else []
    return any(
        one.id in without or (not is_value_alone(one) and is_stated(one, find_other_support(reader, one, ())))
        for one in found
    )


def _is_inseparable(text: str, gone: Assertion, other: Memory) -> bool:
    """Return whether the words of a claim carry another memory too."""
    return bool(other.value) and cut_from_others(text, gone, [Assertion.of(other)], None) is None


def _find_others(reader: Reader, event: Event, item: Evidence, without: set[str]) -> list[Memory]:
    near = [one for one in reader.evidence(event_ids=[event.id]) if has_overlap(one.span, item.span)]
    found = reader.memories(sorted({one.memory_id for one in near} - without - {item.memory_id}))
    return [one for one in found if one.status is not Status.DELETED]


def make_tombstones(
    reader: Reader, memory: Memory, parts: Sequence[Part], now_us: int, *, apart: bool, value: bool
) -> Iterator[Tombstone]:
    """Yield the tombstones of a memory: of its own words, of its part of other sentences, and of its value.

    The whole sentence gets none if it states other memories too, so that it may be said again without these words.
    """
    key = reader.tenant.key
    said = [(part.alone or part.text, get_voice(part.event)) for part in parts if part.whole or part.alone]
    shared = {normalise_text(part.text) for part in parts if not part.whole}
    if normalise_text(memory.text) not in shared:
        said.append((memory.text, get_voice(parts[0].event) if parts else get_voice_of_claim(memory)))
    for stone in make_memory_tombstones(key, memory, said, now_us, apart=apart):
        if value or stone.kind == "text":
            yield stone
    for part in parts:
        if not part.whole:
            begin = part.item.span.start
            words = [part.text[start - begin : stop - begin] for start, stop in part.spans]
            yield from make_part_tombstones(key, part.text, words, now_us, voice=get_voice(part.event))


# Blank words of an event, and let the memories beside them rest on the words that remain.


_WORDS: Final = re.compile(rf"[^\s{BLANK}](?:[\s\S]*[^\s{BLANK}])?")


@dataclass(slots=True)
class Blanker:
    """Blanks words in one transaction. `kept` has the texts of memories that lost words, `emptied` those without any.

    `done` has the ids of memories that are being deleted, `cleaned` the texts of those that kept it, and lost words of
    their labels or history.
    """

    writer: Writer
    now_us: int
    actor: Actor
    done: set[str]
    extractor: Extractor | None = None
    kept: dict[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])
    cleaned: dict[str, str] = field(default_factory=dict[str, str])
    blanked: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    def blank(self, event_id: str, spans: Sequence[tuple[int, int]], gone: Assertion | None = None) -> list[Memory]:
        """Blank spans of an event character for character; return the memories that have no words left.

        Other memories on these words get what remains of their text; `gone` is the claim that was deleted.
        """
        found = self.writer.events([event_id])
        if not found or not found[0].text or not spans:
            return []
        event, text = found[0], found[0].text
        for start, stop in spans:
            text = blank_span(text, start, stop)
        if text == event.text:
            return []
        self.blanked += [(event_id, event.text[start:stop].strip(" ,;:")) for start, stop in spans]
        left = text if WORD.search(text.replace(BLANK, "")) else ""
        self.writer.put(Redaction(id=event.id, at_us=self.now_us, text=left))
        log_redaction(self.writer, event.id, self.now_us, self.actor)
        after = replace(event, text=left)
        places = [Span(event.id, start, stop) for start, stop in spans]
        touched: dict[str, list[Evidence]] = {}
        for item in self.writer.evidence(event_ids=[event.id]):
            if item.memory_id not in self.done and any(has_overlap(item.span, place) for place in places):
                touched.setdefault(item.memory_id, []).append(item)
        claims: Sequence[Claim] = self._extract(after) if touched else ()
        emptied: list[Memory] = []
        for memory in self.writer.memories(sorted(touched)):
            if memory.status is Status.DELETED:
                continue
            if not self._reword(memory, touched[memory.id], (event, after), claims=claims, gone=gone):
                emptied.append(memory)
        if after.text:
            number = parse_id_number(after.id, IdKind.EVENT, self.writer.tenant.tag)
            self.writer.put(Job(kind=EMBED, first=number, last=number))
        return emptied

    def _extract(self, event: Event) -> Sequence[Claim]:
        return [] if self.extractor is None or not event.text else extract_around_blanks(self.extractor, event)

    def _reword(
        self,
        memory: Memory,
        items: Sequence[Evidence],
        events: tuple[Event, Event],
        *,
        claims: Sequence[Claim],
        gone: Assertion | None,
    ) -> bool:
        """Give a memory the words that remain; return False if none do."""
        before, after = events
        claim = next((one for one in claims if _is_same(one, memory, items)), None)
        spans = {item: _find_words(after.text, item.span) for item in items}
        here = [span for span in spans.values() if span is not None]
        elsewhere = find_other_support(self.writer, memory, {before.id})
        if not here and not elsewhere:
            return False
        if claim is not None:
            remaining = claim.text
        elif here:
            remaining = _tidy(leave_out_blanks(after.text[here[0].start : here[0].stop]).text)
        else:
            remaining = next(iter(elsewhere.values()))[0].strip()
        remaining = remaining[: limits.MEMORY_TEXT_CHARACTERS]
        said = [leave_out_blanks(before.text[item.span.start : item.span.stop]).text for item in items]
        words = tuple(words for name, words in self.blanked if name == before.id)
        versions = self.writer.versions([memory.id])
        texts = {one.text: self._trim(one, before, (said, remaining), gone) for one in versions if one.text}
        held = {old for old, new in texts.items() if any(find_phrase(new, phrase) for phrase in words)}
        texts |= dict.fromkeys(held, remaining)  # a text in other words than the message that holds them all the same
        moved = [(item, _move(item, spans[item], claim, replace(memory, text=texts[memory.text]))) for item in items]
        named = [gone.value] if gone and gone.value and not find_phrase(memory.value or "", gone.value) else []
        self.put(memory, {old: new for old, new in texts.items() if old != new}, moved, words=[*words, *named])
        return True

    def put(
        self,
        memory: Memory,
        texts: Mapping[str, str],
        moved: Iterable[tuple[Evidence, Evidence]],
        *,
        words: Iterable[str] = (),
        fields: Iterable[tuple[str, object, object]] = (),
    ) -> None:
        """Store the words and evidence of a memory that remain, and log the change for the indexes.

        `words` were deleted; reasons of its changes that hold them are removed. `fields` as in `Rewording`.
        """
        pairs = tuple((old, new) for old, new in moved if old != new)
        phrases = tuple(one for one in words if WORD.search(one.replace(BLANK, "")))
        if list_given(memory.metadata) and (texts or phrases):
            fields = leave_out_wordings(self.writer.versions([memory.id]), fields)
        self.writer.put(
            Rewording(id=memory.id, at_us=self.now_us, texts=texts, moved=pairs, phrases=phrases, fields=tuple(fields))
        )
        if memory.id in self.done:
            return
        if memory.text in texts:
            first = self.kept.get(memory.id, (memory.text, ""))[0]
            self.kept[memory.id] = (first, texts[memory.text])
        reason = "words beside it were deleted"
        record = ChangeRecord(
            id="", kind=ChangeKind.REBUILD, actor=self.actor, reason=reason, at_us=self.now_us, memory_id=memory.id
        )
        self.writer.put(record)

    def name_quoting(self, memory: Memory) -> None:
        """Name the memories whose changes lose a reason that quotes a deleted one, wherever they come from."""
        found = find_in_reasons(self.writer, quote_parts(memory.value, memory.text), quoted=True) - {memory.id}
        for one in self.writer.memories(sorted(found)):
            if one.status is not Status.DELETED:
                self.cleaned.setdefault(one.id, one.text)

    def _trim(self, memory: Memory, event: Event, words: tuple[Sequence[str], str], gone: Assertion | None) -> str:
        """Return what remains of a version's text; `words` are its sentences as they were, and what remains of them."""
        said, remaining = words
        text = memory.text
        if any(normalise_text(text) == normalise_text(one) for one in said):
            return remaining
        if gone is None or not gone.value:
            return text
        extract = None if self.extractor is None else make_extract(self.extractor, event)
        cut = cut_from_others(text, gone, [Assertion.of(memory)] if memory.value else [], extract)
        if cut is None:
            return remaining if normalise_text(gone.value) in normalise_text(text) else text
        return remaining if cut.whole else _tidy(remove_cuts(text, cut.spans))


def _is_same(claim: Claim, memory: Memory, items: Sequence[Evidence]) -> bool:
    """Return whether a claim of the remaining words is the one behind a memory."""
    if memory.value is None or normalise_assertion(Assertion.of(claim)) != normalise_assertion(Assertion.of(memory)):
        return False
    return any(has_overlap(claim.span, item.span) for item in items)


def _find_words(text: str, span: Span) -> Span | None:
    """Return the part of a span that has words left, without blanks at its ends; None if it has none."""
    found = _WORDS.search(text[span.start : span.stop]) if text else None
    if found is None or not WORD.search(found[0].replace(BLANK, "")):
        return None
    return Span(span.event_id, span.start + found.start(), span.start + found.end())


def _tidy(text: str) -> str:
    return text.strip().lstrip(",;:) ")


def _move(item: Evidence, span: Span | None, claim: Claim | None, memory: Memory) -> Evidence:
    """Return evidence at the place of the remaining words, with the hash of what they state."""
    if claim is not None:
        return replace(item, span=claim.span, claim_hash=claim_hash(claim))
    if span is None:
        return replace(item, claim_hash=bytes(len(item.claim_hash)))
    return replace(item, span=span, claim_hash=claim_hash(make_claim(memory, span, UpdateKind.STATE)))


def log_redaction(writer: Writer, event_id: str, now_us: int, actor: Actor) -> None:
    """Log a redaction for the indexes."""
    reason = "text redacted"
    writer.put(ChangeRecord(id="", kind=ChangeKind.DELETE, actor=actor, reason=reason, at_us=now_us, cause=event_id))
