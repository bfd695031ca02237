"""The statement that a retraction takes back. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from credenda.model.attributes import is_valid_value
from credenda.model.claim import Claim, UpdateKind
from credenda.model.memory import Cardinality, Memory, Status
from credenda.text.normalize import is_same_value, normalise_attribute, normalise_name, normalise_value

__all__ = ["choose_named", "is_about_kind"]

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


def choose_named(claim: Claim, found: Iterable[Memory]) -> list[Memory]:
    """Choose the memories that a retraction names: a slot ("my phone number"), a value, or all of somebody.

    None, where it does not say which of several values or people it means: nothing more than it says is forgotten.
    """
    named = normalise_name(claim.entity or "")
    if claim.attribute:
        slot = [one for one in found if normalise_name(one.entity or "") == named]
        if claim.value is not None:
            return [one for one in slot if is_same_value(one.value, claim.value)]
        held = {normalise_value(one.value or "") for one in slot if one.status is not Status.SUPERSEDED}
        return slot if len(held) == 1 or claim.cardinality is Cardinality.SET else []
    kept = [one for one in found if _is_about(one, named)]
    owners = {owner for one in kept if (owner := normalise_name(one.entity or "")).endswith(f" {named}")}
    return kept if len(owners) <= 1 else []


def _is_about(memory: Memory, named: str) -> bool:
    owner = normalise_name(memory.entity or "")
    if owner == named or owner.endswith(f" {named}") or owner.startswith((f"{named} ", f"{named}'s ")):
        return True
    of_owner, _, noun = named.rpartition("'s ")
    slot = (owner, normalise_attribute(memory.attribute or "")) == (of_owner, normalise_attribute(noun))
    return slot or is_same_value(memory.value, named)


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
