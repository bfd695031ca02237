"""What changed around a memory: the latest changes of mind, its neighbours in its slot, and what an undo brings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from credenda import limits
from credenda.errors import CredendaError
from credenda.interfaces.web.page import ChangeMark
from credenda.model.change import Actor, ChangeKind, ChangeRecord
from credenda.model.memory import HELD, Memory, Relation, Status
from credenda.model.query import SlotVersion
from credenda.model.report import UndoneMemory
from credenda.text.normalize import normalise_attribute, normalise_name

if TYPE_CHECKING:
    from credenda.interfaces.web.view import View


_SHOWN: Final = frozenset(ChangeKind) - {
    ChangeKind.ADD,
    ChangeKind.CONFIRM,
    ChangeKind.LINK,
    ChangeKind.RETAG,
    ChangeKind.REVISE,
    ChangeKind.REBUILD,
}
"""Changes of mind; the others add, or move what nobody reads."""
_LASTING: Final = frozenset({ChangeKind.DELETE, ChangeKind.REBUILD})
_JOINED: Final = frozenset({Relation.MERGED.value, Relation.DUPLICATE.value})


@dataclass(frozen=True, slots=True, kw_only=True)
class LatestChange:
    """A change, the memory that it is about, and the one that took its place."""

    change: ChangeRecord
    memory: Memory | None
    successor: Memory | None
    undo: ChangeMark | None
    """The change that brings the state before back; None where nothing does."""


def name_change(change: ChangeRecord) -> str:
    """Return the message that names the kind of a change."""
    return "change:merge" if _is_joined(change) else f"change:{change.kind.value}"


def list_latest_changes(view: View, most: int) -> Sequence[LatestChange]:
    """Return the latest changes of mind, the latest first."""
    found: Sequence[ChangeRecord] = view.call("changes", limit=limits.LATEST_CHANGES)
    undone = {one.cause for one in found if one.kind is ChangeKind.UNDO}
    wanted = [one for one in found if _is_of_interest(one)][:most]
    added = {one.memory_id: one for one in found if one.kind is ChangeKind.ADD}
    return [_load(view, one, added, undone) for one in wanted]


def _is_of_interest(change: ChangeRecord) -> bool:
    """Return whether a person would want to know: upkeep matters only where a person has chosen it."""
    return change.kind in _SHOWN and (
        change.actor is Actor.USER or not (change.kind is ChangeKind.SET_LAYER or _is_joined(change))
    )


def _is_joined(change: ChangeRecord) -> bool:
    return change.kind is ChangeKind.SUPERSEDE and str(change.after.get("relation")) in _JOINED


def _load(
    view: View, change: ChangeRecord, added: Mapping[str | None, ChangeRecord], undone: set[str | None]
) -> LatestChange:
    """Load a change; a replacement is undone with the value that came by it, which else would stay in doubt."""
    memory = _find(view, change.memory_id)
    successor = _find(view, change.after.get("superseded_by"))
    undo: ChangeMark | None = None
    if memory is not None and change.kind not in _LASTING and view.may("undo"):
        came = added.get(successor.id) if successor is not None else None
        first = came if came is not None and came.at_us == change.at_us else change
        name = first.memory_id or memory.id
        undo = ChangeMark(name, first.id) if not {change.id, first.id} & undone else None
    return LatestChange(change=change, memory=memory, successor=successor, undo=undo)


def _find(view: View, memory_id: object) -> Memory | None:
    if not isinstance(memory_id, str):
        return None
    try:
        return view.call("get", id=memory_id)
    except CredendaError:  # its words were deleted
        return None


# What came before and after a memory in its slot: other values, apart from other wordings of the same value.


_JOINED_NEIGHBOURS: Final = frozenset({Relation.MERGED, Relation.DUPLICATE})
"""Relations by which a memory goes on in another one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbours:
    """The values that a memory replaced and the wordings that it took in, each the newest first; and its successor.

    `is_same` says whether the successor has the same value in other words.
    """

    replaced: tuple[SlotVersion, ...] = ()
    merged: tuple[SlotVersion, ...] = ()
    successor: SlotVersion | None = None
    is_same: bool = False


def find_neighbours(memory_id: str, slot: Sequence[SlotVersion]) -> Neighbours:
    """Find in the versions of a slot, oldest first, what a memory replaced and what took its place.

    Merged memories stand between two values only as words: the search goes on through them.
    """
    known = {one.memory_id: one for one in slot}
    own = known.get(memory_id)
    if own is None:
        return Neighbours()
    replaced: list[SlotVersion] = []
    merged: list[SlotVersion] = []
    seen = {memory_id}
    waiting = [memory_id]
    while waiting:
        name = waiting.pop()
        for one in reversed(slot):
            if one.superseded_by != name or one.memory_id in seen:
                continue
            seen.add(one.memory_id)
            is_joined = _has_gone_on(one, known)
            (merged if is_joined else replaced).append(one)
            waiting += [one.memory_id] if is_joined else []
    return Neighbours(
        replaced=tuple(replaced),
        merged=tuple(merged),
        successor=_find_successor(own, known),
        is_same=_has_gone_on(own, known),
    )


def _has_gone_on(one: SlotVersion, known: Mapping[str, SlotVersion]) -> bool:
    """Return whether a memory ended only because another one says the same."""
    after = known.get(one.superseded_by or "")
    if after is None:
        return False
    is_equal = one.value is not None and one.value.casefold() == (after.value or "").casefold()
    return one.relation in _JOINED_NEIGHBOURS or (is_equal and one.denied == after.denied and one.scope == after.scope)


def _find_successor(own: SlotVersion, known: Mapping[str, SlotVersion]) -> SlotVersion | None:
    """Return the memory that took the place of one, in its latest wording."""
    found = known.get(own.superseded_by or "")
    seen: set[str] = set()
    while found is not None and found.memory_id not in seen and _has_gone_on(found, known):
        seen.add(found.memory_id)
        found = known.get(found.superseded_by or "")
    return found


# What an undo would bring about, as sentences of the catalogue with their values; the fields are left to a table.


_BELIEVED: Final = frozenset(one.value for one in HELD)
_ACTIVE: Final = Status.ACTIVE.value
_DOUBTED: Final = frozenset({Status.CHALLENGED.value})
_ENDING: Final = frozenset({"status", "valid_until", "relation", "superseded_by"})
"""Fields that a return or an ending sets, so that they need no sentence of their own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One sentence: a message of the catalogue, its values, and the memory that stands afterwards."""

    message: str
    memory: Memory
    values: Mapping[str, str] = field(default_factory=dict[str, str])
    words: Mapping[str, str] = field(default_factory=dict[str, str])
    """Values that are words of the catalogue themselves."""


def describe_undo(undone: Sequence[UndoneMemory], memories: Mapping[str, Memory]) -> Sequence[Outcome]:
    """Say for each memory that an undo changes what would stand then; `memories` are the present ones, by id."""
    known = [one for one in undone if one.id in memories]
    returning = [one for one in known if _is_believed(one.after) and not _is_believed(one.before)]
    leaving = {one.id: one for one in known if _is_believed(one.before) and not _is_believed(one.after)}
    doubted = [one.id for one in known if _read_status(one.before) == _ACTIVE and _read_status(one.after) in _DOUBTED]
    outcomes: list[Outcome] = []
    for one in returning:
        back = memories[one.id]
        beside = [memories[name] for name in (*leaving, *doubted) if _is_same_slot(memories[name], back)]
        if beside and beside[0].id in doubted:
            doubted.remove(beside[0].id)
            outcomes.append(_describe_doubt(back, beside[0]))
            continue
        instead = beside[0] if beside else None
        if instead is not None:
            del leaving[instead.id]
        outcomes.append(_describe_return(back, instead, _read_status(one.after)))
    outcomes += [Outcome(message="It would be in doubt", memory=memories[name]) for name in doubted]
    outcomes += [_describe_ending(memories[name], _read_status(one.after)) for name, one in leaving.items()]
    return [*outcomes, *(outcome for one in known for outcome in _describe_fields(memories[one.id], one))]


def _read_status(fields: Mapping[str, object]) -> str:
    return str(fields.get("status", ""))


def _is_believed(fields: Mapping[str, object]) -> bool:
    return _read_status(fields) in _BELIEVED


def _is_same_slot(one: Memory, other: Memory) -> bool:
    return _find_pair(one) is not None and _find_pair(one) == _find_pair(other) and one.value is not None


def _find_pair(memory: Memory) -> tuple[str, str] | None:
    if not memory.entity or not memory.attribute or memory.value is None:
        return None
    return normalise_name(memory.entity), normalise_attribute(memory.attribute)


def _describe_return(back: Memory, instead: Memory | None, status: str) -> Outcome:
    if instead is None or instead.value is None or back.value is None:
        message = "It would be believed again" if status == _ACTIVE else "It would be in doubt again"
        return Outcome(message=message, memory=back)
    slot = {"slot": f"{back.entity} · {back.attribute}", "now": instead.value, "then": back.value}
    if instead.value.casefold() == back.value.casefold():
        return Outcome(message="{slot}: {then} as before, in its earlier words", memory=back, values=slot)
    return Outcome(message="{slot}: {now} → {then} again", memory=back, values=slot)


def _describe_doubt(back: Memory, other: Memory) -> Outcome:
    values = {"slot": f"{back.entity} · {back.attribute}", "then": back.value or "", "now": other.value or ""}
    return Outcome(message="{slot}: {then} again, and {now} in doubt", memory=back, values=values)


def _describe_ending(memory: Memory, status: str) -> Outcome:
    return Outcome(
        message="It would not be believed any more; status: {status}", memory=memory, words={"status": status}
    )


def _describe_fields(memory: Memory, undone: UndoneMemory) -> list[Outcome]:
    """Say what becomes of the other fields; those without a sentence of their own are named together."""
    before, after = undone.before, undone.after
    names = [name for name in after if name not in _ENDING]
    outcomes: list[Outcome] = []
    if "status" in after and not _is_believed(after) and not _is_believed(before):
        outcomes.append(Outcome(message="Its status: {status}", memory=memory, words={"status": str(after["status"])}))
    for name in list(names):
        outcome = _describe_field(memory, name, after[name])
        if outcome is not None:
            names.remove(name)
            outcomes.append(outcome)
    if names:
        listed = ", ".join(name.replace("_", " ") for name in names)
        outcomes.append(Outcome(message="As before: {fields}", memory=memory, words={"fields": listed}))
    return outcomes


def _describe_field(memory: Memory, name: str, then: object) -> Outcome | None:
    match name:
        case "pinned":
            return Outcome(message="It would be pinned again" if then else "It would not be pinned", memory=memory)
        case "contested":
            message = "It would be contested again" if then else "It would not be contested any more"
            return Outcome(message=message, memory=memory)
        case "layer":
            return Outcome(message="It would be in the layer {layer} again", memory=memory, words={"layer": str(then)})
        case "confirmations" if isinstance(then, int):
            return Outcome(message="It would count as said {n} times", memory=memory, values={"n": str(then + 1)})
        case "text" if then:
            return Outcome(message="It would read again: {text}", memory=memory, values={"text": str(then)})
        case _:
            return None
