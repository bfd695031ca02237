"""Claims that compete for no slot: retracted ones, ones without a slot, and ones that assert no fact. Pure."""

from __future__ import annotations

from typing import Final

from credenda.model.change import Change, Forget, SetStatus, Supersede
from credenda.model.claim import UpdateKind
from credenda.model.memory import Memory, Relation, Slot, Stance, Status
from credenda.text.normalize import is_same_value, normalise_name, normalise_value
from credenda.write.reconcile.candidate import Candidate
from credenda.write.reconcile.inputs import SlotRows
from credenda.write.reconcile.slot_state import find_conflicting, find_same_text, sort_newest_first
from credenda.write.reconcile.slots import (
    ASSERTIVE_STANCES,
    CURRENT_STATUSES,
    get_slot,
    get_valid_from_us,
    is_newly_visible,
)

__all__ = ["add_non_competing", "match_text_or_add", "reactivate", "refine", "retract"]

_STANCE_REASONS: Final = {
    Stance.REPORTED: "reported, not known at first hand",
    Stance.PLANNED: "planned, not yet so",
    Stance.CONSIDERED: "only considered",
    Stance.HYPOTHETICAL: "only supposed",
    Stance.ROLE_PLAY: "said in a game",
    Stance.SARCASTIC: "not meant in earnest",
}

_WISHES: Final = frozenset({Stance.PLANNED, Stance.CONSIDERED})


def retract(candidate: Candidate, known: SlotRows) -> list[Change]:
    """Forget what the speaker's previous statement gave ("never mind"), and hold again what that had replaced.

    A memory that the statement only confirmed rests on other words, and stays.
    """
    speaker = normalise_name(candidate.claim.speaker)
    gone = [
        one
        for one in known.previous
        if one.status in CURRENT_STATUSES and normalise_name(one.speaker) == speaker and not one.confirmations
    ]
    ids = {one.id for one in gone}
    replaced = [one for one in sort_newest_first(known.past) if one.superseded_by in ids]
    return [
        *(Forget(memory_id=one.id, reason="taken back by the speaker") for one in gone),
        *(_set_active(one, "what replaced it was taken back") for one in replaced),
    ]


def match_text_or_add(candidate: Candidate, known: SlotRows) -> list[Change]:
    """Know a claim without a slot by its words alone (R-075)."""
    twins = find_same_text(candidate.claim, known.current)
    if not twins:
        return [candidate.add("said for the first time")]
    best = max(twins, key=lambda one: (not one.provisional, get_slot(one) is not None, get_valid_from_us(one), one.id))
    read_better = best.provisional and not candidate.claim.provisional
    if is_newly_visible(candidate.claim, best) or read_better:
        return [candidate.add("said again, with more certainty"), refine(candidate, candidate.key, best)]
    return [candidate.confirm(best, "said again in the same words"), *reactivate(best, known)]


def add_non_competing(candidate: Candidate, slot: Slot, known: SlotRows) -> list[Change]:
    """Keep plans, reports and suppositions beside what is believed: they neither replace nor doubt it (D-005)."""
    stance = candidate.claim.stance
    alike = {stance, Stance.ASSERTED} if stance is Stance.REPORTED else {stance}
    for one in sort_newest_first(known.current):
        same = one.stance in alike and get_slot(one) == slot and is_same_value(one.value, candidate.claim.value)
        if (
            same
            and one.status in CURRENT_STATUSES
            and not one.provisional
            and not is_newly_visible(candidate.claim, one)
        ):
            return [candidate.confirm(one, "said again"), *reactivate(one, known)]
    added = candidate.add(_STANCE_REASONS.get(stance, "it is yet to come"))
    return [added, *_supersede_plan(candidate, slot, known)]


def _supersede_plan(candidate: Candidate, slot: Slot, known: SlotRows) -> list[Change]:
    """Let the one plan of the same doing go that another takes the place of: "… to York instead"."""
    claim = candidate.claim
    if claim.move is not UpdateKind.CHANGE or claim.stance not in _WISHES:
        return []
    doing = _get_verb(claim.value)
    held = [
        one
        for one in known.current
        if one.status is Status.ACTIVE
        and one.stance in _WISHES
        and get_slot(one) == slot
        and _get_verb(one.value) == doing
    ]
    if len(held) != 1 or not doing:
        return []
    (one,) = held
    ends_us = max(get_valid_from_us(one), candidate.begins_us)
    reason = "another plan took its place"
    return [
        Supersede(
            memory_id=one.id, successor=candidate.key, relation=Relation.CHANGED, valid_until_us=ends_us, reason=reason
        )
    ]


def _get_verb(value: str | None) -> str:
    return normalise_value(value or "").partition(" ")[0]


def refine(candidate: Candidate, successor: str, lesser: Memory) -> Supersede:
    """Let a lesser form of the same saying give way: a plan, a faint word, a sentence that was not understood."""
    was_held = lesser.stance in ASSERTIVE_STANCES and lesser.status is not Status.CHALLENGED
    held_until_us = candidate.begins_us if was_held else get_valid_from_us(lesser)
    return Supersede(
        memory_id=lesser.id,
        successor=successor,
        relation=Relation.REFINED,
        valid_until_us=max(get_valid_from_us(lesser), held_until_us),
        reason="said again, with more certainty",
    )


def reactivate(twin: Memory, known: SlotRows) -> list[Change]:
    """Take up again what was put away, when it is said again and nothing has taken its place."""
    if twin.status is not Status.ARCHIVED or find_conflicting(twin, known.current):
        return []
    return [_set_active(twin, "said again")]


def _set_active(memory: Memory, reason: str) -> Change:
    return SetStatus(memory_id=memory.id, status=Status.ACTIVE, reason=reason)
