"""Claims that compete for no slot: taken back, without a slot, or not meant as how things are."""

from __future__ import annotations

from typing import Final

from credenda.model.change import Change, Forget, SetStatus, Supersede
from credenda.model.memory import Memory, Relation, Stance, Status
from credenda.write.known import Known
from credenda.write.saying import Saying
from credenda.write.scene import Scene, newest_first, same_words
from credenda.write.slots import CURRENT, FIRM, begins_us, outshines, slot_of

__all__ = ["beside", "same_text_or_new", "sharpened", "taken_back", "woken"]


def taken_back(saying: Saying, known: Known) -> list[Change]:
    """"Never mind": forget what the previous statement gave, and hold again what that had replaced.

    A memory that the statement only confirmed rests on other words, and stays.
    """
    reason = "taken back by the speaker"
    given = [one for one in known.previous if one.status in CURRENT and not one.confirmations]
    gone = {one.id for one in given if one.speaker == saying.claim.speaker}
    replaced = [one for one in newest_first(known.past) if one.superseded_by in gone]
    return [
        *(Forget(memory_id=one.id, reason=reason) for one in given if one.id in gone),
        *(SetStatus(memory_id=one.id, status=Status.ACTIVE, reason=f"what replaced it was {reason}") for one in replaced),
    ]


def same_text_or_new(saying: Saying, known: Known) -> list[Change]:
    """A claim without a slot is known only by its words (R-075)."""
    twins = same_words(saying.claim, known.current)
    if not twins:
        return [saying.add("said for the first time")]
    best = max(twins, key=lambda one: (not one.provisional, slot_of(one) is not None, begins_us(one), one.id))
    read_better = best.provisional and not saying.claim.provisional
    if outshines(saying.claim, best) or read_better:
        return [saying.add("said again, with more certainty"), sharpened(saying.key, best)]
    return [saying.confirm(best, "said again in the same words"), *woken(best)]


def beside(scene: Scene) -> list[Change]:
    """Plans, reports, suppositions and games are kept beside what is believed; they never replace or doubt it."""
    saying, claim = scene.saying, scene.claim
    alike = [one for one in scene.wishes if one.stance is claim.stance]
    reported = list(scene.twins) if claim.stance in FIRM else []
    if claim.stance is Stance.REPORTED:
        reported = [one for one in scene.known.current if _reports(scene, one)]
    twin = next((one for one in reported + alike if not outshines(claim, one)), None)
    if twin is not None:
        return [saying.confirm(twin, "said again"), *woken(twin)]
    return [saying.add(_MANNER.get(claim.stance, "it is yet to come"))]


_MANNER: Final = {
    Stance.REPORTED: "reported, not known at first hand",
    Stance.PLANNED: "planned, not yet so",
    Stance.CONSIDERED: "only considered",
    Stance.HYPOTHETICAL: "only supposed",
    Stance.ROLE_PLAY: "said in a game",
    Stance.SARCASTIC: "not meant in earnest",
}


def _reports(scene: Scene, row: Memory) -> bool:
    same_value = same_meaning(scene.claim, row) or (row.stance is Stance.ASSERTED and row in scene.twins)
    return row.status in CURRENT and slot_of(row) == scene.slot and same_value
