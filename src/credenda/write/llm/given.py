"""Check the statement and the key that a proposal gives its claim: neither says anything beyond it. Pure.

Each content word must stand in the quoted sentences, in the slot or among the phrases that ask for it, in a known name,
or in a date that the sentences name. A statement names the value, and it denies if the claim does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from enum import StrEnum
from typing import Final

from credenda.model.attributes import load_asked
from credenda.model.claim import Claim, UpdateKind
from credenda.model.memory import Memory, Stance
from credenda.text.dates import DateSpan, find_dates
from credenda.text.normalize import normalise_attribute
from credenda.text.tokens import tokenize
from credenda.write.llm.words import Said, says

_INSTRUCTION: Final = "instruction"
_DENIAL: Final = re.compile(
    r"\b(?:no|not|never|without|cannot|nor|neither|nicht|kein\w*|nie|pas|jamais|nunca|n\u00e3o|\w+n['\u2019]?t)\b",
    re.IGNORECASE,
)
_SMALL: Final = frozenset({"user", "longer", "any", "person", "speaker"})
"""Words of statements that add nothing: "the user no longer …"."""


class Excess(StrEnum):
    """Why a statement or a key is not kept; the claim itself stands."""

    WORDS = "the statement says more than the quoted words, so that a made one is shown"
    VALUE = "the statement does not name the value, so that a made one is shown"
    DENIAL = "the statement denies what the claim does not, or the other way round, so that a made one is shown"
    ORDER = "an instruction is shown by its own words"
    KEY = "the key says more than the quoted words, so that the attribute is shown"


def add_given(said: Said, claim: Claim, known: Iterable[Memory]) -> tuple[Claim, Excess | None]:
    """Add the statement and the key of a proposal to its claim where they fit, and say why one does not."""
    statement, key = said.proposal.statement or "", said.proposal.key or ""
    if not (statement or key):
        return claim, None
    fault = Excess.ORDER if claim.attribute == _INSTRUCTION else None
    allowed = set(_list_words(said, claim, known))
    if fault is None and statement:
        fault = _find_excess(said, claim, statement, allowed)
    kept = "" if fault else statement
    if key and (claim.attribute is None or not allowed.issuperset(tokenize(key))):
        key, fault = "", fault or Excess.KEY
    return replace(claim, statement=kept, key=key), fault


def _find_excess(said: Said, claim: Claim, statement: str, allowed: set[str]) -> Excess | None:
    # Cut the dates out of a statement that its sentences name too, or on which these were said.
    event = said.turn.event
    found = find_dates("today", event.occurred_us)
    named = [
        ((found[0].from_us, found[0].until_us) if found else (None, event.occurred_us)),
        *((one.from_us, one.until_us) for one in find_dates(said.sentence, event.occurred_us)),
    ]
    left = statement
    for one in reversed(find_dates(statement, event.occurred_us)):
        if any(_is_within(one, bounds) for bounds in named):
            left = f"{left[: one.start]} {left[one.stop :]}"
    if not allowed.issuperset(tokenize(_DENIAL.sub(" ", left))):
        return Excess.WORDS
    value = claim.value or ""
    if value and not (says(statement, value) or set(tokenize(value)) <= set(tokenize(statement))):
        return Excess.VALUE
    ends = claim.stance is Stance.NEGATED or claim.move is UpdateKind.END
    denied = _DENIAL.search(statement) is not None
    told = _DENIAL.search(f"{said.sentence} {value}") is not None
    return Excess.DENIAL if (ends and not denied) or (denied and not (ends or told)) else None


def _list_words(said: Said, claim: Claim, known: Iterable[Memory]) -> Iterator[str]:
    """Yield the terms that a statement of a claim may have."""
    attribute = normalise_attribute(claim.attribute or "")
    slot = (claim.entity, attribute.replace("_", " "), claim.value, claim.scope)
    phrases = load_asked().get(attribute, ())
    names = (name for one in known for name in _list_names(one))
    for text in (said.sentence, said.question, said.owner, claim.speaker, *slot, *phrases, *names):
        yield from tokenize(text or "")
    yield from _SMALL


def _list_names(memory: Memory) -> Iterator[str]:
    """Yield whom a memory names: its speaker, its entity, and the words of its value that have a capital letter."""
    yield from (memory.speaker, memory.entity or "")
    yield from (word for word in (memory.value or "").split() if word[0].isupper())


def _is_within(one: DateSpan, other: tuple[int | None, int | None]) -> bool:
    """Return whether two times begin or end together, or the first holds the second: a month its day."""
    begin, end = other
    if one.from_us is not None and one.from_us == begin:
        return True
    if one.from_us is None or one.until_us is None:
        return one.until_us is not None and one.until_us == end
    return begin is not None and end is not None and one.from_us <= begin and end <= one.until_us
