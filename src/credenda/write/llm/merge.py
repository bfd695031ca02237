"""Merge the claims of the rules and of a model for one turn. Pure.

A claim of the rules stays unless the model rejects it. For the same text the rules' claim wins, because rules are
deterministic.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from credenda.model.claim import Claim, UpdateKind
from credenda.model.memory import Cardinality, Stance, get_type_class
from credenda.text.normalize import is_same_value, normalise_attribute, normalise_name
from credenda.write.llm.answer import Rejection
from credenda.write.llm.prompt import reading_id
from credenda.write.reconcile.slots import UNCERTAIN_STANCES

__all__ = ["merged"]

_UNMEANT: Final = {
    "hypothetical": Stance.HYPOTHETICAL,
    "role_play": Stance.ROLE_PLAY,
    "sarcastic": Stance.SARCASTIC,
}
_UNMEANT_CONFIDENCE_MAX: Final = 0.3


def merged(readings: Sequence[Claim], rejections: Sequence[Rejection], found: Sequence[Claim]) -> list[Claim]:
    """Return the claims of a turn in the order of their spans."""
    whys = {one.reading: one.why for one in rejections}
    kept = [one for at, claim in enumerate(readings) if (one := _judged(claim, whys.get(reading_id(at))))]
    for claim in found:
        if not any(_same(claim, one) for one in kept):
            kept.append(claim)
    return sorted(kept, key=lambda one: (one.span.start, one.span.stop))


def _judged(claim: Claim, why: str | None) -> Claim | None:
    if why is None or claim.move is UpdateKind.RETRACT:
        return claim
    stance = _UNMEANT.get(why)
    if stance is None:
        return None
    return replace(
        claim,
        stance=stance,
        confidence=min(claim.confidence, _UNMEANT_CONFIDENCE_MAX),
        entity=None,
        attribute=None,
        value=None,
        prior=None,
        scope=None,
        cardinality=Cardinality.SINGLE,
        move=UpdateKind.STATE,
    )


def _same(claim: Claim, one: Claim) -> bool:
    """Return whether two claims state the same from the same text."""
    if not (claim.span.start < one.span.stop and one.span.start < claim.span.stop):
        return False
    if claim.stance in UNCERTAIN_STANCES and one.stance in UNCERTAIN_STANCES:
        return True
    if claim.value is None or one.value is None:
        return claim.value is one.value or one.stance in UNCERTAIN_STANCES
    return is_same_value(claim.value, one.value) or (
        _place(claim) == _place(one) and claim.cardinality is Cardinality.SINGLE
    )


def _place(claim: Claim) -> tuple[object, ...]:
    return (
        claim.entity and normalise_name(claim.entity),
        claim.attribute and normalise_attribute(claim.attribute),
        claim.scope and normalise_name(claim.scope),
        get_type_class(claim.type),
    )
