"""The slot of a claim or memory, and whether two values in it agree or conflict. Pure."""

from __future__ import annotations

from typing import Final

from credenda.model.attributes import has_same_kind
from credenda.model.claim import Claim
from credenda.model.memory import Cardinality, Draft, Memory, MemoryType, Slot, Stance, Status, get_type_class
from credenda.text.normalize import is_same_value, normalise_attribute, normalise_name

__all__ = [
    "ASSERTIVE_STANCES",
    "CURRENT_STATUSES",
    "UNCERTAIN_STANCES",
    "VISIBLE_CONFIDENCE",
    "display_value",
    "find_weakness",
    "get_slot",
    "get_valid_from_us",
    "has_same_meaning",
    "is_another_day",
    "is_denial",
    "is_in_conflict",
    "is_newly_visible",
]

ASSERTIVE_STANCES: Final = frozenset({Stance.ASSERTED, Stance.NEGATED})
"""Assertive stances; only these compete for a slot (D-005)."""

UNCERTAIN_STANCES: Final = frozenset({Stance.HYPOTHETICAL, Stance.ROLE_PLAY, Stance.SARCASTIC})
"""Stances that assert nothing; their confidence is at most 0.3 (R-040, R-042)."""

CURRENT_STATUSES: Final = frozenset({Status.ACTIVE, Status.CHALLENGED, Status.ARCHIVED})
"""Statuses of current beliefs; an archived memory becomes active again when it is restated."""

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

VISIBLE_CONFIDENCE: Final = 0.4
"""A search hides memories below this confidence (`min_confidence`), so a claim below it hides no visible belief."""

_ROUNDING: Final = 1e-9


def get_slot(said: Claim | Draft) -> Slot | None:
    """Return the normalised slot, or None if entity, attribute or value is missing (R-075, D-008).

    A narrative has no slot.
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
    """Return whether the value is denied."""
    return said.stance is Stance.NEGATED


def has_same_meaning(one: Claim | Draft, other: Claim | Draft) -> bool:
    """Return whether both have the same value, stance and polarity."""
    alike = (
        is_denial(one) == is_denial(other)
        if {one.stance, other.stance} <= ASSERTIVE_STANCES
        else one.stance is other.stance
    )
    return alike and is_same_value(one.value, other.value)


def is_another_day(claim: Claim, memory: Memory) -> bool:
    """Return whether a plan is of other days than a plan of the same value: two appointments, and neither the other."""
    if memory.stance is not Stance.PLANNED or None in (claim.valid_until_us, memory.valid_until_us):
        return False
    first, second = sorted(
        ((claim.valid_from_us or 0, claim.valid_until_us or 0), (memory.valid_from_us or 0, memory.valid_until_us or 0))
    )
    return claim.stance is Stance.PLANNED and first[1] <= second[0]


def is_in_conflict(one: Claim | Draft, other: Claim | Draft) -> bool:
    """Return whether two assertive claims about one slot conflict.

    A value conflicts with its denial, and two values of one kind in a single-valued slot conflict. If the two disagree
    about the cardinality, both stay (D-007).
    """
    if is_denial(one) or is_denial(other):
        return is_denial(one) != is_denial(other) and is_same_value(one.value, other.value)
    single = one.cardinality is Cardinality.SINGLE and other.cardinality is Cardinality.SINGLE
    return single and not is_same_value(one.value, other.value) and has_same_kind(one.value or "", other.value or "")


def get_valid_from_us(memory: Memory) -> int:
    """Return since when a memory is valid: as stated, else since it was created."""
    return memory.created_us if memory.valid_from_us is None else memory.valid_from_us


def find_weakness(claim: Claim, trust: float, memory: Memory) -> str | None:
    """Return why a claim cannot replace a memory, or None if it can (D-006)."""
    if trust < memory.trust - TRUST_MARGIN - _ROUNDING:
        return "its source is less trusted"
    if claim.confidence < memory.confidence - CONFIDENCE_MARGIN - _ROUNDING:
        return "its confidence is much lower"
    if claim.confidence < VISIBLE_CONFIDENCE <= memory.confidence:
        return "its confidence is too low"
    return None


def is_newly_visible(claim: Claim, memory: Memory) -> bool:
    """Return whether a claim is visible to search and the memory with the same value is not."""
    return memory.confidence < VISIBLE_CONFIDENCE <= claim.confidence


def display_value(said: Claim | Draft) -> str:
    """Return the value as shown to the user: the value itself, or "not …" for a denial."""
    value = said.value or ""
    return f"not {value}" if is_denial(said) else value
