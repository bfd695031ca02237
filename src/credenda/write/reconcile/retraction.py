"""The statement that a retraction takes back. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from credenda.model.attributes import is_valid_value
from credenda.model.claim import Claim, UpdateKind
from credenda.model.memory import Memory

__all__ = ["is_about_kind"]

_KIND: Final = re.compile(
    r"\b(?:that|this|the|my)(?: last)?(?: \w+)? (?P<kind>number|date|time|address|name|price|amount|figure|code|pin"
    r"|email|e-mail|phone)\b",
    re.IGNORECASE,
)
_NUMBER: Final = re.compile(r"\d")
_VALUED: Final = {"date": "date", "time": "date", "price": "budget", "amount": "budget", "figure": "budget"}
"""The attribute whose values are of a kind."""
_HAS_KIND: Final[Mapping[str, Callable[[str], bool]]] = {
    "email": lambda words: "@" in words,
    "e-mail": lambda words: "@" in words,
    "address": lambda words: "@" in words or _NUMBER.search(words) is not None,
    "name": lambda words: re.search(r"\b[A-Z]", words) is not None,
}
"""Whether the words of a memory hold a value of a kind; the other kinds need a digit."""


def is_about_kind(claim: Claim, memories: Iterable[Memory]) -> bool:
    """Return whether a claim refers to a statement with these memories: any, unless a retraction names another kind.

    "Forget that number" is not about "My sister lives in Graz".
    """
    named = _KIND.search(claim.text) if claim.move is UpdateKind.RETRACT else None
    if named is None:
        return True
    kind = named["kind"].lower()
    return any(_has_kind(kind, memory.value or memory.text) for memory in memories)


def _has_kind(kind: str, words: str) -> bool:
    if kind in _VALUED:
        return is_valid_value(_VALUED[kind], words)
    found = _HAS_KIND.get(kind)
    return _NUMBER.search(words) is not None if found is None else found(words)
