"""Find slots that flip-flop, from their replaced values. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from credenda.clock import DAY_US
from credenda.limits import CONTEST_SUPERSESSIONS
from credenda.model.contest import ContestCase, ContestState, SlotLoop
from credenda.model.memory import Layer, Memory, Relation, Slot
from credenda.write.reconcile.contest_trigger import get_contest_slot
from credenda.write.reconcile.slots import ASSERTIVE_STANCES, display_value, get_slot, get_valid_from_us

__all__ = ["find_slot_loops"]

_REPLACED = frozenset({Relation.CHANGED, Relation.CORRECTED})


def find_slot_loops(
    replaced: Iterable[Memory], held: Iterable[Memory], contests: Iterable[ContestCase], *, now_us: int, days: int
) -> list[SlotLoop]:
    """Find the slots in which at least three values were replaced in the last `days`, the worst first (R-085).

    `replaced` are superseded memories, `held` the active ones, whose values end the sequence. Values of an open contest
    count as replaced.
    """
    by_slot: dict[Slot, list[Memory]] = {}
    for one in replaced:
        slot, until_us = get_slot(one), one.valid_until_us
        if one.layer is Layer.CODEBASE:
            continue  # edits of a file are no flip-flops
        recent = until_us is not None and now_us - days * DAY_US <= until_us <= now_us
        if slot is not None and recent and one.relation in _REPLACED and one.stance in ASSERTIVE_STANCES:
            by_slot.setdefault(slot, []).append(one)
    now_held: dict[Slot, list[Memory]] = {}
    for one in held:
        slot = get_slot(one)
        if slot is not None and one.stance in ASSERTIVE_STANCES:
            now_held.setdefault(slot, []).append(one)
    asked: dict[tuple[object, ...], str] = {
        get_contest_slot(one): one.id for one in contests if one.state is ContestState.OPEN
    }
    found = [
        _describe_loop(slot, gone, now_held.get(slot, []), asked.get(tuple(slot)))
        for slot, gone in by_slot.items()
        if len(gone) + _count_contested(now_held.get(slot, [])) >= CONTEST_SUPERSESSIONS
    ]
    return sorted(found, key=lambda one: (-one.superseded_count, -one.last_superseded_us, one.entity, one.attribute))


def _count_contested(held: list[Memory]) -> int:
    """Count the replacements that a contest prevented."""
    return max(0, sum(one.contested for one in held) - 1)


def _describe_loop(slot: Slot, gone: list[Memory], held: list[Memory], contest_id: str | None) -> SlotLoop:
    ordered = sorted([*gone, *held], key=lambda one: (get_valid_from_us(one), one.created_us, one.id))
    return SlotLoop(
        speaker=slot.speaker,
        entity=slot.entity,
        attribute=slot.attribute,
        scope=slot.scope,
        superseded_count=len(gone) + _count_contested(held),
        first_seen_us=min(get_valid_from_us(one) for one in gone),
        last_superseded_us=max(one.valid_until_us or 0 for one in gone),
        values=tuple(map(display_value, ordered)),
        contest_id=contest_id,
    )
