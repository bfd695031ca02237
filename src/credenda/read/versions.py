"""Claims that tell one thing at several times, under whatever names: "hourly wage", "pay rate". Pure.

This is an order, and a doubt about the earlier ones: likeness retires nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from credenda.model.attributes import get_attribute
from credenda.model.memory import ASSERTIVE_STANCES, Cardinality, Memory, get_valid_from_us
from credenda.read.asked import list_meanings
from credenda.read.candidates import Floats, Row
from credenda.read.newer import has_same_owner, list_terms
from credenda.read.plan import Interval
from credenda.text.normalize import is_same_value, normalise_attribute
from credenda.text.tokens import ALTERNATIVE, tokenize

_WEIGHTS: Final = (-6.4, 10.7, 6.4, 1.1, 0.9, -5.6)
"""Logistic weights of two claims being versions of one thing: the constant, their cosine, equal names of attributes, a
word that these share, values of which both or none have a digit, and how much worse the other one answers.

Fitted on 448 questions over the written lives of four persons. With one of them left out at a time, the current value
came first for 74 of 100 questions; the right slot, of any time, was found for 77."""
_NUMBER: Final = re.compile(r"\d+(?:[.,:]\d+)*")
_WAS: Final = re.compile(r"\b(?:was|were|did|had|used|been)\b", re.IGNORECASE)
_FIRST: Final = re.compile(
    r"\bat first\b|\b(?:i|we|he|she|they|you|it) first\b|\bvery first\b|\b(?:originally|initially|to start with)\b"
    r"|\b(?:begin|began|start|started) with\b|\b(?:at|in|from) the (?:very )?(?:start|beginning|outset)\b",
    re.IGNORECASE,
)
_BEFORE: Final = re.compile(r"\b(?:before|prior to|until)\b", re.IGNORECASE)
_AFTER: Final = re.compile(r"\bafter\b", re.IGNORECASE)
_FORMER: Final = re.compile(
    r"\b(?:previous(?:ly)?|former(?:ly)?|earlier|used to|back then)\b|\b(?:my|our|his|her|their) old\b(?! age)"
    r"|\bbefore(?: (?:that|this|now|it|him|her|them|then|the (?:last|latest|current|present)\b.*))?[ ?.!]*$"
    r"|\bbefore (?:i|we|he|she|they|it|the [\w' ]+|my [\w' ]+) (?!go|do|take|leave|eat|sign)[a-z]+",
    re.IGNORECASE,
)
_HELD: Final = re.compile(
    r"\b(?:in the end|finally|again|these days)\b|(?<!before )\bnow\b"
    r"|\b(?:say|said|tell|told|mention\w*|need\w*|supposed|have) (?:to|me|you|us|i|we|they|it|that|how|when|what)\b"
    r"|\b(?:i|we|you|they|he|she) (?:say|mention)\b",
    re.IGNORECASE,
)
"""What asks in the past tense for what holds: "when did I say the course will start"."""


def find_versions(rows: Sequence[Row], vectors: Mapping[str, Floats], asked: Sequence[str]) -> list[Row]:
    """List the memories that tell what the best of some ordered rows tells, at other times: the best one is first.

    `vectors` are those of the memories by id, `asked` the terms of the question: what it names is no other thing.
    Values of a set, such as allergies, are no versions of each other.
    """
    best = next((row for row in rows if row.memory is not None), None)
    if best is None or best.memory is None or not _may_have_versions(best) or best.id not in vectors:
        return []
    others = [
        row
        for row in rows
        if row.memory is not None
        and row.id in vectors
        and _may_have_versions(row)
        and _has_other_value(row.memory, best.memory, asked)
        and _is_alike(row, best, float(vectors[row.id] @ vectors[best.id]))
    ]
    return [best, *others]


def find_latest(versions: Sequence[Row], asked: Sequence[str], told: Mapping[str, int]) -> dict[str, str]:
    """Map all earlier versions to the one told last, unless the question names the value of the best one.

    `told` is when each memory was told last.
    """
    latest = max(versions, key=lambda row: (told.get(row.id, 0), row.signs.claim or 0.0), default=None)
    best = versions[0].memory if versions else None
    if latest is None or latest.memory is None or best is None or _has_named_value(best, latest.memory, asked):
        return {}
    return {row.id: latest.id for row in versions if told.get(row.id, 0) < told.get(latest.id, 0)}


def list_last_statements(versions: Sequence[Row], rows: Sequence[Row]) -> dict[str, int]:
    """Return when each version was told last: a value that came back may stand in a memory of its own."""
    held = [row.memory for row in rows if row.memory is not None]
    return {
        row.id: max([row.memory.created_us, *(one.created_us for one in held if _has_same_value(one, row.memory))])
        for row in versions
        if row.memory is not None
    }


def _has_same_value(memory: Memory, version: Memory) -> bool:
    """Return whether a memory gives what a version is about, by a word of its name, the same value."""
    if memory.stance not in ASSERTIVE_STANCES or memory.scope != version.scope or not memory.value:
        return False
    names = [set(tokenize((one.attribute or "").replace("_", " "))) for one in (memory, version)]
    alike = not names[0].isdisjoint(names[1])
    return alike and has_same_owner(memory, version) and is_same_value(memory.value, version.value)


def find_then(versions: Sequence[Row], times: Sequence[Interval], question: str) -> dict[str, str]:
    """Map all versions to the one that a question about the past is about: before another, or at its time.

    For a question that names a time and no version that had ended by it, that is the last one begun by then.
    """
    held = sorted((row.memory for row in versions if row.memory is not None), key=get_valid_from_us)
    if len(held) <= 1:
        return {}
    ends = [time.until_us for time in times if time.until_us is not None]
    begun = [one for one in held if ends and get_valid_from_us(one) < max(ends)]
    then = pick_asked_for(held[-1], held[:-1], times, question) or (begun[-1] if begun else None)
    return {} if then is None else {one.id: then.id for one in held if one is not then}


def is_about_earlier(question: str) -> bool:
    """Return whether a question in the past tense may ask for a value before or after another, or the first one.

    >>> is_about_earlier("who had the job before Tariq"), is_about_earlier("what was the rent again")
    (True, False)
    """
    if _WAS.search(question) is None or _HELD.search(question) is not None:
        return False
    return any(one.search(question) is not None for one in (_FIRST, _BEFORE, _AFTER, _FORMER))


def pick_asked_for(
    memory: Memory, earlier: Sequence[Memory], times: Sequence[Interval], question: str
) -> Memory | None:
    """Pick the earlier value that a question about the past is about.

    That is the one before or after a value that it names, the one at its time, the first, or the one before the last.
    None for a question that asks for none of these, or for the value that is held.
    """
    turn = _BEFORE.search(question) or _AFTER.search(question)
    told = question[turn.end() :] if turn is not None else question  # "who was acting before Noreen"
    name = set(tokenize((memory.attribute or "").replace("_", " ")))
    values = sorted([*earlier, memory], key=get_valid_from_us)
    shared = [len(set(tokenize(told)).difference(name).intersection(tokenize(one.value or ""))) for one in values]
    named = shared.index(max(shared)) if max(shared) else None
    ends = [time.until_us for time in times if time.until_us is not None]
    begun = [at for at, one in enumerate(values) if ends and get_valid_from_us(one) < max(ends)]
    asks, last = is_about_earlier(question), len(values) - 1
    if named is not None and turn is not None and (asks or turn[0].lower() != "after"):
        place = named + 1 if turn[0].lower() == "after" else named - 1
    elif ends:
        place = begun[-1] if begun else last
    elif asks and _FIRST.search(question):
        place = 0
    else:
        place = last - 1 if named is None and asks and _FORMER.search(question) else last
    return values[place] if 0 <= place < last and values[place] is not memory else None


def _has_named_value(best: Memory, latest: Memory, asked: Sequence[str]) -> bool:
    """Return whether a question names the better part of a value, by words that the latest version lacks."""
    value, words = set(tokenize(best.value or "")), {part for term in asked for part in term.split(ALTERNATIVE)}
    return 2 * len(value & words) >= max(len(value), 1) and not value & words <= list_terms(latest, latest.text)


def _may_have_versions(row: Row) -> bool:
    """Return whether a row is a memory of one thing that is so, compared as a claim."""
    memory = row.memory
    if memory is None or row.signs.claim is None or not memory.value or not row.flags <= {"contested"}:
        return False
    if get_attribute(normalise_attribute(memory.attribute or "")).cardinality is Cardinality.SET:
        return False
    return memory.stance in ASSERTIVE_STANCES


def _has_other_value(memory: Memory, best: Memory, asked: Sequence[str]) -> bool:
    """Return whether a memory was told at another time than the best one, with another value of what is asked for."""
    if memory.created_us == best.created_us or memory.scope != best.scope or not has_same_owner(memory, best):
        return False
    numbers = [set(_NUMBER.findall(one.value or "")) for one in (memory, best)]
    if is_same_value(memory.value, best.value) or (numbers[0] and numbers[0] == numbers[1]):
        return False
    names, its = (set(tokenize((one.attribute or "").replace("_", " "))) for one in (best, memory))
    if its <= names or its.isdisjoint(names):
        return True  # other words for the same, and not its house insurance beside the car insurance
    words = {part for term in asked for part in term.split(ALTERNATIVE)}
    return names & words <= list_terms(memory, memory.text)


def _is_alike(row: Row, best: Row, likeness: float) -> bool:
    names = [normalise_attribute(one.memory.attribute or "") if one.memory else "" for one in (row, best)]
    equal = not list_meanings(names[0]).isdisjoint(list_meanings(names[1]))
    shares = not {*tokenize(names[0].replace("_", " "))}.isdisjoint(tokenize(names[1].replace("_", " ")))
    digits = {_NUMBER.search(one.memory.value or "") is None for one in (row, best) if one.memory}
    worse = (best.signs.claim or 0.0) - (row.signs.claim or 0.0)
    features = (1.0, likeness, equal, shares or equal, len(digits) == 1, worse)
    return sum(weight * feature for weight, feature in zip(_WEIGHTS, features, strict=True)) > 0
