"""Links between hits that may be an older and a newer value of one thing. Pure.

A link changes no status. It puts the newest hit first and names it on the older ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from credenda.model.attributes import get_attribute, has_same_kind
from credenda.model.memory import Cardinality, Memory, Stance, Status
from credenda.model.query import Hit
from credenda.text.normalize import is_same_value, normalise_attribute, normalise_name

__all__ = ["link_newer", "put_newest_first"]


class _Compared(NamedTuple):
    """A hit prepared for comparison: hits of one `key` are about the same speaker, slot and scope."""

    id: str
    time: tuple[int, str]
    key: tuple[str | None, ...]
    value: str


def link_newer(hits: Sequence[Hit]) -> tuple[Hit, ...]:
    """Name on each hit the newest hit that may replace it, and put that one before it."""
    groups: dict[tuple[str | None, ...], list[_Compared]] = {}
    for hit in hits:
        if hit.memory is not None and (one := _prepare(hit.id, hit.memory)) is not None:
            groups.setdefault(one.key, []).append(one)
    newer: dict[str, str] = {}
    for group in groups.values():
        group.sort(key=lambda one: one.time, reverse=True)
        for at, old in enumerate(group):
            found = next((one for one in group[:at] if one.time[0] > old.time[0] and _may_replace(one, old)), None)
            if found is not None:
                newer[old.id] = found.id
    if not newer:
        return tuple(hits)
    return tuple(put_newest_first([replace(hit, newer=newer[hit.id]) if hit.id in newer else hit for hit in hits]))


def put_newest_first(hits: Sequence[Hit]) -> list[Hit]:
    """Move each newer hit before the first hit that names it; the others keep their order."""
    by_id, placed = {hit.id: hit for hit in hits}, dict[str, Hit]()
    for hit in hits:
        if hit.newer is not None and hit.newer in by_id:
            placed.setdefault(hit.newer, by_id[hit.newer])
        placed.setdefault(hit.id, hit)
    return list(placed.values())


def _prepare(name: str, memory: Memory) -> _Compared | None:
    """Prepare an active, asserted memory with a value of an attribute that holds no set; else None."""
    if memory.status is not Status.ACTIVE or memory.stance is not Stance.ASSERTED or memory.contested:
        return None
    attribute = normalise_attribute(memory.attribute or "")
    if not (memory.entity and memory.value and attribute) or get_attribute(attribute).cardinality is Cardinality.SET:
        return None
    time = (memory.created_us if memory.valid_from_us is None else memory.valid_from_us), name
    key = (normalise_name(memory.speaker), memory.scope, normalise_name(memory.entity), attribute)
    return _Compared(name, time, key, memory.value)


def _may_replace(new: _Compared, old: _Compared) -> bool:
    return not is_same_value(new.value, old.value) and has_same_kind(new.value, old.value)
