"""Whether one text tells that the matter of an older one has changed. Pure.

Beliefs need not exist: a correction may be a message that no rule read. A later text replaces an older one if it is
about the same matter and has a sign of a change: words such as "no longer" or "renamed", or another number in the same
place. The decision changes no status; it puts the later text first and names it on the older one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from credenda.model.attributes import get_attribute
from credenda.model.memory import Cardinality, Memory, Stance
from credenda.read.candidates import Row
from credenda.read.weights import Changes, load_questions
from credenda.text.documents import compose_memory_text
from credenda.text.normalize import normalise_attribute, normalise_name
from credenda.text.sentences import split_sentences
from credenda.text.tokens import ALTERNATIVE, extract_document_terms, tokenize

__all__ = ["count_matches", "find_changed", "place_before", "tell_time"]

_CHARACTERS_MAX: Final = 240
"""Longest text that is compared; a longer one says more than one thing."""
_COVERED_LEAST: Final = 0.3
"""Share of the question's idf that an older text must have: the order of other texts does not matter."""
_APART: Final = frozenset({"superseded", "low_confidence", "contested", "challenged"})
_NUMBER: Final = re.compile(r"\d[\d.,:/-]*")
_REST_MAX: Final = 3
"""Most words of an older text that a later one without a strong sign may leave out: the value, and little else."""
_HALF: Final = 2
_DENIED_WORDS: Final = 4
_BARE_WORDS: Final = 4
"""A sentence of so few words that tells a change ("Scratch that.") is about the next one."""


class _Text(NamedTuple):
    """A sentence of a row, prepared for comparison: its speaker, time and terms, and what of the question it has."""

    row: Row
    speaker: str
    time: int
    terms: frozenset[str]
    asked: frozenset[str]
    numbers: frozenset[str]
    folded: str
    many: bool
    first: str
    """Its first term, which mostly names what it is about."""

    @property
    def value(self) -> frozenset[str]:
        """Its terms that the question does not have."""
        return self.terms - {part for one in self.asked for part in one.split(ALTERNATIVE)}


def find_changed(rows: Sequence[Row], terms: Sequence[str], confirmed: Mapping[str, int]) -> dict[str, str]:
    """Map each row that a later row replaces to the newest such row, by id.

    `terms` are those of the question's subject, `confirmed` the times at which memories were last told, by id.
    """
    signs = load_questions().changes
    texts = [
        _prepare(row, sentence, terms, max(tell_time(row), confirmed.get(row.id, 0)))
        for row in rows
        if _is_comparable(row)
        for sentence in _split(row.text)
    ]
    later = [text for text in texts if _may_tell_change(text, signs)]
    changed: dict[str, str] = {}
    for old in _pick_fitting(texts) if later else ():
        found = [new for new in later if new.time > old.time and _has_changed(old, new, signs, len(terms))]
        if found:
            changed[old.row.id] = max(found, key=lambda new: new.time).row.id
    return changed


def _split(text: str) -> list[str]:
    """Return the sentences of a text; a few words alone belong to the next sentence."""
    sentences: list[str] = []
    bare = ""
    for start, stop in split_sentences(text):
        sentence = f"{bare} {text[start:stop]}".strip()
        bare = sentence if len(sentence.split()) <= _BARE_WORDS else ""
        if not bare:
            sentences.append(sentence)
    return [*sentences, bare] if bare else sentences


def _may_tell_change(text: _Text, signs: Changes) -> bool:
    if text.folded.rstrip().endswith("?") or signs.beside.search(text.folded):
        return False
    found = any(sign.search(text.folded) for sign in (signs.strong, signs.named, signs.weak, signs.negation))
    return found or bool(text.numbers)


def _pick_fitting(texts: Sequence[_Text]) -> list[_Text]:
    """Return of each row that fits the question the sentence with most of it."""
    best: dict[str, _Text] = {}
    for text in texts:
        fits = text.row.signs.coverage >= _COVERED_LEAST or text.row.signs.slot
        if fits and text.asked and len(text.asked) > len(best.get(text.row.id, _NOTHING).asked):
            best[text.row.id] = text
    return list(best.values())


def place_before(rows: Sequence[Row], newer: Mapping[str, str]) -> list[Row]:
    """Move each newer row before the first row that it replaces, with the key and the fit of that one."""
    by_id, placed = {row.id: row for row in rows}, dict[str, Row]()
    for row in rows:
        first = by_id.get(_follow(newer, row.id))
        if first is not None and first.id not in placed and first.id != row.id:
            placed[first.id] = _raise_to(first, row)
        placed.setdefault(row.id, row)
    return list(placed.values())


def count_matches(memory: Memory, asked: Sequence[str]) -> int:
    """Return how many terms of a question the sentence and the slot of a memory have."""
    terms = _list_terms(memory, memory.text)
    return sum(not terms.isdisjoint(term.split(ALTERNATIVE)) for term in asked)


def tell_time(row: Row) -> int:
    """Return when a text was said; of a memory that holds only from a later time, that time."""
    if row.event is not None:
        return row.event.occurred_us
    memory = row.memory
    if memory is None:
        return 0
    return max(memory.created_us, memory.valid_from_us or memory.created_us)


def _follow(newer: Mapping[str, str], name: str) -> str:
    """Return the last row of a chain of replacements; times rise along it, so that it ends."""
    while name in newer:
        name = newer[name]
    return name


def _raise_to(row: Row, place: Row) -> Row:
    if row.key >= place.key:
        return row
    terms = {**row.terms, "newer": place.key - row.key} if row.terms else row.terms
    return row._replace(key=place.key, terms=terms, signs=row.signs.joined(place.signs))


def _is_comparable(row: Row) -> bool:
    """Return whether a row is a short, current statement."""
    if len(row.text) > _CHARACTERS_MAX or not _APART.isdisjoint(row.flags) or row.text.rstrip().endswith("?"):
        return False
    return row.memory is None or row.memory.stance is not Stance.PLANNED


def _prepare(row: Row, sentence: str, asked: Sequence[str], time: int) -> _Text:
    memory = row.memory
    terms = frozenset(extract_document_terms(sentence)) if memory is None else _list_terms(memory, sentence)
    attribute = get_attribute(normalise_attribute(memory.attribute)) if memory and memory.attribute else None
    speaker = row.event.speaker if row.event else memory.speaker if memory else ""
    return _Text(
        row=row,
        speaker=normalise_name(speaker),
        time=time,
        terms=terms,
        asked=frozenset(term for term in asked if not terms.isdisjoint(term.split(ALTERNATIVE))),
        numbers=frozenset(found.rstrip(".,:/-") for found in _NUMBER.findall(sentence)),
        folded=sentence.casefold().replace("\u2019", "'"),
        many=attribute is not None and attribute.known and attribute.cardinality is Cardinality.SET,
        first=next(iter(tokenize(sentence)), ""),
    )


def _list_terms(memory: Memory, sentence: str) -> frozenset[str]:
    slot = {"entity": memory.entity, "attribute": memory.attribute, "value": memory.value}
    return frozenset(extract_document_terms(compose_memory_text(sentence, **slot)))


def _has_changed(old: _Text, new: _Text, signs: Changes, terms: int) -> bool:
    """Return whether `new`, said later, tells that what `old` says is no longer so; `terms` is what a question has."""
    if new.speaker != old.speaker or _is_another_member(old, new):
        return False
    asked = old.asked & new.asked
    about = 0 < len(asked) >= len(old.asked) - 1 and len(asked) * _HALF >= terms
    strong = _has_strong_sign(old, new, signs, about=about)
    if strong is not None or not asked or asked != old.asked or old.many or new.many:
        return bool(strong)
    if _has_denied(old, new, signs):
        return True
    left = len(old.terms - new.terms)
    if signs.weak.search(new.folded):
        return old.first == new.first and 0 < left <= min(_REST_MAX, len(old.terms & new.terms))
    return _has_other_number(old, new) and not any(signs.dated.search(one.folded) for one in (old, new))


def _is_another_member(old: _Text, new: _Text) -> bool:
    """Return whether two memories have different values of a set in which a wrong one could hurt, such as allergies.

    That one allergy is over leaves the others as they are.
    """
    one, other = old.row.memory, new.row.memory
    if one is None or other is None or not one.value or one.attribute != other.attribute:
        return False
    hurts = old.many and get_attribute(one.attribute or "").hurts
    return hurts and new.terms.isdisjoint(extract_document_terms(one.value))


def _has_strong_sign(old: _Text, new: _Text, signs: Changes, *, about: bool) -> bool | None:
    """Return whether words that only a change has are about the older text; None without such words."""
    named = signs.named.search(new.folded)
    if named is not None:
        before = {*extract_document_terms(named["old"] or named["given"])}
        return bool(before & old.value) and (about or before <= old.terms)
    if signs.strong.search(new.folded):
        return about or (bool(old.value) and old.value <= new.terms)
    return None


def _has_denied(old: _Text, new: _Text, signs: Changes) -> bool:
    """Return whether a later text denies the value of the older one, in the next words after "not"."""
    after = (new.folded[found.end() :].split()[:_DENIED_WORDS] for found in signs.negation.finditer(new.folded))
    return any(not old.value.isdisjoint(extract_document_terms(" ".join(words))) for words in after)


def _has_other_number(old: _Text, new: _Text) -> bool:
    """Return whether a later text has all words of the older one, with another number."""
    if not old.numbers or not new.numbers or not old.numbers.isdisjoint(new.numbers):
        return False
    return all(any(character.isdigit() for character in term) for term in old.terms - new.terms)


_NOTHING: Final = _Text(
    Row("event", "", "", 0.0), "", 0, frozenset(), frozenset(), frozenset(), "", many=False, first=""
)
