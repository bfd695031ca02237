"""Whether a claim may have its slot: a valid value, and a thing whose owner the sentence names. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Final

from credenda.model.attributes import get_attribute, is_valid_value
from credenda.model.claim import Claim, UpdateKind
from credenda.model.memory import Cardinality
from credenda.text.normalize import normalise_attribute, normalise_name
from credenda.write.extract.lexicon import names
from credenda.write.reconcile.slots import get_slot

__all__ = ["admit_claim", "admit_claims", "is_unowned", "remove_slot"]

_VERBATIM_CONFIDENCE: Final = 0.5
_CACHED: Final = 1_024
_POSSESSIVE: Final = (
    r"(?:my|our|your|his|her|their|mein\w{0,2}|unser\w{0,2}|mon|ma|mes|notre|nos|mi|mis|nuestr[oa]s?|meus?|minhas?|noss[oa]s?"
    r"|[\w.-]+['’]s|[\w.-]+s['’])"
)
_DEFINITE: Final = r"(?:the|this|that|these|those|der|die|das|le|la|les|el|los|las|o|os|as)"
_BETWEEN: Final = r"\s+(?:[\w'’-]+\s+){0,3}"
_SPEAKER: Final = re.compile(r"\b(?:i|we|ich|wir|je|nous|yo|nosotros|eu|nós)\b")
_ORDINAL: Final = re.compile(r"(?:first|second|third|fourth|fifth|final|last|next)\s+\w")
"""One of several things in order: "the first sprint"."""
_OWNER_WORD: Final = r"\s+(?:of|for|at|with|von|für|de|du|des|da|do|para|pour)\s+\S"


def admit_claim(claim: Claim) -> Claim | None:
    """Return a claim as reconciliation may use it; None if a wrong value in its slot could hurt.

    A value that its attribute cannot have makes no claim about the slot: the sentence stays as a memory without one.
    A thing without an owner opens no slot across sentences, so its values stand side by side.
    """
    if get_slot(claim) is None or claim.move in {UpdateKind.RETRACT, UpdateKind.END} or claim.provisional:
        return claim
    attribute, value = claim.attribute or "", claim.value or ""
    if not is_valid_value(attribute, value):
        return None if get_attribute(attribute).hurts else remove_slot(claim)
    told = claim.completed or claim.text
    if claim.cardinality is Cardinality.SINGLE and is_unowned(claim.entity or "", attribute, claim.speaker, told):
        return replace(claim, cardinality=Cardinality.SET)
    return claim


def admit_claims(claims: Sequence[Claim]) -> list[tuple[Claim, Claim]]:
    """Return each claim that may be decided, as extracted and as reconciliation may use it.

    A sentence whose other claim keeps its slot needs no memory without one.
    """
    pairs = [(claim, admitted) for claim in claims if (admitted := admit_claim(claim)) is not None]
    placed = [admitted.span for _, admitted in pairs if get_slot(admitted) is not None]
    return [
        (claim, admitted)
        for claim, admitted in pairs
        if get_slot(claim) is None or get_slot(admitted) is not None or admitted.span not in placed
    ]


def remove_slot(claim: Claim) -> Claim:
    """Return a claim that only states its sentence."""
    return replace(
        claim,
        entity=None,
        attribute=None,
        value=None,
        prior=None,
        scope=None,
        move=UpdateKind.STATE,
        cardinality=Cardinality.SINGLE,
        confidence=min(claim.confidence, _VERBATIM_CONFIDENCE),
    )


def is_unowned(entity: str, attribute: str, speaker: str, text: str) -> bool:
    """Return whether a sentence names a thing without an owner, such as "the meeting" or "the reference number".

    >>> is_unowned("meeting", "date", "user", "The meeting is on Monday.")
    True
    >>> is_unowned("meeting", "date", "user", "Our meeting is on Monday.")
    False
    >>> is_unowned("user", "deadline", "user", "The deadline is 1 July.")
    True
    >>> is_unowned("grant", "deadline", "user", "The deadline for the grant is 1 May.")
    False
    """
    key = normalise_name(entity)
    of_speaker = key in {"user", normalise_name(speaker)}
    if not of_speaker and _is_owner(entity, key, text):
        return False
    lower, nouns = text.casefold(), _list_nouns(attribute)
    if of_speaker:
        return any(_is_definite(noun, lower) for noun in nouns)
    if _find_owned(key).search(lower) is not None:
        return False
    return not any(_find_joined(noun, key).search(lower) is not None for noun in nouns)


def _is_definite(noun: str, lower: str) -> bool:
    """Return whether a sentence names a noun by its article alone, without an owner and without the speaker."""
    found = _find_definite(noun).search(lower)
    if found is None or _SPEAKER.search(lower[: found.start()]) is not None:
        return False
    return re.match(_OWNER_WORD, lower[found.end() :]) is None and _find_owned(noun).search(lower) is None


def _is_owner(entity: str, key: str, text: str) -> bool:
    """Return whether an entity identifies itself: a person, a relative, a named thing, or an owned thing."""
    if "'s " in key or names().kin_noun(key.rpartition(" ")[2]) is not None or _ORDINAL.match(key) is not None:
        return True
    common = " " not in key and re.search(rf"\b(?:der|die|das) {re.escape(key)}\b", text.casefold()) is not None
    return not common and any(word[:1].isupper() or word[:1].isdigit() for word in entity.split())


@lru_cache(maxsize=_CACHED)
def _list_nouns(attribute: str) -> tuple[str, ...]:
    schema = get_attribute(attribute)
    return tuple(dict.fromkeys([normalise_attribute(attribute).replace("_", " "), *schema.words]))


@lru_cache(maxsize=_CACHED)
def _find_definite(noun: str) -> re.Pattern[str]:
    return re.compile(rf"\b{_DEFINITE}{_BETWEEN}{re.escape(noun)}\b")


@lru_cache(maxsize=_CACHED)
def _find_owned(noun: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-]){_POSSESSIVE}{_BETWEEN}{re.escape(noun)}\b|\b{re.escape(noun)}{_OWNER_WORD}")


@lru_cache(maxsize=_CACHED)
def _find_joined(noun: str, owner: str) -> re.Pattern[str]:
    """Find a noun joined to its owner: "the deadline for the grant", "the grant deadline", "the grant's deadline"."""
    first, second = re.escape(noun), re.escape(owner)
    return re.compile(rf"\b{first}{_OWNER_WORD[:-2]}(?:[\w-]+\s+){{0,2}}{second}\b|\b{second}(?:['’]s)?\s+{first}\b")
