"""Find the slot of a claim that names only a value: "I sold the Golf", "it's Split, not Zagreb".

The memory that holds the value determines the slot. Only an equal value counts, or for an ending the only memory whose
value contains all its words. If no slot or several slots hold the value, the claim stays unchanged.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from credenda.ids import Kind, public_id
from credenda.model.claim import Claim, Move
from credenda.model.memory import Cardinality, Memory, Status
from credenda.storage.store import Reader, unpack_code
from credenda.text.normalize import name_key, same_value
from credenda.write.extract.lexicon import lexicon
from credenda.write.reconcile.slots import BY_BIRTH, FIRM, denies, slot_of
from credenda.write.reconcile.wording import counted_anew, is_number, number_in, recounted, value_words

__all__ = ["as_told", "is_bare_amount", "is_placeless", "placed", "placed_after"]

_NOMINATED: Final = 64
_TOLD: Final = 0.5
_NEVER_ENDED: Final = frozenset(
    ["event", "likes", "dislikes", "considering", "plan", "wish", "instruction", "experience", "milestone", "education"]
)
"""Attributes whose values do not end when a thing is sold or given up: events, likes, plans."""


def is_placeless(claim: Claim) -> bool:
    """Return whether a claim ends a value or gives a number without a slot, and so states nothing alone."""
    return slot_of(claim) is None and (claim.move is Move.END or is_bare_amount(claim))


def is_bare_amount(claim: Claim) -> bool:
    """Return whether a claim gives a new number or day for an unnamed thing: "make that 15"."""
    unnamed = claim.entity is None and claim.attribute is None and claim.prior is None
    return unnamed and claim.value is not None and claim.move in {Move.CHANGE, Move.CORRECT}


def as_told(claim: Claim) -> Claim:
    """Keep an ending of an unknown value as verbatim text: "I sold the boat" implies that there was a boat."""
    return replace(
        claim,
        entity=None,
        attribute=None,
        value=None,
        prior=None,
        move=Move.STATE,
        cardinality=Cardinality.SINGLE,
        confidence=min(claim.confidence, _TOLD),
    )


def placed_after(claim: Claim, previous: Iterable[Memory]) -> Claim:
    """Move a bare value to the slot of the only value of its kind in the previous statement, if there is one."""
    held = [one for one in previous if one.status is Status.ACTIVE and one.stance in FIRM and slot_of(one) is not None]
    if claim.value and number_in(claim.value) is None:
        named = [one for one in _replaceable(held) if _of_one_kind(one.value or "", claim.value)]
        return replace(_in_slot_of(named, claim), prior=named[0].value) if len(held) == len(named) == 1 else claim
    numbered = [one for one in held if number_in(one.value or "") is not None]
    if len(numbered) != 1 or not claim.value:
        return claim
    return replace(_in_slot_of(numbered, claim), value=counted_anew(numbered[0].value or "", claim.value))


def _of_one_kind(one: str, other: str) -> bool:
    """Return whether two values could answer the same question: both are names, or things of one category."""
    if all(is_number(value.lower().removeprefix("at ")) for value in (one, other)):
        return True
    kinds = {lexicon().category(one), lexicon().category(other)}
    named = all(value.rpartition(" ")[2][:1].isupper() for value in (one, other))
    return named if None in kinds else len(kinds) == 1


def placed(reader: Reader, claim: Claim) -> Claim:
    """Move a claim to the slot of the memory that its words refer to; without one, return it unchanged."""
    if claim.move is Move.END:
        return _ending(reader, claim)
    if claim.move in {Move.CORRECT, Move.CHANGE} and claim.prior:
        held = [one for one in _mentioning(reader, claim, claim.prior) if same_value(one.value, claim.prior)]
        here = slot_of(claim)
        known = _replaceable(held) if claim.move is Move.CHANGE else held
        if any(here is not None and slot_of(one) == here for one in held):
            return claim
        return _in_slot_of(known, claim) if known else _wider(reader, claim)
    if claim.move is Move.CHANGE and claim.entity is not None and claim.value:
        if claim.attribute is None:
            return _recounting(reader, claim, claim.value)
        if name_key(claim.entity) == name_key(claim.speaker) and number_in(claim.value):
            return _another_version(reader, claim, claim.value)
    return claim


def _recounting(reader: Reader, claim: Claim, value: str) -> Claim:
    """Find the only memory that counts the same: "one coffee a day" replaces "three coffees a day"."""
    held = [one for one in _mentioning(reader, claim, value) if _may_end(one)]
    counted = [one for one in held if recounted(value, one.value or "")]
    found = _in_slot_of(counted, claim)
    return found if found is claim else replace(found, prior=counted[0].value)


def _another_version(reader: Reader, claim: Claim, value: str) -> Claim:
    """Find the only memory of another version under another attribute: "a Pixel 6" was stored as the phone."""
    here = slot_of(claim)
    held = [one for one in _mentioning(reader, claim, value) if _may_end(one) and recounted(value, one.value or "")]
    return claim if any(slot_of(one) == here for one in held) else _in_slot_of(held, claim)


def _wider(reader: Reader, claim: Claim) -> Claim:
    """Find the only memory whose value has all the replaced words: "my Samsung" is the "Samsung phone"."""
    words = set(value_words(claim.prior or ""))
    held = [one for one in _mentioning(reader, claim, claim.prior or "") if _may_be_replaced(one)]
    wider = [one for one in held if claim.move is Move.CHANGE and words and words <= set(value_words(one.value or ""))]
    found = _in_slot_of(wider, claim)
    return found if found is claim else replace(found, prior=wider[0].value)


def _ending(reader: Reader, claim: Claim) -> Claim:
    """Find the memory that ends; the extracted slot is right if it holds the value."""
    if not claim.value:
        return claim
    held = [one for one in _mentioning(reader, claim, claim.value) if _may_end(one)]
    here = slot_of(claim)
    exact = [one for one in held if same_value(one.value, claim.value)]
    if any(here is not None and slot_of(one) == here for one in exact):
        return claim
    if exact:
        return _in_slot_of(exact, claim)
    wider = [one for one in held if set(value_words(claim.value)) <= set(value_words(one.value or ""))]
    found = _in_slot_of(wider, claim)
    return found if found is claim else replace(found, value=wider[0].value)


def _may_end(memory: Memory) -> bool:
    name = memory.attribute or ""
    return name not in _NEVER_ENDED and not name.startswith(("former_", "favourite_"))


def _may_be_replaced(memory: Memory) -> bool:
    """Return whether another value can replace this one; a relative by birth has no replacement."""
    return _may_end(memory) and (memory.attribute or "") not in BY_BIRTH


def _replaceable(held: list[Memory]) -> list[Memory]:
    """Choose the memories that another value can replace; a favourite only if no other memory has its value."""
    favourites = [one for one in held if (one.attribute or "").startswith("favourite_")]
    return [one for one in held if _may_be_replaced(one)] or favourites


def _mentioning(reader: Reader, claim: Claim, value: str) -> list[Memory]:
    """Find the active memories about the speaker that mention a value, by its words."""
    codes = reader.nominate(value_words(value), _NOMINATED, memories=True)
    numbers = sorted({number for _, number, _ in map(unpack_code, codes)})
    ids = [public_id(Kind.MEMORY, number, reader.tenant.tag) for number in numbers]
    speaker = name_key(claim.speaker)
    return [
        one
        for one in reader.memories(ids)
        if one.status is Status.ACTIVE
        and one.stance in FIRM
        and not denies(one)
        and name_key(one.speaker) == speaker
        and slot_of(one) is not None
        and _is_of(claim, one)
    ]


def _is_of(claim: Claim, memory: Memory) -> bool:
    """Return whether the claim can be about the person of a memory: "I left Shell" is not about the speaker's sister.

    A claim about the sister is not about the speaker's memory either, unless the memory names her.
    """
    from credenda.write.succession.old import old_of, others_words  # noqa: PLC0415 - loads tables that a search does not need
    from credenda.write.succession.words import phrase  # noqa: PLC0415 - as above

    old = old_of(memory)
    named = name_key(claim.entity or "") == name_key(memory.entity or "")
    others = others_words(claim.entity, claim.attribute, claim.speaker)
    if others and not named and others.isdisjoint(old.said.terms):
        return False
    return not old.person or named or not old.owner.isdisjoint(phrase(claim.text).terms)


def _in_slot_of(held: Iterable[Memory], claim: Claim) -> Claim:
    found = {slot_of(one): one for one in held}
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
