"""Claims that compete for no slot: retracted ones, ones without a slot, and ones that assert no fact. Pure."""

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
    Stance.REPORTED: "reported, not known at first hand",
    Stance.PLANNED: "planned, not yet so",
    Stance.CONSIDERED: "only considered",
    Stance.HYPOTHETICAL: "only supposed",
    Stance.ROLE_PLAY: "said in a game",
    Stance.SARCASTIC: "not meant in earnest",
}

_WISHES: Final = frozenset({Stance.PLANNED, Stance.CONSIDERED})


def taken_back(saying: Saying, known: Known) -> list[Change]:
    """Forget what the speaker's previous statement gave ("never mind"), and hold again what that had replaced.

    A memory that the statement only confirmed rests on other words, and stays.
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
        *(Forget(memory_id=one.id, reason="taken back by the speaker") for one in gone),
        *(_set_active(one, "what replaced it was taken back") for one in replaced),
    ]


def same_text_or_new(saying: Saying, known: Known) -> list[Change]:
    """Know a claim without a slot by its words alone (R-075)."""
    twins = same_words(saying.claim, known.current)
    if not twins:
        return [saying.add("said for the first time")]
    best = max(twins, key=lambda one: (not one.provisional, slot_of(one) is not None, begins_us(one), one.id))
    read_better = best.provisional and not saying.claim.provisional
    if outshines(saying.claim, best) or read_better:
        return [saying.add("said again, with more certainty"), sharpened(saying, saying.key, best)]
    return [saying.confirm(best, "said again in the same words"), *woken(best, known)]


def beside(saying: Saying, slot: Slot, known: Known) -> list[Change]:
    """Keep plans, reports and suppositions beside what is believed: they neither replace nor doubt it (D-005)."""
    stance = saying.claim.stance
    alike = {stance, Stance.ASSERTED} if stance is Stance.REPORTED else {stance}
    for one in newest_first(known.current):
        same = one.stance in alike and slot_of(one) == slot and same_value(one.value, saying.claim.value)
        if same and one.status in CURRENT and not one.provisional and not outshines(saying.claim, one):
            return [saying.confirm(one, "said again"), *woken(one, known)]
    added = saying.add(_MANNER.get(stance, "it is yet to come"))
    return [added, *_given_up(saying, slot, known)]


def _given_up(saying: Saying, slot: Slot, known: Known) -> list[Change]:
    """Let the one plan of the same doing go that another takes the place of: "… to York instead"."""
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
    reason = "another plan took its place"
    return [
        Supersede(
            memory_id=one.id, successor=saying.key, relation=Relation.CHANGED, valid_until_us=ends_us, reason=reason
        )
    ]


def _doing(value: str | None) -> str:
    return value_key(value or "").partition(" ")[0]


def sharpened(saying: Saying, successor: str, lesser: Memory) -> Supersede:
    """Let a lesser form of the same saying give way: a plan, a faint word, a sentence that was not understood."""
    was_held = lesser.stance in FIRM and lesser.status is not Status.CHALLENGED
    held_until_us = saying.begins_us if was_held else begins_us(lesser)
    return Supersede(
        memory_id=lesser.id,
        successor=successor,
        relation=Relation.REFINED,
        valid_until_us=max(begins_us(lesser), held_until_us),
        reason="said again, with more certainty",
    )


def woken(twin: Memory, known: Known) -> list[Change]:
    """Take up again what was put away, when it is said again and nothing has taken its place."""
    if twin.status is not Status.ARCHIVED or opponents(twin, known.current):
        return []
    return [_set_active(twin, "said again")]


def _set_active(memory: Memory, reason: str) -> Change:
    return SetStatus(memory_id=memory.id, status=Status.ACTIVE, reason=reason)
