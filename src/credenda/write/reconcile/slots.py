"""The slot of a claim or memory, and whether two values in it agree or conflict. Pure."""

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
"""Assertive stances; only these compete for a slot (D-005)."""

UNCERTAIN: Final = frozenset({Stance.HYPOTHETICAL, Stance.ROLE_PLAY, Stance.SARCASTIC})
"""Stances that assert nothing; their confidence is at most 0.3 (R-040, R-042)."""

CURRENT: Final = frozenset({Status.ACTIVE, Status.CHALLENGED, Status.ARCHIVED})
"""Statuses of current beliefs; an archived memory becomes active again when it is restated."""

BY_BIRTH: Final = frozenset(
    {"brother", "sister", "sibling", "mother", "father", "parent", "son", "daughter", "child", "twin", "grandmother"}
    | {"grandfather", "aunt", "uncle", "cousin", "nephew", "niece", "birthplace", "origin", "nationality"}
)
"""Attributes whose values cannot be replaced, such as relatives by birth."""

CONFIDENCE_MARGIN: Final = 0.25
"""How much lower the confidence of a claim may be to still replace a belief (D-006).

An unhedged statement (0.9) and a hedged one (0.7) differ by less, so a hedged statement can replace. A hypothetical
(0.3) differs from a fact by twice as much.
"""

TRUST_MARGIN: Final = 0.25
"""How much lower the trust of a source may be to still replace a belief (D-006).

The user (1.0) and the next source (0.7) differ by more, so no other source overrules the user. Adjacent sources (0.7,
0.6, 0.5, 0.4) can replace each other.
"""

FAINT_CONFIDENCE: Final = 0.4
"""A search hides memories below this confidence (`min_confidence`), so a claim below it hides no visible belief."""

_ROUNDING: Final = 1e-9


def single_slots(memories: Iterable[Memory]) -> set[Slot]:
    """Return the slots of memories that hold one value; reconciliation allows one active value in each."""
    return {slot for one in memories if one.cardinality is Cardinality.SINGLE and (slot := slot_of(one)) is not None}


def slot_of(said: Claim | Draft) -> Slot | None:
    """Return the normalised slot, or None if entity, attribute or value is missing (R-075, D-008).

    A narrative has no slot.
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
    """Return whether the value is denied."""
    return said.stance is Stance.NEGATED


def same_meaning(one: Claim | Draft, other: Claim | Draft) -> bool:
    """Return whether both have the same value, stance and polarity."""
    alike = denies(one) == denies(other) if {one.stance, other.stance} <= FIRM else one.stance is other.stance
    return alike and same_value(one.value, other.value)


def contradicts(one: Claim | Draft, other: Claim | Draft) -> bool:
    """Return whether two assertive claims about one slot conflict.

    A value conflicts with its denial, and two values of a single-valued slot conflict. If the two disagree about the
    cardinality, both stay (D-007).
    """
    if denies(one) or denies(other):
        return denies(one) != denies(other) and same_value(one.value, other.value)
    single = one.cardinality is Cardinality.SINGLE and other.cardinality is Cardinality.SINGLE
    return single and not same_value(one.value, other.value)


def begins_us(memory: Memory) -> int:
    """Return since when a memory is valid: as stated, else since it was created."""
    return memory.created_us if memory.valid_from_us is None else memory.valid_from_us


def weaker(claim: Claim, trust: float, memory: Memory) -> str | None:
    """Return why a claim cannot replace a memory, or None if it can (D-006)."""
    if trust < memory.trust - TRUST_MARGIN - _ROUNDING:
        return "its source is less trusted"
    if claim.confidence < memory.confidence - CONFIDENCE_MARGIN - _ROUNDING:
        return "its confidence is much lower"
    if claim.confidence < FAINT_CONFIDENCE <= memory.confidence:
        return "its confidence is too low"
    return None


def outshines(claim: Claim, memory: Memory) -> bool:
    """Return whether a claim is visible to search and the memory with the same value is not."""
    return memory.confidence < FAINT_CONFIDENCE <= claim.confidence


def label(said: Claim | Draft) -> str:
    """Return the value as shown to the user: the value itself, or "not …" for a denial."""
    value = said.value or ""
    return f"not {value}" if denies(said) else value
