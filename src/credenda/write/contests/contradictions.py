"""Find the earlier values that a memory contradicts, and build the contest about them. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from credenda.limits import CONTEST_MEMBERS
from credenda.model.change import Contest
from credenda.model.contest import ContestCase, ContestState
from credenda.model.memory import Memory, Relation, Slot, Status
from credenda.text.normalize import normalise_name, normalise_value
from credenda.write.reconcile.contest_trigger import format_question, get_contest_slot
from credenda.write.reconcile.slot_state import find_conflicting, sort_newest_first
from credenda.write.reconcile.slots import display_value, get_slot

__all__ = ["build_contradiction", "find_contradicted"]


def find_contradicted(memory: Memory, rows: Iterable[Memory]) -> list[Memory]:
    """Return the memories of the slot that a memory contradicts without saying so, the newest first.

    Those are the active ones of a challenged memory, and the ones that an active memory has replaced although its text
    does not name their value. `rows` are the memories with its entity and attribute.
    """
    known = list(rows)
    match memory.status:
        case Status.CHALLENGED:
            return sort_newest_first(find_conflicting(memory, known))
        case Status.ACTIVE:
            return sort_newest_first(one for one in known if _is_replaced_unnamed(one, memory))
        case _:
            return []


def _is_replaced_unnamed(one: Memory, successor: Memory) -> bool:
    replaced = one.superseded_by == successor.id and one.status is Status.SUPERSEDED
    return replaced and one.relation is Relation.CHANGED and not _has_words(successor.text, one.value or "")


def _has_words(text: str, value: str) -> bool:
    return f" {normalise_name(value)} " in f" {normalise_name(text)} "


def build_contradiction(
    memory: Memory, contradicted: Iterable[Memory], contests: Iterable[ContestCase], reason: str
) -> Contest | None:
    """Build the contest between a memory and those that it contradicts, the newest last; None where there are none.

    It includes the values of a contest that is already open in the slot.
    """
    slot, others = get_slot(memory), list(contradicted)
    if slot is None or not others:
        return None
    members = [*others[: CONTEST_MEMBERS - 1][::-1], memory]
    asked = next((one for one in contests if _is_open_in(one, slot)), None)
    ids = [*(asked.memory_ids if asked else ()), *(one.id for one in members)]
    values = [*(asked.values if asked else ()), *map(display_value, members)]
    told = tuple({normalise_value(value): value for value in values}.values())
    return Contest(
        slot=slot,
        memory_ids=tuple(dict.fromkeys(ids)),
        values=told,
        question=format_question(slot, told),
        reason=reason,
    )


def _is_open_in(contest: ContestCase, slot: Slot) -> bool:
    return contest.state is ContestState.OPEN and get_contest_slot(contest) == slot
