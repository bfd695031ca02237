"""The latest changes of mind: replacements, answers and the like, each with the words that it is about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from credenda import limits
from credenda.errors import CredendaError
from credenda.interfaces.web.page import ChangeMark
from credenda.model.change import Actor, ChangeKind, ChangeRecord
from credenda.model.memory import Memory, Relation

if TYPE_CHECKING:
    from credenda.interfaces.web.view import View

__all__ = ["LatestChange", "list_latest_changes", "name_change"]

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
    return change.kind in _SHOWN and (change.actor is Actor.USER or not _is_upkeep(change))


def _is_upkeep(change: ChangeRecord) -> bool:
    """Return whether a change moves a memory to another layer, or joins it with another of the same words."""
    return change.kind is ChangeKind.SET_LAYER or _is_joined(change)


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
