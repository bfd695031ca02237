"""The scope of a deletion: which other text and memories it must cover, and which it must keep."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final
from unicodedata import normalize

from credenda.ids import parse_serial
from credenda.index.document_names import list_event_ids, list_memory_ids
from credenda.model.claim import Span
from credenda.model.event import Event
from credenda.model.memory import Memory, Relation, Status
from credenda.storage.store import ChangeFilter, MemoryFilter, Reader
from credenda.text.normalize import find_condition_forms, list_condition_terms, normalise_text, normalise_value
from credenda.text.sentences import BLANK, leave_out_blanks
from credenda.text.tokens import is_run
from credenda.write.forget.cut import find_phrase
from credenda.write.forget.tombstones import (
    get_tombstone_form,
    get_voice,
    hash_slot_forms,
    hash_text_forms,
    list_value_forms,
)
from credenda.write.reconcile.slots import get_slot

__all__ = [
    "BLANK",
    "WORD",
    "ValueHolders",
    "find_in_reasons",
    "find_kept_digests",
    "find_mentions",
    "find_merged_parts",
    "find_other_support",
    "find_similar_events",
    "get_span_text",
    "has_overlap",
    "is_merged_pair",
    "is_repeat",
    "is_stated",
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

        Returns those in its slot, and those in another scope, speaker or type class.
        """
        slot, form = get_slot(memory), get_tombstone_form(memory)
        if slot is None or form is None:
            return [], []
        names = self._index_pair((slot.entity, slot.attribute)).get(form, [])
        found = self.reader.memories([name for name in names if name != memory.id])
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
