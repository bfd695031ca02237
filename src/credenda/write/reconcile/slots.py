"""Which slot a claim or memory speaks about, and whether two of them say the same thing there. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from credenda.model.claim import Claim
from credenda.model.memory import Cardinality, Draft, Memory, MemoryType, Slot, Stance, Status, type_class
from credenda.text.normalize import attribute_key, name_key, same_value

__all__ = [
    "BY_BIRTH",
    "CURRENT",
    "FAINT_CONFIDENCE",
    "FIRM",
    "UNCERTAIN",
    "begins_us",
    "contradicts",
    "denies",
    "label",
    "outshines",
    "same_meaning",
    "single_slots",
    "slot_of",
    "weaker",
]

FIRM: Final = frozenset({Stance.ASSERTED, Stance.NEGATED})
"""Stances that say how things are; only these compete for a slot (D-005)."""

UNCERTAIN: Final = frozenset({Stance.HYPOTHETICAL, Stance.ROLE_PLAY, Stance.SARCASTIC})
"""Stances that are not meant: whatever extraction said, they stay at confidence 0.3 or below (R-040, R-042)."""

CURRENT: Final = frozenset({Status.ACTIVE, Status.CHALLENGED, Status.ARCHIVED})
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

FAINT_CONFIDENCE: Final = 0.4
"""Below this a search leaves a memory out (`min_confidence`), so a fainter claim never hides a belief that is shown."""

_ROUNDING: Final = 1e-9


def single_slots(memories: Iterable[Memory]) -> set[Slot]:
    """Name the slots of memories that hold one value: there reconciliation has decided what stands beside what."""
    return {slot for one in memories if one.cardinality is Cardinality.SINGLE and (slot := slot_of(one)) is not None}


def slot_of(said: Claim | Draft) -> Slot | None:
    """Name the slot in normal form, or None where entity, attribute or value is missing (R-075, D-008).

    A narrative tells a story about its entity; it holds no value against others.
    """
    if said.type is MemoryType.NARRATIVE or not (said.entity and said.attribute and said.value):
        return None
    return Slot(
        speaker=name_key(said.speaker),
        entity=name_key(said.entity),
        attribute=attribute_key(said.attribute),
        scope=(name_key(said.scope) or None) if said.scope else None,
        type_class=type_class(said.type),
    )


def denies(said: Claim | Draft) -> bool:
    """Say whether it holds that the value is *not* so."""
    return said.stance is Stance.NEGATED


def same_meaning(one: Claim | Draft, other: Claim | Draft) -> bool:
    """Say whether both speak of the same value in the same way: meant or not, so or not so."""
    alike = denies(one) == denies(other) if {one.stance, other.stance} <= FIRM else one.stance is other.stance
    return alike and same_value(one.value, other.value)


def contradicts(one: Claim | Draft, other: Claim | Draft) -> bool:
    """Say whether two firm sayings about one slot cannot both hold.

    A value and its denial cannot, nor can two values of a slot that holds one. Where the two disagree about how many
    it holds, both stand (D-007).
    """
    if denies(one) or denies(other):
        return denies(one) != denies(other) and same_value(one.value, other.value)
    single = one.cardinality is Cardinality.SINGLE and other.cardinality is Cardinality.SINGLE
    return single and not same_value(one.value, other.value)


def begins_us(memory: Memory) -> int:
    """Say since when a memory is true: as stated, else since it was recorded."""
    return memory.created_us if memory.valid_from_us is None else memory.valid_from_us


def weaker(claim: Claim, trust: float, memory: Memory) -> str | None:
    """Say why a claim cannot replace a memory, or None if it can (D-006)."""
    if trust < memory.trust - TRUST_MARGIN - _ROUNDING:
        return "its source is trusted less"
    if claim.confidence < memory.confidence - CONFIDENCE_MARGIN - _ROUNDING:
        return "it is much less certain"
    if claim.confidence < FAINT_CONFIDENCE <= memory.confidence:
        return "it is hardly certain"
    return None


def outshines(claim: Claim, memory: Memory) -> bool:
    """Say whether a claim is certain enough to be shown where the memory it repeats is not."""
    return memory.confidence < FAINT_CONFIDENCE <= claim.confidence


def label(said: Claim | Draft) -> str:
    """Name the value for people: the value itself, or "not …" for a denial."""
    value = said.value or ""
    return f"not {value}" if denies(said) else value
