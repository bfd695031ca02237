"""Where a claim belongs that names a value but not its slot: "I sold the Golf", "it's Split, not Zagreb".

The memory that holds the value says which slot is meant. Only an exact value decides, or for an ending the one memory
whose value has all its words; where two slots hold it, or none, the claim stays as it was read.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from credenda.model.claim import Claim, UpdateKind
from credenda.model.memory import Cardinality, Memory, Status
from credenda.storage.store import Reader
from credenda.text.normalize import is_same_value, normalise_name
from credenda.write.extract.lexicon import lexicon
from credenda.write.reconcile.slots import ASSERTIVE_STANCES, BY_BIRTH, get_slot, is_denial
from credenda.write.reconcile.wording import find_number, has_other_number, is_number, replace_number, split_value
from credenda.write.related import related

__all__ = ["has_no_slot", "is_bare_value", "keep_verbatim", "resolve_from_previous", "resolve_slot"]

_NOMINATED: Final = 64
_VERBATIM_CONFIDENCE: Final = 0.5
_NEVER_ENDED: Final = frozenset(
    ["event", "likes", "dislikes", "considering", "plan", "wish", "instruction", "experience", "milestone", "education"]
)
"""Slots whose values do not end because a thing is sold or given up: what happened, what is liked, what is planned."""


def has_no_slot(claim: Claim) -> bool:
    """Say whether a claim ends a value, or gives a number, without a slot: it says nothing of its own."""
    return get_slot(claim) is None and (claim.move is UpdateKind.END or is_bare_value(claim))


def is_bare_value(claim: Claim) -> bool:
    """Say whether a claim gives a new number or day for something that it does not name: "make that 15"."""
    unnamed = claim.entity is None and claim.attribute is None and claim.prior is None
    return unnamed and claim.value is not None and claim.move in {UpdateKind.CHANGE, UpdateKind.CORRECT}


def keep_verbatim(claim: Claim) -> Claim:
    """Keep the words of an ending of which nothing was known before: "I sold the boat" tells that there was one."""
    return replace(
        claim,
        entity=None,
        attribute=None,
        value=None,
        prior=None,
        move=UpdateKind.STATE,
        cardinality=Cardinality.SINGLE,
        confidence=min(claim.confidence, _VERBATIM_CONFIDENCE),
    )


def resolve_from_previous(claim: Claim, previous: Iterable[Memory]) -> Claim:
    """Give a bare value the slot of the one value of its kind in the statement before it; itself without one."""
    held = [
        one
        for one in previous
        if one.status is Status.ACTIVE and one.stance in ASSERTIVE_STANCES and get_slot(one) is not None
    ]
    if claim.value and find_number(claim.value) is None:
        named = [one for one in _filter_replaceable(held) if _is_same_kind(one.value or "", claim.value)]
        return replace(_move_to_slot(named, claim), prior=named[0].value) if len(held) == len(named) == 1 else claim
    numbered = [one for one in held if find_number(one.value or "") is not None]
    if len(numbered) != 1 or not claim.value:
        return claim
    return replace(_move_to_slot(numbered, claim), value=replace_number(numbered[0].value or "", claim.value))


def _is_same_kind(one: str, other: str) -> bool:
    """Say whether two values could answer the same question: both are names, or things of one category."""
    if all(is_number(value.lower().removeprefix("at ")) for value in (one, other)):
        return True
    kinds = {lexicon().category(one), lexicon().category(other)}
    named = all(value.rpartition(" ")[2][:1].isupper() for value in (one, other))
    return named if None in kinds else len(kinds) == 1


def resolve_slot(reader: Reader, claim: Claim) -> Claim:
    """Give the claim the slot of the memory that its words are about; the claim itself where there is none."""
    if claim.move is UpdateKind.END:
        return _resolve_ending(reader, claim)
    if claim.move in {UpdateKind.CORRECT, UpdateKind.CHANGE} and claim.prior:
        held = [one for one in _find_mentions(reader, claim, claim.prior) if is_same_value(one.value, claim.prior)]
        here = get_slot(claim)
        known = _filter_replaceable(held) if claim.move is UpdateKind.CHANGE else held
        if any(here is not None and get_slot(one) == here for one in held):
            return claim
        return _move_to_slot(known, claim) if known else _resolve_wider(reader, claim)
    if claim.move is UpdateKind.CHANGE and claim.entity is not None and claim.value:
        if claim.attribute is None:
            return _resolve_recount(reader, claim, claim.value)
        if normalise_name(claim.entity) == normalise_name(claim.speaker) and find_number(claim.value):
            return _resolve_version(reader, claim, claim.value)
    return claim


def _resolve_recount(reader: Reader, claim: Claim, value: str) -> Claim:
    """Find the one memory that counts the same: "one coffee a day" takes the place of "three coffees a day"."""
    held = [one for one in _find_mentions(reader, claim, value) if _may_end(one)]
    counted = [one for one in held if has_other_number(value, one.value or "")]
    found = _move_to_slot(counted, claim)
    return found if found is claim else replace(found, prior=counted[0].value)


def _resolve_version(reader: Reader, claim: Claim, value: str) -> Claim:
    """Find the one memory of another version, if its slot has another name: "a Pixel 6" was kept as the phone."""
    here = get_slot(claim)
    held = [
        one
        for one in _find_mentions(reader, claim, value)
        if _may_end(one) and has_other_number(value, one.value or "")
    ]
    return claim if any(get_slot(one) == here for one in held) else _move_to_slot(held, claim)


def _resolve_wider(reader: Reader, claim: Claim) -> Claim:
    """Find the one memory whose value has all words of what is replaced: "my Samsung" is the "Samsung phone"."""
    words = set(split_value(claim.prior or ""))
    held = [one for one in _find_mentions(reader, claim, claim.prior or "") if _may_be_replaced(one)]
    wider = [
        one for one in held if claim.move is UpdateKind.CHANGE and words and words <= set(split_value(one.value or ""))
    ]
    found = _move_to_slot(wider, claim)
    return found if found is claim else replace(found, prior=wider[0].value)


def _resolve_ending(reader: Reader, claim: Claim) -> Claim:
    """Find what ends; the slot that was read is right where it holds the value."""
    if not claim.value:
        return claim
    held = [one for one in _find_mentions(reader, claim, claim.value) if _may_end(one)]
    here = get_slot(claim)
    exact = [one for one in held if is_same_value(one.value, claim.value)]
    if any(here is not None and get_slot(one) == here for one in exact):
        return claim
    if exact:
        return _move_to_slot(exact, claim)
    wider = [one for one in held if set(split_value(claim.value)) <= set(split_value(one.value or ""))]
    found = _move_to_slot(wider, claim)
    return found if found is claim else replace(found, value=wider[0].value)


def _may_end(memory: Memory) -> bool:
    name = memory.attribute or ""
    return name not in _NEVER_ENDED and not name.startswith(("former_", "favourite_"))


def _may_be_replaced(memory: Memory) -> bool:
    """Say whether something else can take the place of a value: nobody becomes a brother in another's place."""
    return _may_end(memory) and (memory.attribute or "") not in BY_BIRTH


def _filter_replaceable(held: list[Memory]) -> list[Memory]:
    """Choose what something else takes the place of; a favourite only where nothing else has that value."""
    favourites = [one for one in held if (one.attribute or "").startswith("favourite_")]
    return [one for one in held if _may_be_replaced(one)] or favourites


def _find_mentions(reader: Reader, claim: Claim, value: str) -> list[Memory]:
    """Give the active memories about the speaker that mention a value, found by its words."""
    speaker = normalise_name(claim.speaker)
    return [
        one
        for one in related(reader, split_value(value), _NOMINATED)
        if one.status is Status.ACTIVE
        and one.stance in ASSERTIVE_STANCES
        and not is_denial(one)
        and normalise_name(one.speaker) == speaker
        and get_slot(one) is not None
        and _is_about_same(claim, one)
    ]


def _is_about_same(claim: Claim, memory: Memory) -> bool:
    """Say whether a memory is about somebody whom the claim can mean: "I left Shell" is not about one's sister.

    Nor is what one's sister left about oneself, unless the memory names her.
    """
    from credenda.write.succession.old import old_of, others_words  # noqa: PLC0415 - loads the reader, which a search does without
    from credenda.write.succession.words import phrase  # noqa: PLC0415 - as above

    old = old_of(memory)
    named = normalise_name(claim.entity or "") == normalise_name(memory.entity or "")
    others = others_words(claim.entity, claim.attribute, claim.speaker)
    if others and not named and others.isdisjoint(old.said.terms):
        return False
    return not old.person or named or not old.owner.isdisjoint(phrase(claim.text).terms)


def _move_to_slot(held: Iterable[Memory], claim: Claim) -> Claim:
    found = {get_slot(one): one for one in held}
    if len(found) != 1:
        return claim
    (memory,) = found.values()
    return replace(
        claim,
        entity=memory.entity,
        attribute=memory.attribute,
        scope=memory.scope,
        type=memory.type,
        cardinality=memory.cardinality,
    )
