"""Links between hits that may be an older and a newer value of one thing. Pure.

A link changes no status: only an identified value is ever retired (decision 0056). It puts the newest hit first and
names it on the older ones.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from credenda.model.attributes import get_attribute, has_same_kind
from credenda.model.memory import Cardinality, Memory, Stance, Status
from credenda.model.query import Hit
from credenda.text.normalize import is_same_value, normalise_attribute, normalise_name
from credenda.text.stopwords import STOP_WORDS

__all__ = ["link_newer", "put_newest_first"]

_WORD: Final = re.compile(r"[\w'’.-]*\w")
_WORDS_MAX: Final = 12
"""A longer text without a slot says more than one value."""
_SHARED_MIN: Final = 2
_OTHER_MAX: Final = 2
"""Words that two texts share, and words that each has alone, if they may state values of one thing."""


class _Compared(NamedTuple):
    """A hit prepared for comparison: hits of one `key` are about the same speaker, slot and scope."""

    id: str
    time: tuple[int, str]
    key: tuple[str | None, ...]
    value: str | None
    words: frozenset[str]


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
    """Prepare an active, asserted memory that has a value of a single-valued attribute, or a short text; else None."""
    if memory.status is not Status.ACTIVE or memory.stance is not Stance.ASSERTED or memory.contested:
        return None
    time = (memory.created_us if memory.valid_from_us is None else memory.valid_from_us), name
    speaker = normalise_name(memory.speaker)
    if memory.entity and memory.attribute and memory.value:
        attribute = normalise_attribute(memory.attribute)
        if get_attribute(attribute).cardinality is Cardinality.SET:
            return None
        key = (speaker, memory.scope, normalise_name(memory.entity), attribute)
        return _Compared(name, time, key, memory.value, frozenset())
    words = frozenset(word for word in _WORD.findall(memory.text.casefold()) if word not in STOP_WORDS)
    return None if len(words) > _WORDS_MAX else _Compared(name, time, (speaker, memory.scope), None, words)


def _may_replace(new: _Compared, old: _Compared) -> bool:
    if new.value is not None and old.value is not None:
        return not is_same_value(new.value, old.value) and has_same_kind(new.value, old.value)
    shared, added, gone = new.words & old.words, new.words - old.words, old.words - new.words
    return len(shared) >= _SHARED_MIN and 0 < len(added) <= _OTHER_MAX and 0 < len(gone) <= _OTHER_MAX
