"""The order of appointments of one kind: the day that a question asks for comes first. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from credenda.model.memory import Memory, Stance
from credenda.read.candidates import Row
from credenda.text.normalize import normalise_value

__all__ = ["order_appointments"]

_BACK: Final = re.compile(
    r"^(?!.*\b(?:next|coming|upcoming)\b).*\b(?:last|latest|previous|was|were|did|had)\b", re.IGNORECASE
)


def order_appointments(rows: Sequence[Row], now_us: int, asked: str, *, past: bool = False) -> list[Row]:
    """Order appointments with the same thing by their days, in the places that they hold among all rows.

    `past` tells that the question is known to be about the past. The next one is first, then those after it, and the
    latest of those that are over; for a question about the past, the latest that is over comes first.
    """
    past = past or _BACK.search(asked) is not None
    ordered = list(rows)
    dated = [place for place, row in enumerate(rows) if row.memory is not None and _is_dated_plan(row.memory)]
    while dated:
        first = dated[0]
        places = [one for one in dated if _is_same_kind(rows[first].memory, rows[one].memory)]
        dated = [one for one in dated if one not in places]
        by_day = sorted((rows[one] for one in places), key=lambda row: _rate_day(row.memory, now_us, past=past))
        for place, row in zip(places, by_day, strict=True):
            held = rows[place]
            ordered[place] = row._replace(key=held.key, signs=held.signs.joined(row.signs), terms=held.terms)
    return ordered


def _is_dated_plan(memory: Memory) -> bool:
    return memory.stance is Stance.PLANNED and None not in (memory.valid_from_us, memory.valid_until_us)


def _is_same_kind(one: Memory | None, other: Memory | None) -> bool:
    """Return whether the words of one appointment are among those of the other: "dentist", "dentist appointment"."""
    if one is None or other is None or (one.entity, one.attribute) != (other.entity, other.attribute):
        return False
    words, others = (set(normalise_value(memory.value or memory.text).split()) for memory in (one, other))
    return words <= others or others <= words


def _rate_day(memory: Memory | None, now_us: int, *, past: bool) -> tuple[bool, int]:
    """Return the rank of an appointment, the first one lowest: those asked for by their distance from now."""
    if memory is None:
        return True, 0
    over = (memory.valid_until_us or 0) <= now_us
    return over != past, abs((memory.valid_from_us or 0) - now_us)
