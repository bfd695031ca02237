"""Combine the readings of one sentence, and apply hedges and group habits to them."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from credenda.model.claim import UpdateKind
from credenda.model.memory import Cardinality, MemoryType, Stance
from credenda.text.normalize import is_same_value
from credenda.write.extract.lexicon import expression, words_of
from credenda.write.extract.readings import Frame, Reading
from credenda.write.extract.tenses import PAST

__all__ = ["added", "is_change", "merged", "softened", "with_prior"]

_HEDGED: Final = 0.5
_LASTING: Final = frozenset({"simple", "progressive"})
_BESIDE: Final = frozenset({"also", "too", "well", "side", "second"})


def merged(readings: list[Reading]) -> list[Reading]:
    """Join "I left Acme, I'm at Globex now" into one reading with its prior value."""
    kept: list[Reading] = []
    for one in readings:
        before = kept[-1] if kept else None
        if before is not None and _replaced(before, one):
            move = UpdateKind.CORRECT if before.stance is Stance.NEGATED else UpdateKind.CHANGE
            kept[-1] = replace(one, prior=before.value, move=move)
        else:
            kept.append(one)
    return kept


def _replaced(before: Reading, one: Reading) -> bool:
    gone = before.move is UpdateKind.END or before.stance is Stance.NEGATED
    same = before.attribute is not None and (before.entity, before.attribute) == (one.entity, one.attribute)
    single = before.move is UpdateKind.END or one.cardinality is Cardinality.SINGLE
    return gone and same and single and one.stance is Stance.ASSERTED and one.move is not UpdateKind.END


def is_change(reading: Reading) -> bool:
    """Return whether a reading replaces the value of its slot."""
    return reading.attribute is not None and reading.move in {UpdateKind.CHANGE, UpdateKind.CORRECT}


def with_prior(reading: Reading, found: Reading) -> Reading:
    """Add to a change the value that it replaces, for the slot look-up."""
    told = is_change(reading) and reading.prior is None and is_same_value(reading.value, found.value)
    return replace(reading, prior=found.prior) if told else reading


def added(reading: Reading, frame: Frame) -> Reading:
    """Keep an additional value beside the others of its slot: "I'm also a diver" ends no other work."""
    lasting = reading.move is UpdateKind.STATE or (
        reading.move is UpdateKind.CHANGE and frame.predicate.tense in _LASTING
    )
    one = lasting and reading.cardinality is Cardinality.SINGLE and reading.attribute is not None
    text = frame.clause.text
    if not one or words_of(text).isdisjoint(_BESIDE) or expression("checks", "added").search(text) is None:
        return reading
    return replace(reading, cardinality=Cardinality.SET, move=UpdateKind.STATE)


def softened(reading: Reading, frame: Frame) -> Reading:
    """Lower the confidence of a hedged reading; a decision with "maybe" is none yet, unless it was taken."""
    if reading.type is not MemoryType.DECISION or frame.predicate.tense in PAST:
        return replace(reading, confidence=min(reading.confidence, _HEDGED))
    return Reading(
        type=MemoryType.FACT,
        entity=frame.owner or None,
        attribute="considering",
        value=frame.predicate.text,
        cardinality=Cardinality.SET,
        stance=Stance.CONSIDERED,
        confidence=0.4,
        importance=0.5,
        pattern="softened",
    )
