"""Which slot a claim or memory speaks about, and whether two of them say the same thing there. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from credenda.model.claim import Claim
from credenda.model.memory import Cardinality, Draft, Memory, MemoryType, Slot, Stance, Status, get_type_class
from credenda.text.normalize import is_same_value, normalise_attribute, normalise_name

__all__ = [
    "ASSERTIVE_STANCES",
    "BY_BIRTH",
    "CURRENT_STATUSES",
    "UNCERTAIN_STANCES",
    "VISIBLE_CONFIDENCE",
    "display_value",
    "find_single_slots",
    "find_weakness",
    "get_slot",
    "get_valid_from_us",
    "has_same_meaning",
    "is_denial",
    "is_in_conflict",
    "is_newly_visible",
]

ASSERTIVE_STANCES: Final = frozenset({Stance.ASSERTED, Stance.NEGATED})
"""Stances that say how things are; only these compete for a slot (D-005)."""

UNCERTAIN_STANCES: Final = frozenset({Stance.HYPOTHETICAL, Stance.ROLE_PLAY, Stance.SARCASTIC})
"""Stances that are not meant: whatever extraction said, they stay at confidence 0.3 or below (R-040, R-042)."""

CURRENT_STATUSES: Final = frozenset({Status.ACTIVE, Status.CHALLENGED, Status.ARCHIVED})
"""Statuses of what is still believed; what was archived is only put away, and returns when it is said again."""

BY_BIRTH: Final = frozenset(
    {"brother", "sister", "sibling", "mother", "father", "parent", "son", "daughter", "child", "twin", "grandmother"}
    | {"grandfather", "aunt", "uncle", "cousin", "nephew", "niece", "birthplace", "origin", "nationality"}
)
"""Slots in which nobody and nothing takes the place of another."""

CONFIDENCE_MARGIN: Final = 0.25
"""How much less sure a claim may be and still replace a belief (D-006).

A plain saying (0.9) and a hedged one (0.7) differ by less, so people may change their mind in soft words; a saying that
is hardly meant (0.3) and a fact differ by twice as much.
"""

TRUST_MARGIN: Final = 0.25
"""How much less trusted a source may be and still replace a belief (D-006).

Between the person (1.0) and the next source (0.7) lies more, so nothing else overrules the person's own word; among
the others (0.7, 0.6, 0.5, 0.4) neighbours replace each other.
"""

VISIBLE_CONFIDENCE: Final = 0.4
"""Below this a search leaves a memory out (`min_confidence`), so a fainter claim never hides a belief that is shown."""

_ROUNDING: Final = 1e-9


def find_single_slots(memories: Iterable[Memory]) -> set[Slot]:
    """Name the slots of memories that hold one value: there reconciliation has decided what stands beside what."""
    return {slot for one in memories if one.cardinality is Cardinality.SINGLE and (slot := get_slot(one)) is not None}


def get_slot(said: Claim | Draft) -> Slot | None:
    """Name the slot in normal form, or None where entity, attribute or value is missing (R-075, D-008).

    A narrative tells a story about its entity; it holds no value against others.
    """
    if said.type is MemoryType.NARRATIVE or not (said.entity and said.attribute and said.value):
        return None
    return Slot(
        speaker=normalise_name(said.speaker),
        entity=normalise_name(said.entity),
        attribute=normalise_attribute(said.attribute),
        scope=(normalise_name(said.scope) or None) if said.scope else None,
        type_class=get_type_class(said.type),
    )


def is_denial(said: Claim | Draft) -> bool:
    """Say whether it holds that the value is *not* so."""
    return said.stance is Stance.NEGATED


def has_same_meaning(one: Claim | Draft, other: Claim | Draft) -> bool:
    """Say whether both speak of the same value in the same way: meant or not, so or not so."""
    alike = (
        is_denial(one) == is_denial(other)
        if {one.stance, other.stance} <= ASSERTIVE_STANCES
        else one.stance is other.stance
    )
    return alike and is_same_value(one.value, other.value)


def is_in_conflict(one: Claim | Draft, other: Claim | Draft) -> bool:
    """Say whether two firm sayings about one slot cannot both hold.

    A value and its denial cannot, nor can two values of a slot that holds one. Where the two disagree about how many
    it holds, both stand (D-007).
    """
    if is_denial(one) or is_denial(other):
        return is_denial(one) != is_denial(other) and is_same_value(one.value, other.value)
    single = one.cardinality is Cardinality.SINGLE and other.cardinality is Cardinality.SINGLE
    return single and not is_same_value(one.value, other.value)


def get_valid_from_us(memory: Memory) -> int:
    """Say since when a memory is true: as stated, else since it was recorded."""
    return memory.created_us if memory.valid_from_us is None else memory.valid_from_us


def find_weakness(claim: Claim, trust: float, memory: Memory) -> str | None:
    """Say why a claim cannot replace a memory, or None if it can (D-006)."""
    if trust < memory.trust - TRUST_MARGIN - _ROUNDING:
        return "its source is trusted less"
    if claim.confidence < memory.confidence - CONFIDENCE_MARGIN - _ROUNDING:
        return "it is much less certain"
    if claim.confidence < VISIBLE_CONFIDENCE <= memory.confidence:
        return "it is hardly certain"
    return None


def is_newly_visible(claim: Claim, memory: Memory) -> bool:
    """Say whether a claim is certain enough to be shown where the memory it repeats is not."""
    return memory.confidence < VISIBLE_CONFIDENCE <= claim.confidence


def display_value(said: Claim | Draft) -> str:
    """Name the value for people: the value itself, or "not …" for a denial."""
    value = said.value or ""
    return f"not {value}" if is_denial(said) else value
