"""Claims about the past: values that had ended when they were stated, and claims imported late. Pure.

Events may be imported after later ones. Their values were true in their time and never replace later values.
"""

from __future__ import annotations

from typing import Final

from credenda.model.change import Change, Supersede
from credenda.model.claim import UpdateKind
from credenda.model.memory import Memory, Relation, Status
from credenda.write.reconcile.slot_state import SlotState, has_begun
from credenda.write.reconcile.slots import (
    CURRENT_STATUSES,
    display_value,
    find_weakness,
    get_slot,
    get_valid_from_us,
    has_same_meaning,
    is_denial,
    is_in_conflict,
    is_newly_visible,
)
from credenda.write.reconcile.wording import quote_value

__all__ = ["add_ended_claim", "insert_past_claim"]

_CUT: Final = "another value already held by then"
_TRUE_ONCE: Final = frozenset({Relation.CHANGED, Relation.REFINED})
"""Relations of values that were true in their time; a corrected value never was."""


def add_ended_claim(scene: SlotState) -> list[Change] | None:
    """Add a value that had already ended: "until 2022 I worked at …"; the same active value ends then."""
    until_us = scene.claim.valid_until_us
    if not scene.candidate.over or until_us is None:
        return None
    saying, reason = scene.candidate, "stated as past"
    ended = [one for one in scene.same if get_valid_from_us(one) <= until_us and scene.settled(one)]
    if ended:
        return [
            change
            for one in ended
            for change in (saying.confirm(one, "restated as past"), _end_memory(one.id, None, until_us, reason))
        ]
    told = next(
        (one for one in scene.past if has_same_meaning(scene.claim, one) and one.valid_until_us == until_us), None
    )
    if told is not None:
        return [saying.confirm(told, "restated")]
    add = saying.add(reason, begins_us=min(saying.begins_us, until_us))
    return [add, _end_memory(add.key, _find_heir(scene, until_us), until_us, reason)]


def _find_heir(scene: SlotState, until_us: int) -> str | None:
    """Find the only value of the slot that began when the claim's ended: 85 % of "from 60 % to 85 %"."""
    held = [one for one in scene.known.current if one.status is Status.ACTIVE and get_slot(one) == scene.slot]
    began = [one.id for one in held if get_valid_from_us(one) == until_us and not is_denial(one)]
    return began[0] if len(began) == 1 else None


def insert_past_claim(scene: SlotState) -> list[Change] | None:
    """Insert a claim about an earlier time into the slot's history; the later value stays."""
    later = _find_next(scene)
    if later is None:
        return None
    saying = scene.candidate
    same = _find_covering(scene) or (later if has_same_meaning(scene.claim, later) else None)
    if same is not None and not is_newly_visible(scene.claim, same):
        return [saying.confirm(same, "also stated for an earlier time")]
    if same is not None and same.status in CURRENT_STATUSES:
        return None
    reason = f"stated for a time before {quote_value(display_value(later))}"
    until_us = max(saying.begins_us, get_valid_from_us(later))
    cut = [_end_memory(one.id, saying.key, saying.begins_us, _CUT) for one in _find_cut_periods(scene)]
    return [saying.add(reason), _end_memory(saying.key, later.id, until_us, reason), *cut]


def _find_cut_periods(scene: SlotState) -> list[Memory]:
    """Find the periods that span the claim's time, because another value is now known for that time."""
    begins, trust = scene.candidate.begins_us, scene.candidate.occasion.trust
    return [
        one
        for one in scene.past
        if one.relation is Relation.CHANGED
        and is_in_conflict(scene.claim, one)
        and get_valid_from_us(one) < begins < (one.valid_until_us or 0)
        and find_weakness(scene.claim, trust, one) is None
    ]


def _end_memory(memory_id: str, successor: str | None, until_us: int, reason: str) -> Supersede:
    return Supersede(
        memory_id=memory_id,
        successor=successor,
        relation=Relation.CHANGED,
        valid_until_us=until_us,
        reason=reason,
    )


def _find_next(scene: SlotState) -> Memory | None:
    """Find the next value of the slot after the claim's time; None for a claim about the present.

    A correction is about the present whatever date it names, and so is a restatement of the active value.
    """
    occurred_us = scene.candidate.occasion.occurred_us
    present = any(one.status is Status.ACTIVE and get_valid_from_us(one) <= occurred_us for one in scene.same)
    if scene.claim.move is UpdateKind.CORRECT or present:
        return None
    later = [one for one in _list_periods(scene) if get_valid_from_us(one) > scene.moment_us]
    return min(later, key=lambda one: (get_valid_from_us(one), one.id), default=None)


def _find_covering(scene: SlotState) -> Memory | None:
    """Find a period of the same value that covers the claim's time."""
    same = (one for one in _list_periods(scene) if has_same_meaning(scene.claim, one))
    return next((one for one in same if _is_covering(one, scene)), None)


def _is_covering(held: Memory, scene: SlotState) -> bool:
    """Return whether a period spans the claim's time, or begins exactly then."""
    from_us, until_us = get_valid_from_us(held), held.valid_until_us
    spans = from_us <= scene.moment_us and (until_us is None or scene.moment_us < until_us)
    return spans or from_us == scene.candidate.begins_us


def _list_periods(scene: SlotState) -> list[Memory]:
    now_us = scene.candidate.occasion.now_us
    held = [one for one in scene.same + scene.conflicting if one.status is Status.ACTIVE and has_begun(one, now_us)]
    past = [one for one in scene.past if one.relation in _TRUE_ONCE]
    return [one for one in held + past if has_same_meaning(scene.claim, one) or is_in_conflict(scene.claim, one)]
