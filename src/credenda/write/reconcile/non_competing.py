"""Claims that compete for no slot: retractions, claims without a slot, and claims that assert nothing. Pure."""

from __future__ import annotations

from typing import Final

from credenda.model.change import Change, Forget, SetStatus, Supersede
from credenda.model.memory import Memory, Relation, Slot, Stance, Status
from credenda.text.normalize import is_same_value, normalise_name
from credenda.write.reconcile.candidate import Candidate
from credenda.write.reconcile.inputs import SlotRows
from credenda.write.reconcile.slot_state import find_conflicting, find_same_text, sort_newest_first
from credenda.write.reconcile.slots import (
    ASSERTIVE_STANCES,
    CURRENT_STATUSES,
    get_slot,
    get_valid_from_us,
    is_another_day,
    is_newly_visible,
)

__all__ = ["add_non_competing", "match_text_or_add", "reactivate", "refine", "retract"]

_STANCE_REASONS: Final = {
    Stance.REPORTED: "reported, not first-hand",
    Stance.PLANNED: "planned",
    Stance.CONSIDERED: "only considered",
    Stance.HYPOTHETICAL: "hypothetical",
    Stance.ROLE_PLAY: "said in role play",
    Stance.SARCASTIC: "sarcastic",
}


def retract(candidate: Candidate, known: SlotRows) -> list[Change]:
    """Forget the memories of the speaker's previous statement ("never mind"), and reactivate what they replaced.

    A memory that the statement only confirmed rests on other evidence and stays. The slot that a retraction names
    ("forget my phone number") goes with its earlier values and all its evidence.
    """
    named = candidate.claim.entity is not None
    speaker = normalise_name(candidate.claim.speaker)
    gone = [
        one
        for one in known.previous
        if (one.status in CURRENT_STATUSES or (named and one.status is Status.SUPERSEDED))
        and normalise_name(one.speaker) == speaker
        and (named or not one.confirmations)
    ]
    ids = {one.id for one in gone}
    replaced = [one for one in sort_newest_first(known.past) if one.superseded_by in ids]
    return [
        *(Forget(memory_id=one.id, reason="retracted by the speaker") for one in gone),
        *(_set_active(one, "its replacement was retracted") for one in replaced),
    ]


def match_text_or_add(candidate: Candidate, known: SlotRows) -> list[Change]:
    """Confirm the memory with the same text, or add the claim (R-075).

    Its text identifies a claim without a slot.
    """
    twins = find_same_text(candidate.claim, known.current)
    if not twins:
        return [candidate.add("first statement")]
    best = max(twins, key=lambda one: (not one.provisional, get_slot(one) is not None, get_valid_from_us(one), one.id))
    read_better = best.provisional and not candidate.claim.provisional
    if is_newly_visible(candidate.claim, best) or read_better:
        return [candidate.add("restated with higher confidence"), refine(candidate, candidate.key, best)]
    return [candidate.confirm(best, "restated in the same words"), *reactivate(best, known)]


def add_non_competing(candidate: Candidate, slot: Slot, known: SlotRows) -> list[Change]:
    """Store plans, reports and suppositions without competing: they neither replace nor challenge a belief (D-005)."""
    stance = candidate.claim.stance
    alike = {stance, Stance.ASSERTED} if stance is Stance.REPORTED else {stance}
    for one in sort_newest_first(known.current):
        same = one.stance in alike and get_slot(one) == slot and is_same_value(one.value, candidate.claim.value)
        same = same and not is_another_day(candidate.claim, one)
        if (
            same
            and one.status in CURRENT_STATUSES
            and not one.provisional
            and not is_newly_visible(candidate.claim, one)
        ):
            return [candidate.confirm(one, "restated"), *reactivate(one, known)]
    return [candidate.add(_STANCE_REASONS.get(stance, "starts in the future"))]


def refine(candidate: Candidate, successor: str, lesser: Memory) -> Supersede:
    """Supersede a weaker duplicate of the claim: a plan, a low-confidence memory, an unparsed sentence."""
    was_held = lesser.stance in ASSERTIVE_STANCES and lesser.status is not Status.CHALLENGED
    held_until_us = candidate.begins_us if was_held else get_valid_from_us(lesser)
    return Supersede(
        memory_id=lesser.id,
        successor=successor,
        relation=Relation.REFINED,
        valid_until_us=max(get_valid_from_us(lesser), held_until_us),
        reason="restated with higher confidence",
    )


def reactivate(twin: Memory, known: SlotRows) -> list[Change]:
    """Reactivate an archived memory that is stated again, unless a conflicting value is active."""
    if twin.status is not Status.ARCHIVED or find_conflicting(twin, known.current):
        return []
    return [_set_active(twin, "restated")]


def _set_active(memory: Memory, reason: str) -> Change:
    return SetStatus(memory_id=memory.id, status=Status.ACTIVE, reason=reason)
