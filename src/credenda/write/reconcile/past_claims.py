"""Claims about the past: values that had ended when they were stated, and claims imported late. Pure.

Events may be imported after later ones. Their values were true in their time and never replace later values.
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

_CUT: Final = "another value already held by then"
_TRUE_ONCE: Final = frozenset({Relation.CHANGED, Relation.REFINED})
"""Relations of values that were true in their time; a corrected value never was."""


def already_over(scene: Scene) -> list[Change] | None:
    """Add a value that had already ended: "until 2022 I worked at …"; the same active value ends then."""
    until_us = scene.claim.valid_until_us
    if not scene.saying.over or until_us is None:
        return None
    saying, reason = scene.saying, "stated as past"
    ended = [one for one in scene.twins if begins_us(one) <= until_us and scene.settled(one)]
    if ended:
        return [
            change
            for one in ended
            for change in (saying.confirm(one, "restated as past"), _ends(one.id, None, until_us, reason))
        ]
    told = next((one for one in scene.past if same_meaning(scene.claim, one) and one.valid_until_us == until_us), None)
    if told is not None:
        return [saying.confirm(told, "restated")]
    add = saying.add(reason, begins_us=min(saying.begins_us, until_us))
    return [add, _ends(add.key, None, until_us, reason)]


def told_late(scene: Scene) -> list[Change] | None:
    """Insert a claim about an earlier time into the slot's history; the later value stays."""
    later = _next(scene)
    if later is None:
        return None
    saying = scene.saying
    same = _covering(scene) or (later if same_meaning(scene.claim, later) else None)
    if same is not None and not outshines(scene.claim, same):
        return [saying.confirm(same, "also stated for an earlier time")]
    if same is not None and same.status in CURRENT:
        return None
    reason = f"stated for a time before {quoted(label(later))}"
    until_us = max(saying.begins_us, begins_us(later))
    cut = [_ends(one.id, saying.key, saying.begins_us, _CUT) for one in _cut_short(scene)]
    return [saying.add(reason), _ends(saying.key, later.id, until_us, reason), *cut]


def _cut_short(scene: Scene) -> list[Memory]:
    """Find the periods that span the claim's time, because another value is now known for that time."""
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
    """Find the next value of the slot after the claim's time; None for a claim about the present.

    A correction is about the present whatever date it names, and so is a restatement of the active value.
    """
    occurred_us = scene.saying.occasion.occurred_us
    present = any(one.status is Status.ACTIVE and begins_us(one) <= occurred_us for one in scene.twins)
    if scene.claim.move is Move.CORRECT or present:
        return None
    later = [one for one in _held_in_turn(scene) if begins_us(one) > scene.moment_us]
    return min(later, key=lambda one: (begins_us(one), one.id), default=None)


def _covering(scene: Scene) -> Memory | None:
    """Find a period of the same value that covers the claim's time."""
    same = (one for one in _held_in_turn(scene) if same_meaning(scene.claim, one))
    return next((one for one in same if _covers(one, scene)), None)


def _covers(held: Memory, scene: Scene) -> bool:
    """Return whether a period spans the claim's time, or begins exactly then."""
    from_us, until_us = begins_us(held), held.valid_until_us
    spans = from_us <= scene.moment_us and (until_us is None or scene.moment_us < until_us)
    return spans or from_us == scene.saying.begins_us


def _held_in_turn(scene: Scene) -> list[Memory]:
    now_us = scene.saying.occasion.now_us
    held = [one for one in scene.twins + scene.rivals if one.status is Status.ACTIVE and has_begun(one, now_us)]
    past = [one for one in scene.past if one.relation in _TRUE_ONCE]
    return [one for one in held + past if same_meaning(scene.claim, one) or contradicts(scene.claim, one)]
