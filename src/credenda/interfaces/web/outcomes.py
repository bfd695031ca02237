"""What an undo would bring about, as sentences of the catalogue with their values; the fields are left to a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from credenda.model.memory import HELD, Memory, Status
from credenda.model.report import UndoneMemory
from credenda.text.normalize import normalise_attribute, normalise_name

__all__ = ["Outcome", "describe_undo"]

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
