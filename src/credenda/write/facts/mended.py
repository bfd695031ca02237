"""Mend what a reader binds to the wrong words, before facts become claims. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from credenda.model.claim import Fact, FactStatus, Turn
from credenda.write.extract.voices import names

_WORD: Final = re.compile(r"[\w-]+")
_OF_BIRTH: Final = re.compile(r"birth|b-?day|\bborn\b|\bturn(?:s|ed|ing)?\b", re.IGNORECASE)
_NOT_YET: Final = ("until ", "till ")


def name_ended(facts: Sequence[Fact]) -> list[Fact]:
    """Give what ended the attribute of what takes its place: "I left Acme, I start at Halden on Monday".

    What goes on until a day has not ended, and is left out: "Tim is away until Friday".
    """
    next_of = {one.old.casefold(): one for one in facts if one.old and one.value.start >= 0}
    named: list[Fact] = []
    for one in facts:
        after = next_of.get(one.value.text.casefold())
        if one.status is not FactStatus.ENDED or after is None:
            named.append(one)
        else:
            sure = {"certainty": after.certainty, "attribute_certainty": after.attribute_certainty}
            named.append(replace(one, attribute=after.attribute, **sure))
    return [one for one in named if one.status is not FactStatus.ENDED or not one.when.lower().startswith(_NOT_YET)]


def find_kin(fact: Fact) -> str | None:
    """Return the noun of a relative or pet at a value: the last one before it in its words, else the next one.

    Of several side by side the first: "our baby boy Emil".
    """
    at = max(fact.value.start - fact.quote.start, 0)
    quote = fact.quote.text if fact.value.start >= 0 else ""
    before = [names().kin_noun(word) for word in _WORD.findall(quote[:at])]
    last = next((place for place in range(len(before) - 1, -1, -1) if before[place]), -1)
    while last > 0 and before[last - 1]:
        last -= 1
    after = (names().kin_noun(word) for word in _WORD.findall(f"{quote[at:]} {fact.key}"))
    return before[last] if last >= 0 else next(filter(None, after), None)


def has_words_of_birth(turn: Turn) -> bool:
    """Return whether a message, or the one before it, speaks of a birth: "1 June" alone may be any day."""
    return any(_OF_BIRTH.search(one.text) for one in (*turn.before[-1:], turn.event))
