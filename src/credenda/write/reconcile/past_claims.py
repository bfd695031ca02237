"""Claims about a time before the present belief: backfill, and what was over when it was told. Pure.

Events may be imported long after later ones. What they say was true in its time; it never replaces what came after.
"""

from __future__ import annotations

from typing import Final

from credenda.model.change import Change, Supersede
from credenda.model.claim import Move
from credenda.model.memory import Memory, Relation, Status
from credenda.write.reconcile.slot_state import Scene, has_begun
from credenda.write.reconcile.slots import CURRENT, begins_us, contradicts, label, outshines, same_meaning, weaker
from credenda.write.reconcile.wording import quoted

__all__ = ["already_over", "told_late"]

_CUT: Final = "another value is known to have held by then"
_TRUE_ONCE: Final = frozenset({Relation.CHANGED, Relation.REFINED})
"""Relations of what was true in its time; a corrected value never was."""


def already_over(scene: Scene) -> list[Change] | None:
    """Keep as past what had ended when it was told: "until 2022 I worked at …"; a twin that still stood ends then."""
    until_us = scene.claim.valid_until_us
    if not scene.saying.over or until_us is None:
        return None
    saying, reason = scene.saying, "it was told as past"
    ended = [one for one in scene.twins if begins_us(one) <= until_us and scene.settled(one)]
    if ended:
        return [
            change
            for one in ended
            for change in (saying.confirm(one, "said again, as past"), _ends(one.id, None, until_us, reason))
        ]
    told = next((one for one in scene.past if same_meaning(scene.claim, one) and one.valid_until_us == until_us), None)
    if told is not None:
        return [saying.confirm(told, "told again")]
    add = saying.add(reason, begins_us=min(saying.begins_us, until_us))
    return [add, _ends(add.key, None, until_us, reason)]


def told_late(scene: Scene) -> list[Change] | None:
    """Put a claim about an earlier time in its place among what the slot held; the later belief stands."""
    later = _next(scene)
    if later is None:
        return None
    saying = scene.saying
    same = _covering(scene) or (later if same_meaning(scene.claim, later) else None)
    if same is not None and not outshines(scene.claim, same):
        return [saying.confirm(same, "said earlier, too")]
    if same is not None and same.status in CURRENT:
        return None
    reason = f"said of a time before {quoted(label(later))}"
    until_us = max(saying.begins_us, begins_us(later))
    cut = [_ends(one.id, saying.key, saying.begins_us, _CUT) for one in _cut_short(scene)]
    return [saying.add(reason), _ends(saying.key, later.id, until_us, reason), *cut]


def _cut_short(scene: Scene) -> list[Memory]:
    """Find the periods that span the claim's time: its slot held something else by then, as only now is told."""
    begins, trust = scene.saying.begins_us, scene.saying.occasion.trust
    return [
        one
        for one in scene.past
        if one.relation is Relation.CHANGED
        and contradicts(scene.claim, one)
        and begins_us(one) < begins < (one.valid_until_us or 0)
        and weaker(scene.claim, trust, one) is None
    ]


def _ends(memory_id: str, successor: str | None, until_us: int, reason: str) -> Supersede:
    return Supersede(
        memory_id=memory_id,
        successor=successor,
        relation=Relation.CHANGED,
        valid_until_us=until_us,
        reason=reason,
    )


def _next(scene: Scene) -> Memory | None:
    """Find what the slot held next after the claim's time; None for a claim about the present.

    A correction is about the present whatever date it names, and so are the words for a value that is held now.
    """
    occurred_us = scene.saying.occasion.occurred_us
    present = any(one.status is Status.ACTIVE and begins_us(one) <= occurred_us for one in scene.twins)
    if scene.claim.move is Move.CORRECT or present:
        return None
    later = [one for one in _held_in_turn(scene) if begins_us(one) > scene.moment_us]
    return min(later, key=lambda one: (begins_us(one), one.id), default=None)


def _covering(scene: Scene) -> Memory | None:
    """Find a period in which the slot is already known to have held this."""
    same = (one for one in _held_in_turn(scene) if same_meaning(scene.claim, one))
    return next((one for one in same if _covers(one, scene)), None)


def _covers(held: Memory, scene: Scene) -> bool:
    """Whether a period spans the claim's time, or begins at the very time that the claim states."""
    from_us, until_us = begins_us(held), held.valid_until_us
    spans = from_us <= scene.moment_us and (until_us is None or scene.moment_us < until_us)
    return spans or from_us == scene.saying.begins_us


def _held_in_turn(scene: Scene) -> list[Memory]:
    now_us = scene.saying.occasion.now_us
    held = [one for one in scene.twins + scene.rivals if one.status is Status.ACTIVE and has_begun(one, now_us)]
    past = [one for one in scene.past if one.relation in _TRUE_ONCE]
    return [one for one in held + past if same_meaning(scene.claim, one) or contradicts(scene.claim, one)]
