"""What came before and after a memory in its slot: other values, apart from other wordings of the same value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from credenda.model.memory import Relation
from credenda.model.query import SlotVersion

__all__ = ["Neighbours", "find_neighbours"]

_JOINED: Final = frozenset({Relation.MERGED, Relation.DUPLICATE})
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
    return one.relation in _JOINED or (is_equal and one.denied == after.denied and one.scope == after.scope)


def _find_successor(own: SlotVersion, known: Mapping[str, SlotVersion]) -> SlotVersion | None:
    """Return the memory that took the place of one, in its latest wording."""
    found = known.get(own.superseded_by or "")
    seen: set[str] = set()
    while found is not None and found.memory_id not in seen and _has_gone_on(found, known):
        seen.add(found.memory_id)
        found = known.get(found.superseded_by or "")
    return found
