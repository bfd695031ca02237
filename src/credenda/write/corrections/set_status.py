"""Decide the changes of a status set by the user, such as promoting a candidate. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from credenda.errors import Conflict, Invalid
from credenda.model.change import Change, Confirm, Forget, Restore, SetStatus, Supersede
from credenda.model.memory import Memory, Relation, Status
from credenda.model.transitions import TRANSITIONS, check_transition
from credenda.write.reconcile.slot_state import opponents
from credenda.write.reconcile.slots import begins_us, label, same_meaning, slot_of
from credenda.write.reconcile.wording import because

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
        return [back, *_makes_room(memory, slot_rows, now_us)] if status is Status.ACTIVE else [back]
    check_transition(memory.status, status)
    if status is Status.FORGOTTEN:
        return [Forget(memory_id=memory.id, reason=reason)]
    step = SetStatus(memory_id=memory.id, status=status, reason=reason)
    if status is not Status.ACTIVE:
        return [step]
    twin = next((one for one in slot_rows if _is_twin(memory, one)), None)
    if twin is not None:
        return _into(memory, twin, reason, now_us)
    return [step, *_makes_room(memory, slot_rows, now_us)]


def _is_twin(memory: Memory, other: Memory) -> bool:
    same_slot = slot_of(memory) is not None and slot_of(other) == slot_of(memory)
    return same_slot and other.id != memory.id and other.status is Status.ACTIVE and same_meaning(memory, other)


def _into(memory: Memory, twin: Memory, reason: str, now_us: int) -> list[Change]:
    if Status.MERGED not in TRANSITIONS[memory.status]:
        why = f"{twin.id} already has its value"
        raise Conflict(f"{memory.id} cannot become active", why=why, fix="forget that one first", memory_id=memory.id)
    return [
        Supersede(
            memory_id=memory.id,
            successor=twin.id,
            relation=Relation.DUPLICATE,
            valid_until_us=max(begins_us(memory), now_us),
            reason=reason,
        ),
        Confirm(memory_id=twin.id, support=(), reason=reason),
    ]


def _makes_room(memory: Memory, slot_rows: Sequence[Memory], now_us: int) -> list[Change]:
    rivals = [one for one in opponents(memory, slot_rows) if not (one.contested and memory.contested)]
    return [
        Supersede(
            memory_id=one.id,
            successor=memory.id,
            relation=Relation.CHANGED,
            valid_until_us=max(begins_us(one), now_us),
            reason=because(Relation.CHANGED, label(memory), label(one)),
        )
        for one in rivals
    ]
