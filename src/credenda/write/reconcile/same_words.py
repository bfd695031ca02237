"""Read a sentence that tells a change in the words of a held one: "we deploy with Render now". Pure.

The reader does not find a fact in every sentence. Where it finds none, a sentence that differs from that of an earlier
memory in its value alone says what took the place of that value, or stands beside it, in the same slot.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from credenda.model.attributes import is_valid_value
from credenda.model.claim import Claim, Span, UpdateKind
from credenda.model.event import Event, Role
from credenda.model.memory import Memory, Stance, get_valid_from_us
from credenda.text.changes import is_beside, is_change, is_return
from credenda.text.normalize import normalise_name
from credenda.text.sentences import split_sentences
from credenda.text.tokens import tokenize
from credenda.write.extract.voices import lexicon, split_voices
from credenda.write.facts.claims import OWN_VOICES

_LONGEST: Final = 120  # characters; a longer sentence is hardly the same but for a value
_VALUE_WORDS: Final = 4
_CONFIDENCE: Final = 0.75
_WORD: Final = re.compile(r"[^\s.,;:!?()\"\u201c\u201d]+(?:\.[^\s.,;:!?()\"\u201c\u201d]+)*")
_WHEN: Final = re.compile(
    r"\b(?:now|nowadays|currently|again|back|once more|as before|like before|these days|from now on|instead|after all"
    r"|at the moment|finally)\b|(?<=\w)'(?:m|re|ve)\b|\b(?:am|are|have been)\b",
    re.IGNORECASE,
)
"""Words that say when something is so, and auxiliaries: without them both sentences have the same ones."""
_OPEN: Final = re.compile(
    r"\?|\b(?:if|whether|maybe|perhaps|might|may|could|would|should|wish|hope|want|plan|not|never|no|nor|than)\b|n't\b",
    re.IGNORECASE,
)

_JOINS: Final = re.compile(
    r"\b(?:on|in|at|for|with|by|and|or|but|to|from|too|also|because|since|until|when|while|as|so|only|my|the|it)\b",
    re.IGNORECASE,
)
"""Words that say more than a value does: "Render on Fridays"."""


def find_unread_changes(event: Event, claims: Sequence[Claim]) -> list[Span]:
    """Return the short sentences of a message in the user's own words that tell a change, and gave no claim."""
    if event.role is not Role.USER or not (is_change(event.text) or is_return(event.text)):
        return []
    own = [one for one in split_voices(event.text) if one.voice in OWN_VOICES]
    found: list[Span] = []
    for start, stop in split_sentences(event.text):
        said = event.text[start:stop]
        read = any(one.span.start < stop and start < one.span.stop for one in claims)
        told = (is_change(said) or is_return(said)) and not (is_beside(said) or _OPEN.search(said))
        mine = any(one.start <= start and stop <= one.stop for one in own)
        if len(said) <= _LONGEST and told and mine and not read:
            found.append(Span(event.id, start, stop))
    return found


def read_same_words(event: Event, place: Span, held: Iterable[Memory]) -> Claim | None:
    """Return the claim of a sentence that differs from that of one of some memories in its value alone."""
    said = event.text[place.start : place.stop]
    for memory in held:
        earlier = memory.stance is Stance.ASSERTED and get_valid_from_us(memory) <= event.occurred_us
        own = normalise_name(memory.speaker) == normalise_name(event.speaker)
        value = _find_other_value(said, memory) if earlier and own else None
        if value is not None:
            return Claim(
                text=said,
                type=memory.type,
                span=place,
                speaker=memory.speaker,
                entity=memory.entity,
                attribute=memory.attribute,
                value=value,
                scope=memory.scope,
                cardinality=memory.cardinality,
                move=UpdateKind.CHANGE,
                confidence=min(memory.confidence, _CONFIDENCE),
                importance=memory.base_importance,
                topic=event.topic,
                tags=event.tags,
            )
    return None


def _find_other_value(said: str, memory: Memory) -> str | None:
    """Return what a sentence has in the place of the value of a memory, if every other word is the same."""
    value = memory.value or ""
    sentence = next((one for one in _list_sentences(memory.text) if value in one), "")
    if not value or not sentence or not memory.attribute:
        return None
    before, _, after = sentence.partition(value)
    if value in after:
        return None
    head, tail, words = _list_words(before), _list_words(after), _list_words(said)
    content = {*tokenize(f"{before} {after}")}
    inside = words[len(head) : len(words) - len(tail)]
    if not content or not 0 < len(inside) <= _VALUE_WORDS or len(words) != len(head) + len(inside) + len(tail):
        return None
    same = _stem(words[: len(head)]) == _stem(head) and _stem(words[len(words) - len(tail) :]) == _stem(tail)
    other = " ".join(inside)
    fits = is_valid_value(memory.attribute, other) and _is_alike(*_cut_shared(value.split(), inside))
    return other if same and fits else None


def _list_sentences(text: str) -> list[str]:
    return [text[start:stop].replace("\u2019", "'") for start, stop in split_sentences(text)]


def _list_words(text: str) -> list[str]:
    return _WORD.findall(_WHEN.sub(" ", text.replace("\u2019", "'")))


def _stem(words: Iterable[str]) -> list[str]:
    return [next(iter(tokenize(word)), word.casefold()) for word in words]


def _cut_shared(one: list[str], other: list[str]) -> tuple[str, str]:
    """Return the words of two values but for those with which both begin or end.

    >>> _cut_shared("day with coffee".split(), "day with green tea".split())
    ('coffee', 'green tea')
    """
    while one and other and one[0] == other[0]:
        one, other = one[1:], other[1:]
    while one and other and one[-1] == other[-1]:
        one, other = one[:-1], other[:-1]
    return " ".join(one), " ".join(other)


def _is_alike(one: str, other: str) -> bool:
    """Return whether two values are of one kind: of one category, or names where one of them has none."""
    if not (one and other) or _JOINS.search(other) is not None:
        return False
    kinds = {lexicon().category(one), lexicon().category(other)}
    names = all(value[:1].isupper() for value in (one, other))
    return len(kinds) == 1 if None not in kinds else names
