"""Keys of facts: an adjective or a verb alone names no slot. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from credenda.model.attributes import load_asked
from credenda.model.claim import SPEAKER, Fact
from credenda.write.extract.voices import lexicon

_ADJECTIVES: Final = frozenset(
    "new current present old former previous latest recent last next first second main best usual other own personal"  # noqa: SIM905
    " weekly daily monthly yearly max average regular favourite favorite".split()
)
_IS: Final = r"(?= (?:is|are|was|were|moved|went|has|have|at|on)\b|'s\b|\s?[:=])"
"""What stands behind the noun that an adjective belongs to."""
_VERBAL: Final = r"(?:^|[,;.] ?|\b(?:i|we|to|and|you|they)\b(?: (?:\w+ly|now|still|always|just|only))?) ?"
"""What stands before a verb and before no noun."""
_ACTED: Final = frozenset({"tool", "device", "measure", "date", "deadline", "amount", "contact"})
"""Attributes whose values are no times at which somebody does something: "we meet on Mondays"."""


def mend_keys(text: str, facts: Iterable[Fact]) -> Iterator[Fact]:
    """Yield facts with the noun behind an adjective as their key, and with what a question by their verb asks for."""
    for one in facts:
        key = one.key.casefold().strip()
        if key in _ADJECTIVES and one.subject == SPEAKER:
            noun = _find_noun(text, one, key)
            noun = "" if noun.casefold() in _ADJECTIVES else noun  # "my personal best"
            old = "" if noun.casefold() == one.old.casefold() else one.old
            yield replace(one, key=noun, old=old)
        elif key and one.attribute in _ACTED and _is_verb(text, one, key):
            amount = one.attribute in {"measure", "amount"}
            named = [name for name, phrases in load_asked().items() if key in phrases] if amount else []
            if named or one.attribute != "measure":
                yield replace(one, key=named[0] if len(named) == 1 else "")
        elif key or one.attribute != "favourite" or not one.value.text[:1].isdigit():  # "my best is 22:10"
            yield one


def _find_noun(text: str, fact: Fact, key: str) -> str:
    """Return the noun that follows an adjective before a value: "10k" of "my current 10k is 54:30"."""
    before = text[max(fact.quote.start, 0) : max(fact.value.start, 0)]
    found = re.search(rf"\b{re.escape(key)} (?P<noun>[\w-]+(?: [\w-]+)??){_IS}", before, re.IGNORECASE)
    return found["noun"] if found else ""


def _is_verb(text: str, fact: Fact, key: str) -> bool:
    """Return whether a key is the verb of its sentence: "weigh" of "weigh 82kg", but not of "my order is 42"."""
    if lexicon().verbs.get(key) != key:
        return False
    sentence = text[max(fact.quote.start, 0) : fact.quote.stop]
    return re.search(rf"{_VERBAL}{re.escape(key)}\b", sentence, re.IGNORECASE) is not None
