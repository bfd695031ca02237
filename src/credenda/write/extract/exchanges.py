"""Swaps with both values named: "I gave up on Italian and took up Greek", "it's Split, not Zagreb".

Such a sentence names no slot. It gets the slot of the memory or earlier claim with the old value, when slots are
resolved.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

from credenda.model.attributes import get_attribute
from credenda.model.claim import Claim, UpdateKind
from credenda.model.memory import Memory, MemoryType
from credenda.text.normalize import is_same_value
from credenda.write.extract.clauses import Clause
from credenda.write.extract.lexicon import load_table, names, words_of
from credenda.write.extract.patterns import compile_macros
from credenda.write.extract.readings import Reading
from credenda.write.extract.values import clean_value, corrected_value, left_for, load_clause

__all__ = ["exchanged", "in_its_slot", "parted_of", "renamed"]

_WHEN: Final = re.compile(r" (?:on|at|with|every|each|twice|once|three times|in the) ")
_CHARACTERS_MAX: Final = 160
_WORDS_MAX: Final = 5


@dataclass(frozen=True, slots=True)
class _Exchange:
    """The words of which one must occur, the sentence pattern, and whether the old value was wrong."""

    has: frozenset[str]
    match: re.Pattern[str]
    corrects: bool


@cache
def _exchanges() -> tuple[_Exchange, ...]:
    table = load_table("exchanges")
    return tuple(
        _Exchange(frozenset(one["has"]), compile_macros(one["match"], table["macros"]), one.get("corrects", False))
        for one in table["exchange"]
    )


@cache
def _signs() -> frozenset[str]:
    return frozenset(word for one in _exchanges() for word in one.has)


def exchanged(sentence: str) -> Reading | None:
    """Parse a sentence that names a value and the value that it replaces; None for any other sentence."""
    if len(sentence) > _CHARACTERS_MAX:
        return None
    words = words_of(sentence)
    if _signs().isdisjoint(words):
        return None
    for one in _exchanges():
        if one.has.isdisjoint(words):
            continue
        found = one.match.match(sentence.strip(" .!"))
        if found is None:
            continue
        value, prior = clean_value(found["value"], []).text, clean_value(found["prior"], []).text
        if _names(value) and _names(prior) and not is_same_value(value, prior):
            return _plain(value, prior, UpdateKind.CORRECT if one.corrects else UpdateKind.CHANGE)
    return None


def _names(text: str) -> bool:
    """Return whether words may name something: a few words without a pronoun."""
    return 0 < len(text.split()) <= _WORDS_MAX and names().pointing.match(text) is None


def _plain(value: str, prior: str, move: UpdateKind) -> Reading:
    return Reading(type=MemoryType.FACT, value=value, prior=prior, move=move, durable=True, pattern="renamed")


def renamed(clause: Clause, held: Iterable[Claim | Memory]) -> Reading | None:
    """Parse "it's Split, not Zagreb": the slot is that of a claim or memory with the value Zagreb, if there is one."""
    found = corrected_value(clause.text, corrects=clause.move is UpdateKind.CORRECT)
    left = left_for(clause.text) if found is None else None
    value, prior = found or left or ("", "")
    if not prior:
        return None
    return in_its_slot(_plain(value, prior, UpdateKind.CORRECT if left is None else UpdateKind.CHANGE), held)


def _head(value: str | None) -> str | None:
    """Return a value without its time and company: "tennis on Saturdays" is tennis."""
    return None if value is None else _WHEN.split(value, maxsplit=1)[0]


def in_its_slot(plain: Reading, held: Iterable[Claim | Memory]) -> Reading:
    """Move a reading to the slot of the first claim or memory with the value that it replaces, if there is one."""
    for one in held:
        replaceable = plain.move is UpdateKind.CORRECT or not get_attribute(one.attribute or "").by_birth
        if replaceable and (is_same_value(one.value, plain.prior) or is_same_value(_head(one.value), plain.prior)):
            slot = replace(plain, entity=one.entity, attribute=one.attribute, scope=one.scope, importance=0.8)
            return replace(slot, type=one.type, cardinality=one.cardinality, confidence=0.85)
    return plain


def parted_of(clause: str, owner: str | None) -> Reading | None:
    """Parse a break-up as the end of the other person's role; None without one."""
    found = load_clause("parted").match(clause)
    if found is None:
        return None
    value = found["value"].removeprefix("my ").removeprefix("My ")
    return Reading(type=MemoryType.FACT, entity=owner, value=value, move=UpdateKind.END, durable=True, pattern="parted")
