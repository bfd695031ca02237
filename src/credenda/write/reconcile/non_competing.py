"""Claims that compete for no slot: retractions, claims without a slot, and claims that assert nothing. Pure."""

from __future__ import annotations

from typing import Final

from credenda.model.change import Change, Forget, SetStatus, Supersede
from credenda.model.claim import Move
from credenda.model.memory import Memory, Relation, Slot, Stance, Status
from credenda.text.normalize import name_key, same_value, value_key
from credenda.write.reconcile.candidate import Saying
from credenda.write.reconcile.inputs import Known
from credenda.write.reconcile.slot_state import newest_first, opponents, same_words
from credenda.write.reconcile.slots import CURRENT, FIRM, begins_us, outshines, slot_of

__all__ = ["beside", "same_text_or_new", "sharpened", "taken_back", "woken"]

_MANNER: Final = {
    Stance.REPORTED: "reported, not first-hand",
    Stance.PLANNED: "planned",
    Stance.CONSIDERED: "only considered",
    Stance.HYPOTHETICAL: "hypothetical",
    Stance.ROLE_PLAY: "said in role play",
    Stance.SARCASTIC: "sarcastic",
}

_WISHES: Final = frozenset({Stance.PLANNED, Stance.CONSIDERED})


def taken_back(saying: Saying, known: Known) -> list[Change]:
    """Forget the memories of the speaker's previous statement ("never mind"), and reactivate what they replaced.

    A memory that the statement only confirmed rests on other evidence and stays.
    """
    speaker = name_key(saying.claim.speaker)
    gone = [
        one
        for one in known.previous
        if one.status in CURRENT and name_key(one.speaker) == speaker and not one.confirmations
    ]
    ids = {one.id for one in gone}
    replaced = [one for one in newest_first(known.past) if one.superseded_by in ids]
    return [
        *(Forget(memory_id=one.id, reason="retracted by the speaker") for one in gone),
        *(_set_active(one, "its replacement was retracted") for one in replaced),
    ]


def same_text_or_new(saying: Saying, known: Known) -> list[Change]:
    """Confirm the memory with the same text, or add the claim (R-075).

    Its text identifies a claim without a slot.
    """
    twins = same_words(saying.claim, known.current)
    if not twins:
        return [saying.add("first statement")]
    best = max(twins, key=lambda one: (not one.provisional, slot_of(one) is not None, begins_us(one), one.id))
    read_better = best.provisional and not saying.claim.provisional
    if outshines(saying.claim, best) or read_better:
        return [saying.add("restated with higher confidence"), sharpened(saying, saying.key, best)]
    return [saying.confirm(best, "restated in the same words"), *woken(best, known)]


def beside(saying: Saying, slot: Slot, known: Known) -> list[Change]:
    """Store plans, reports and suppositions without competing: they neither replace nor challenge a belief (D-005)."""
    stance = saying.claim.stance
    alike = {stance, Stance.ASSERTED} if stance is Stance.REPORTED else {stance}
    for one in newest_first(known.current):
        same = one.stance in alike and slot_of(one) == slot and same_value(one.value, saying.claim.value)
        if same and one.status in CURRENT and not one.provisional and not outshines(saying.claim, one):
            return [saying.confirm(one, "restated"), *woken(one, known)]
    added = saying.add(_MANNER.get(stance, "starts in the future"))
    return [added, *_given_up(saying, slot, known)]


def _given_up(saying: Saying, slot: Slot, known: Known) -> list[Change]:
    """Supersede the one plan with the same verb that this claim replaces, as in "… to York instead"."""
    claim = saying.claim
    if claim.move is not Move.CHANGE or claim.stance not in _WISHES:
        return []
    doing = _doing(claim.value)
    held = [
        one
        for one in known.current
        if one.status is Status.ACTIVE and one.stance in _WISHES and slot_of(one) == slot and _doing(one.value) == doing
    ]
    if len(held) != 1 or not doing:
        return []
    (one,) = held
    ends_us = max(begins_us(one), saying.begins_us)
    reason = "replaced by another plan"
    return [
        Supersede(
            memory_id=one.id, successor=saying.key, relation=Relation.CHANGED, valid_until_us=ends_us, reason=reason
        )
    ]


def _doing(value: str | None) -> str:
    return value_key(value or "").partition(" ")[0]


def sharpened(saying: Saying, successor: str, lesser: Memory) -> Supersede:
    """Supersede a weaker duplicate of the claim: a plan, a low-confidence memory, an unparsed sentence."""
    was_held = lesser.stance in FIRM and lesser.status is not Status.CHALLENGED
    held_until_us = saying.begins_us if was_held else begins_us(lesser)
    return Supersede(
        memory_id=lesser.id,
        successor=successor,
        relation=Relation.REFINED,
        valid_until_us=max(begins_us(lesser), held_until_us),
        reason="restated with higher confidence",
    )


def woken(twin: Memory, known: Known) -> list[Change]:
    """Reactivate an archived memory that is stated again, unless a conflicting value is active."""
    if twin.status is not Status.ARCHIVED or opponents(twin, known.current):
        return []
    return [_set_active(twin, "restated")]


def _set_active(memory: Memory, reason: str) -> Change:
    return SetStatus(memory_id=memory.id, status=Status.ACTIVE, reason=reason)
