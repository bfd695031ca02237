"""The order of hits that may be an older and a newer value of one thing. Pure.

It changes no status. A link puts the newest hit first and names it on the older ones. Of texts that differ in one
phrase alone, the newest comes first without a link.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Final, NamedTuple

from credenda.model.attributes import get_attribute, has_same_kind
from credenda.model.memory import Cardinality, Memory, Stance, Status
from credenda.model.query import Hit
from credenda.read.candidates import Row
from credenda.text.normalize import is_same_value, normalise_attribute, normalise_name

__all__ = ["lift_newer_wording", "link_newer", "put_newest_first"]

_MARKS: Final = str.maketrans(dict.fromkeys('.,;:!?"()', " "))
_MOMENTS: Final = frozenset({"now", "currently", "today", "still", "nowadays", "actually"})
"""Words that set a later statement apart without another meaning."""
_COVERED_LEAST: Final = 0.3
"""Share of the question's idf that two wordings must have."""
_CHARACTERS_MAX: Final = 160
"""Longest text that is compared; a longer one says more than one thing."""
_SHARED_LEAST: Final = 2
_VALUE_WORDS_MAX: Final = 4
_ROUNDED: Final = 4
_NONE: Final[Mapping[str, str]] = MappingProxyType({})
_SCORE_LEAST: Final = 0.5
"""Score of a newer hit relative to the older one: one that matches the question less is about something else."""
_APART: Final = frozenset({"superseded", "low_confidence", "contested", "challenged"})


class _Compared(NamedTuple):
    """A hit prepared for comparison: hits of one `key` are about the same speaker, slot and scope."""

    id: str
    time: tuple[int, str]
    key: tuple[str | None, ...]
    value: str
    score: float
    since_us: int


def link_newer(hits: Sequence[Hit], changed: Mapping[str, str] = _NONE) -> tuple[Hit, ...]:
    """Name on each hit the newest hit that may replace it, and put that one before it.

    `changed` has the hits that another one tells to be outdated, by id (`read/changed.py`).
    """
    groups: dict[tuple[str | None, ...], list[_Compared]] = {}
    for hit in hits:
        if hit.memory is not None and (one := _prepare(hit, hit.memory)) is not None:
            groups.setdefault(one.key, []).append(one)
    shown = {hit.id for hit in hits}
    newer = {old: new for old, new in changed.items() if {old, new} <= shown}
    for group in groups.values():
        group.sort(key=lambda one: one.time, reverse=True)
        for at, old in enumerate(group):
            found = next((one for one in group[:at] if one.time[0] > old.time[0] and _may_replace(one, old)), None)
            if found is not None and newer.get(found.id) != old.id:
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


def _prepare(hit: Hit, memory: Memory) -> _Compared | None:
    """Prepare an active, asserted memory with a value of an attribute that holds no set; else None."""
    if memory.status is not Status.ACTIVE or memory.stance is not Stance.ASSERTED or memory.contested:
        return None
    attribute = normalise_attribute(memory.attribute or "")
    if not (memory.entity and memory.value and attribute) or get_attribute(attribute).cardinality is Cardinality.SET:
        return None
    since_us = memory.created_us if memory.valid_from_us is None else memory.valid_from_us
    time = max([since_us, *(event.occurred_us for event in hit.evidence)]), hit.id
    key = (normalise_name(memory.speaker), memory.scope, normalise_name(memory.entity), attribute)
    return _Compared(hit.id, time, key, memory.value, hit.score, since_us)


def _may_replace(new: _Compared, old: _Compared) -> bool:
    """Return whether a value may stand in the place of another: it fits the question, or was told again after it."""
    again = new.since_us < old.since_us < new.time[0]
    fits = again or new.score >= _SCORE_LEAST * old.score
    return fits and not is_same_value(new.value, old.value) and has_same_kind(new.value, old.value)


def lift_newer_wording(rows: Sequence[Row]) -> list[Row]:
    """Move the newest of ordered rows that say the same with another value before the others.

    Such texts are by one speaker, match the question by the same words and answer type, and differ in one phrase: "Bo
    drives a Panda", "Bo drives an Ibiza now". The newest gets the key of the best one.
    """
    alike: dict[tuple[str, float, float], list[int]] = {}
    for at, row in enumerate(rows):
        if row.signs.coverage >= _COVERED_LEAST and _is_single_value(row):
            key = _name_speaker(row), round(row.signs.coverage, _ROUNDED), row.terms.get("answers", 0.0)
            alike.setdefault(key, []).append(at)
    ordered: list[Row] | None = None
    for places in alike.values():
        for best, newest in _pair_wordings([rows[at] for at in places]) if len(places) > 1 else ():
            ordered = list(rows) if ordered is None else ordered
            ordered.remove(newest)
            gained = best.key - newest.key
            lifted = newest._replace(key=best.key, terms={**newest.terms, "newer": gained} if newest.terms else {})
            ordered.insert(ordered.index(best), lifted)
    return list(rows) if ordered is None else ordered


def _pair_wordings(rows: Sequence[Row]) -> list[tuple[Row, Row]]:
    """Return the best and the newest row of each group of wordings in which these are different rows."""
    groups: list[list[tuple[Row, list[str]]]] = []
    for row in rows:
        words = [word for word in row.text.casefold().translate(_MARKS).split() if word not in _MOMENTS]
        group = next((one for one in groups if _has_other_value(one[0][1], words)), None)
        if group is None:
            groups.append([(row, words)])
        else:
            group.append((row, words))
    pairs = [(group[0][0], max((row for row, _ in group), key=_get_start)) for group in groups]
    return [(best, newest) for best, newest in pairs if _get_start(newest) > _get_start(best)]


def _has_other_value(one: Sequence[str], other: Sequence[str]) -> bool:
    """Return whether two texts differ in one phrase of a few words."""
    if one[:1] != other[:1] and one[-1:] != other[-1:]:
        return False
    shortest = min(len(one), len(other))
    before = next((at for at in range(shortest) if one[at] != other[at]), shortest)
    rest = shortest - before
    after = next((at for at in range(rest) if one[-1 - at] != other[-1 - at]), rest)
    values = [len(text) - before - after for text in (one, other)]
    return before + after >= _SHARED_LEAST and min(values) > 0 and max(values) <= _VALUE_WORDS_MAX


def _is_single_value(row: Row) -> bool:
    """Return whether a row is a short, current text, and not one value of a set."""
    if len(row.text) > _CHARACTERS_MAX or not _APART.isdisjoint(row.flags):
        return False
    attribute = row.memory.attribute if row.memory else None
    return attribute is None or get_attribute(normalise_attribute(attribute)).cardinality is not Cardinality.SET


def _name_speaker(row: Row) -> str:
    speaker = row.event.speaker if row.event else row.memory.speaker if row.memory else ""
    return normalise_name(speaker)


def _get_start(row: Row) -> int:
    """Return when a text was said, or since when a memory holds."""
    if row.event is not None:
        return row.event.occurred_us
    memory = row.memory
    if memory is None:
        return 0
    return memory.created_us if memory.valid_from_us is None else memory.valid_from_us
