"""Decide the changes of a status set by the user, such as promoting a candidate. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from credenda.errors import Conflict, Invalid
from credenda.model.change import Change, Confirm, Forget, Restore, SetStatus, Supersede
from credenda.model.memory import TRANSITIONS, Memory, Relation, Status, check_transition
from credenda.write.reconcile.slot_state import find_conflicting
from credenda.write.reconcile.slots import display_value, get_slot, get_valid_from_us, has_same_meaning
from credenda.write.reconcile.wording import explain_replacement

__all__ = ["decide_status"]


def decide_status(
    memory: Memory, status: Status, reason: str, *, slot_rows: Sequence[Memory], now_us: int
) -> list[Change]:
    """Set the status of a memory; the same status changes nothing.

    A memory that becomes active supersedes the conflicting active values of its slot, unless both belong to a contest.
    If its value is active already, it is merged into that memory. `slot_rows` are the memories of its pair. Raises
    `Conflict` for an illegal transition and `Invalid` for `deleted`, which cannot be set.
    """
    if status is Status.DELETED:
        raise Invalid("the status deleted cannot be set", why="a deletion also redacts the text", fix="use delete")
    if status is memory.status:
        return []
    if memory.status is Status.FORGOTTEN:
        back = Restore(memory_id=memory.id, status=status, reason=reason)
        return [back, *_supersede_conflicting(memory, slot_rows, now_us)] if status is Status.ACTIVE else [back]
    check_transition(memory.status, status)
    if status is Status.FORGOTTEN:
        return [Forget(memory_id=memory.id, reason=reason)]
    step = SetStatus(memory_id=memory.id, status=status, reason=reason)
    if status is not Status.ACTIVE:
        return [step]
    twin = next((one for one in slot_rows if _is_same_value(memory, one)), None)
    if twin is not None:
        return _merge_into(memory, twin, reason, now_us)
    return [step, *_supersede_conflicting(memory, slot_rows, now_us)]


def _is_same_value(memory: Memory, other: Memory) -> bool:
    same_slot = get_slot(memory) is not None and get_slot(other) == get_slot(memory)
    return same_slot and other.id != memory.id and other.status is Status.ACTIVE and has_same_meaning(memory, other)


def _merge_into(memory: Memory, twin: Memory, reason: str, now_us: int) -> list[Change]:
    if Status.MERGED not in TRANSITIONS[memory.status]:
        why = f"{twin.id} already has its value"
        raise Conflict(f"{memory.id} cannot become active", why=why, fix="forget that one first", memory_id=memory.id)
    return [
        Supersede(
            memory_id=memory.id,
            successor=twin.id,
            relation=Relation.DUPLICATE,
            valid_until_us=max(get_valid_from_us(memory), now_us),
            reason=reason,
        ),
        Confirm(memory_id=twin.id, support=(), reason=reason),
    ]


def _supersede_conflicting(memory: Memory, slot_rows: Sequence[Memory], now_us: int) -> list[Change]:
    rivals = [one for one in find_conflicting(memory, slot_rows) if not (one.contested and memory.contested)]
    return [
        Supersede(
            memory_id=one.id,
            successor=memory.id,
            relation=Relation.CHANGED,
            valid_until_us=max(get_valid_from_us(one), now_us),
            reason=explain_replacement(Relation.CHANGED, display_value(memory), display_value(one)),
        )
        for one in rivals
    ]
