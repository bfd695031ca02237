"""Mend what a reader binds to the wrong words, before facts become claims. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from credenda.model.claim import Fact, FactChange, FactStatus, Turn, Words
from credenda.write.extract.voices import names

_WORD: Final = re.compile(r"[\w-]+")
_OF_BIRTH: Final = re.compile(r"birth|b-?day|\bborn\b|\bturn(?:s|ed|ing)?\b", re.IGNORECASE)
_STANDING: Final = re.compile(r"\b(?:always|never|from now on)\b", re.IGNORECASE)
_LEFT: Final = r"\b(?:I|we)(?:'ve| have)? (?:just |finally )?(?:left|quit|resigned from) (?:the |my )?"
_BARE: Final = re.compile(r"(?:in|on|at|during|after|before|by)", re.IGNORECASE)
"""A scope that lacks its noun, which the reader took for the value: "tea in the morning"."""
_NO_LIKING: Final = re.compile(
    r"(?:n't|\bnot|\bnever|\bno longer)(?: \w+ly| even| much)? (?:lik|lov|enjoy|ador)\w*", re.IGNORECASE
)
_SURE: Final = 0.5
_NOT_YET: Final = ("until ", "till ")


def mend_facts(facts: Sequence[Fact], text: str) -> list[Fact]:
    """Mend the facts of a message: torn orders, ends that have not come, ends without a slot, and times preferred."""
    told = [one for one in facts if one.attribute != "prefers" or _BARE.fullmatch(one.scope) is None]
    return _name_ended(_join_orders([_read_dislike(one) for one in told], text), text)


def is_lasting_order(fact: Fact) -> bool:
    """Return whether an order says itself that it holds from now on."""
    return fact.attribute == "instruction" and _STANDING.search(fact.value.text) is not None


def _read_dislike(fact: Fact) -> Fact:
    """Let a denied liking be a dislike, and no denial of one: "I don't like my job any more".

    Where the reader is not sure that it is a dislike, an end is left to end whatever slot holds the value.
    """
    over = fact.attribute == "dislikes" and fact.status in {FactStatus.ENDED, FactStatus.DENIED}
    sure = over and fact.attribute_certainty >= _SURE
    if not sure or _NO_LIKING.search(fact.quote.text.replace("\u2019", "'")) is None:
        return fact
    return replace(fact, status=FactStatus.NOW, change=FactChange.NONE)


def _join_orders(facts: Sequence[Fact], text: str) -> list[Fact]:
    """Join the parts of an order between which nothing stands: "always" and "use grams"."""
    joined: list[Fact] = []
    for one in facts:
        last = joined[-1].value if joined and joined[-1].attribute == one.attribute == "instruction" else None
        if last is not None and last.start >= 0 and text[last.stop : max(one.value.start, 0)] == " ":
            start, stop = last.start, one.value.stop
            joined.pop()
            joined.append(replace(one, value=Words(text[start:stop], start, stop)))
        else:
            joined.append(one)
    return joined


def _name_ended(facts: Sequence[Fact], text: str) -> list[Fact]:
    """Give an end the attribute of the value that takes its place: "I left Acme, I start at Halden on Monday".

    A thing that goes on until a day has not ended, and is left out: "Tim is away until Friday".
    """
    next_of = {one.old.casefold(): one for one in facts if one.old and one.value.start >= 0}
    named = [end for one in next_of.values() if (end := _find_left(one, facts, text)) is not None]
    for one in facts:
        after = next_of.get(one.value.text.casefold())
        if one.status is not FactStatus.ENDED or after is None:
            named.append(one)
        else:
            sure = {"certainty": after.certainty, "attribute_certainty": after.attribute_certainty}
            named.append(replace(one, attribute=after.attribute, **sure))
    return [one for one in named if one.status is not FactStatus.ENDED or not one.when.lower().startswith(_NOT_YET)]


def _find_left(after: Fact, facts: Sequence[Fact], text: str) -> Fact | None:
    """Return the end of a value that was left before the next one begins, where no fact of its own tells it."""
    found = re.search(rf"{_LEFT}{re.escape(after.old)}\b", text) if after.status is FactStatus.PLANNED else None
    if found is None or any(one.value.text.casefold() == after.old.casefold() for one in facts):
        return None
    start = found.end() - len(after.old)
    old = Words(after.old, start, found.end())
    return replace(after, value=old, old="", when="", status=FactStatus.ENDED, change=FactChange.NONE)


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
