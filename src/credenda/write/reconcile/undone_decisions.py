"""Which decision is not taken again, because a person took it back. Pure.

A decision that was taken back stays taken back on the same evidence, that is, the same event: when its job runs again,
when its claim is read anew, or when the same claim is repeated in it. Another saying is new evidence, and may decide.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from credenda.model.change import Add, Change, ChangeKind, ChangeRecord, Confirm, Contest, Forget, SetStatus, Supersede
from credenda.model.memory import Memory
from credenda.text.normalize import same_value, text_key
from credenda.write.corrections.log_view import is_in_force
from credenda.write.reconcile.slots import slot_of

__all__ = ["touched_by", "withheld"]

_KINDS: Final[Mapping[type, ChangeKind]] = {
    Confirm: ChangeKind.CONFIRM,
    Supersede: ChangeKind.SUPERSEDE,
    SetStatus: ChangeKind.SET_STATUS,
    Forget: ChangeKind.FORGET,
}


def touched_by(changes: Iterable[Change], *, again: bool) -> list[str]:
    """Name the memories whose log says whether a decision was taken back before.

    Where a decision adds or confirms, its event has evidence from then on: without any (`again` is False) it was not
    taken before, and only what takes something away, and leaves no evidence, has to be looked up.
    """
    kinds = (Supersede, SetStatus, Forget) if again else (SetStatus, Forget)
    names = {change.memory_id: None for change in changes if isinstance(change, kinds)}
    if again:
        names |= {name: None for change in changes if isinstance(change, Contest) for name in change.memory_ids}
    return [name for name in names if not name.startswith("new:")]


def withheld(
    changes: Sequence[Change], event_id: str, log: Mapping[str, Sequence[ChangeRecord]], resting: Sequence[Memory]
) -> bool:
    """Say whether a decision about an event was taken before and taken back.

    `log` is the log of the memories that the decision would move and of `resting`: those that rest on the event.
    """
    undone = {
        (record.kind, name)
        for name, records in log.items()
        for record in records
        if record.cause == event_id and record.kind is not ChangeKind.UNDO and not is_in_force(record, records)
    }
    return bool(undone) and any(_repeats(change, undone, resting) for change in changes)


def _repeats(change: Change, undone: set[tuple[ChangeKind, str]], resting: Sequence[Memory]) -> bool:
    if isinstance(change, Add):
        return any((ChangeKind.ADD, one.id) in undone and _says_the_same(change, one) for one in resting)
    if isinstance(change, Contest):
        return any((ChangeKind.CONTEST, name) in undone for name in change.memory_ids)
    kind = _KINDS.get(type(change))
    return kind is not None and (kind, getattr(change, "memory_id", "")) in undone


def _says_the_same(change: Add, memory: Memory) -> bool:
    draft = change.draft
    if text_key(draft.text) == text_key(memory.text):
        return True
    slot = slot_of(draft)
    return slot is not None and slot == slot_of(memory) and same_value(draft.value, memory.value)
