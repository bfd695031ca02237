"""Parse standing instructions to the assistant, work procedures, and decisions proposed to a group."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Final

from credenda.model.memory import Cardinality, MemoryType
from credenda.text.normalize import normalise_attribute
from credenda.write.extract.clauses import Clause
from credenda.write.extract.lexicon import expression, lexicon, load_table, occurs
from credenda.write.extract.patterns import Gate, compile_macros
from credenda.write.extract.readings import Reading
from credenda.write.extract.shapes import is_free
from credenda.write.extract.values import clean_value, leading_scope, take_scope

__all__ = ["read_directive"]

_PLEASE: Final = re.compile(r",? please$", re.IGNORECASE)
_NOT_EVER: Final = re.compile(r"^do not ever ", re.IGNORECASE)
_STEPS_MAX: Final = 4
_ORDER: Final = "always_other"
"""A sentence recognised as an instruction by "always" alone must address the assistant."""
_ORDER_WORDS_MIN: Final = 2
_SPEAKERS: Final = frozenset({"i", "we"})
_POINTING: Final = frozenset({"it", "that", "this", "there", "he", "she", "they", "these", "those"})


@cache
def _shapes(kind: str) -> dict[str, re.Pattern[str]]:
    table = load_table("instructions")
    return {name: compile_macros(text, table["macros"]) for name, text in table[kind].items()}


@cache
def _gate(kind: str, first: str) -> Gate | None:
    shapes = _shapes_for(kind, first)
    return Gate(shapes.values()) if shapes else None


def _fitting(kind: str, text: str) -> Iterator[tuple[str, re.Match[str]]]:
    """Yield the matching patterns of a kind, in order."""
    first = _first(text)
    gate = _gate(kind, first)
    if gate is None or not gate.opens(text):
        return
    for name, shape in _shapes_for(kind, first).items():
        found = shape.match(text)
        if found is not None:
            yield name, found


@cache
def _shapes_for(kind: str, first: str) -> dict[str, re.Pattern[str]]:
    """Return the patterns that can begin with this word; few begin with "I" or "it"."""
    shapes = _shapes(kind)
    if first in _SPEAKERS:
        return {name: shape for name, shape in shapes.items() if "(?:i|we)" in shape.pattern or "^we " in shape.pattern}
    return {} if first in _POINTING and kind != "decision" else shapes


def _first(text: str) -> str:
    """Return the first word if it limits the possible patterns, else ""."""
    word = text.split(" ", 1)[0].lower()
    return word if word in _SPEAKERS or word in _POINTING else ""


def _directive(text: str) -> str:
    """Strip courtesies and "always" from a directive; "never" stays."""
    for _ in range(_STEPS_MAX):
        shorter = expression("checks", "polite").sub("", text).strip(" ,.!")
        if shorter == text:
            break
        text = shorter
    return _NOT_EVER.sub("never ", text)


def _axis(text: str) -> str | None:
    """Return the topic of an instruction of which only one can hold: the language, the length."""
    shapes = _shapes("axis")
    found = shapes["language"].search(text)
    if found is not None and lexicon().category(found["value"]) == "spoken_language":
        return "language"
    return "length" if shapes["length"].search(text) else None


def _instruction(text: str, clause: Clause) -> Reading | None:
    for name, found in _fitting("instruction", text):
        if name == "call_me":
            return _name(found, clause)
        axis = _axis(text)
        return Reading(
            type=MemoryType.PREFERENCE,
            entity="user",
            attribute="instruction",
            value=_directive(text),
            scope=clause.scope or axis,
            cardinality=Cardinality.SINGLE if axis else Cardinality.SET,
            confidence=0.85,
            importance=0.85,
            move=clause.move,
            durable=True,
            pattern=f"instruction_{name}",
        )
    return None


def _scoped(text: str, scope: str | None, clause: Clause) -> Reading:
    """Parse a scoped instruction, which counts as lasting: "for long reports, use formal language"."""
    return Reading(
        type=MemoryType.PREFERENCE,
        entity="user",
        attribute="instruction",
        value=_directive(text),
        scope=scope,
        cardinality=Cardinality.SET,
        confidence=0.85,
        importance=0.85,
        move=clause.move,
        durable=True,
        pattern="instruction_scoped",
    )


def _name(found: re.Match[str], clause: Clause) -> Reading:
    return Reading(
        type=MemoryType.PREFERENCE,
        entity="user",
        attribute="preferred_name",
        value=found["value"].strip(" .!"),
        prior=found["prior"],
        confidence=0.85,
        importance=0.85,
        move=clause.move,
        durable=True,
        pattern="instruction_call_me",
    )


def _procedure(text: str, clause: Clause, *, to_assistant: bool, own: bool) -> Reading | None:
    for name, found in _fitting("procedure", text):
        if name == _ORDER and not to_assistant:
            continue
        goal = found.groupdict().get("goal")
        if to_assistant and own and _governs(text):
            return replace(_scoped(text, clause.scope, clause), type=MemoryType.PROCEDURE, pattern=f"procedure_{name}")
        return Reading(
            type=MemoryType.PROCEDURE,
            entity="user" if goal else None,
            attribute=normalise_attribute(goal) if goal else None,
            value=found["value"].strip(" .!") if goal else None,
            scope=clause.scope,
            confidence=0.8,
            importance=0.7,
            move=clause.move,
            durable=True,
            pattern=f"procedure_{name}",
        )
    return None


def _governs(text: str) -> bool:
    """Return whether an order with "always" or "never" is one that an assistant follows."""
    shapes = _shapes("governing")
    found = shapes["order"].match(text)
    if found is None:
        return False
    first = lexicon().forms.get(found["value"].split(" ", 1)[0].lower())
    ordered = first is not None and "base" in first.kinds and shapes["agreed"].match(found["value"]) is not None
    return ordered or shapes["work"].match(found["value"]) is not None


def _joined(text: str, clause: Clause) -> Reading | None:
    """Parse an order and another that makes it last: "keep diffs small and never touch the migrations unasked".

    Of an order about the text at hand only the other one lasts: "run the tests and never skip one".
    """
    first, *others = _shapes("governing")["joint"].split(text)
    form = lexicon().forms.get(first.split(" ", 1)[0].lower())
    orders = form is not None and "base" in form.kinds and first.count(" ") >= 1
    lasting = [one for one in others if _governs(one) or _instruction(one, clause) is not None]
    if not orders or not lasting:
        return None
    at_hand = _shapes("governing")["at_hand"].match(first) is not None
    return _scoped(", ".join(lasting) if at_hand else text, clause.scope, clause)


def _decision(text: str, clause: Clause) -> Reading | None:
    for name, found in _fitting("decision", text):
        value = clean_value(found["value"], [])
        take_scope(value)
        category = lexicon().category(value.text)
        if not is_free(value):
            return None
        if name == "let_us" and category is None and not expression("checks", "choosing").match(text):
            return None
        return Reading(
            type=MemoryType.DECISION,
            entity="user" if category else None,
            attribute=category,
            value=value.text if category else None,
            prior=value.prior,
            scope=value.scope or clause.scope,
            cardinality=lexicon().cardinality(category) if category else Cardinality.SINGLE,
            confidence=0.8,
            importance=0.8,
            move=clause.move,
            pattern=f"decision_{name}",
        )
    return None


def read_directive(clause: Clause, *, to_assistant: bool, own: bool = True) -> Reading | None:
    """Parse a whole sentence as an instruction, a procedure or a decision; None for any other.

    `to_assistant`: the user speaks; directives among others are no instructions. `own`: in the user's own words; a
    procedure of a document governs nothing.
    """
    text = _PLEASE.sub("", clause.text)
    if expression("instructions", "pleasantry", "match").match(text):
        return None
    found = _instruction(text, clause) if to_assistant else None
    found = found or (_joined(text, clause) if to_assistant else None)
    found = found or _procedure(text, clause, to_assistant=to_assistant, own=own)
    scope, rest = leading_scope(text)
    if found is None and scope is not None and to_assistant and _shapes("scoped")["address"].match(rest):
        found = _scoped(rest, scope, clause)
    if found is not None and expression("instructions", "here", "match").search(text):
        return None
    return found or _decision(text, clause) or (_lasting(text, clause) if to_assistant else None)


def _lasting(text: str, clause: Clause) -> Reading | None:
    """Parse any directive that applies from now on, or to a kind of case."""
    told = occurs(load_table("instructions")["lasting"]["has"], text.lower())
    if not told or not expression("instructions", "lasting", "match").search(text):
        return None
    order = _directive(text)
    words = order.lower().removeprefix("do not ").removeprefix("never ").split(" ")
    table = load_table("instructions")["lasting"]
    form = lexicon().forms.get(words[0])
    known = (form is not None and "base" in form.kinds) or words[0] in table["verbs"]
    ordered = known and len(words) > _ORDER_WORDS_MIN and words[0] not in table["statements"]
    if not ordered or expression("instructions", "here", "match").search(text):
        return None
    return _scoped(text, clause.scope, clause)
