"""Detect changes that the user has already undone, so that they are not repeated. Pure.

An undone decision is not repeated on the same evidence, that is the same event: neither when its job runs again, nor
when its claim is re-extracted or repeated in the event. Another statement is new evidence, and may decide again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from credenda.model.change import Add, Change, ChangeKind, ChangeRecord, Confirm, Contest, Forget, SetStatus, Supersede
from credenda.model.memory import Memory
from credenda.text.normalize import is_same_value, normalise_text
from credenda.write.corrections.undo import is_in_force
from credenda.write.reconcile.slots import get_slot

_KINDS: Final[Mapping[type, ChangeKind]] = {
    Confirm: ChangeKind.CONFIRM,
    Supersede: ChangeKind.SUPERSEDE,
    SetStatus: ChangeKind.SET_STATUS,
    Forget: ChangeKind.FORGET,
}


def list_memories_to_check(changes: Iterable[Change], *, again: bool) -> list[str]:
    """Return the memories whose log tells whether a decision was undone before.

    A decision that adds or confirms leaves evidence of its event. Without evidence (`again` is False) only changes that
    remove something have to be looked up.
    """
    kinds = (Supersede, SetStatus, Forget) if again else (SetStatus, Forget)
    names = {change.memory_id: None for change in changes if isinstance(change, kinds)}
    if again:
        names |= {name: None for change in changes if isinstance(change, Contest) for name in change.memory_ids}
    return [name for name in names if not name.startswith("new:")]


def is_undone_decision(
    changes: Sequence[Change], event_id: str, log: Mapping[str, Sequence[ChangeRecord]], resting: Sequence[Memory]
) -> bool:
    """Return whether a decision about an event was made and undone before.

    `log` holds the log of the memories that the decision would change and of `resting`, the memories that rest on the
    event.
    """
    undone = {
        (record.kind, name)
        for name, records in log.items()
        for record in records
        if record.cause == event_id and record.kind is not ChangeKind.UNDO and not is_in_force(record, records)
    }
    return bool(undone) and any(_is_repeat(change, undone, resting) for change in changes)


def _is_repeat(change: Change, undone: set[tuple[ChangeKind, str]], resting: Sequence[Memory]) -> bool:
    if isinstance(change, Add):
        return any((ChangeKind.ADD, one.id) in undone and _is_same_statement(change, one) for one in resting)
    if isinstance(change, Contest):
        return any((ChangeKind.CONTEST, name) in undone for name in change.memory_ids)
    kind = _KINDS.get(type(change))
    return kind is not None and (kind, getattr(change, "memory_id", "")) in undone


def _is_same_statement(change: Add, memory: Memory) -> bool:
    draft = change.draft
    if normalise_text(draft.text) == normalise_text(memory.text):
        return True
    slot = get_slot(draft)
    return slot is not None and slot == get_slot(memory) and is_same_value(draft.value, memory.value)
