"""Audit of slots whose values alternate."""

from __future__ import annotations

from typing import Final

from credenda.errors import Invalid
from credenda.limits import CONTEST_DAYS
from credenda.model.contest import SlotLoop
from credenda.model.memory import Memory, Status
from credenda.runtime import Parts
from credenda.storage.store import MemoryFilter
from credenda.text.normalize import normalise_attribute, normalise_name
from credenda.write.contests.resolve import find_slot_loops

_DAYS_MAX: Final = 36_500


def find_loops(parts: Parts, *, days: int | None = None) -> list[SlotLoop]:
    """Return slots that were replaced three or more times within a number of days, the worst first (R-084)."""
    span = CONTEST_DAYS if days is None else days
    if not isinstance(span, int) or isinstance(span, bool) or not 1 <= span <= _DAYS_MAX:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise Invalid(f"{days!r} is not a number of days", why=f"it lies in 1 to {_DAYS_MAX}", fix="give 30")
    now_us = parts.clock.now_us()
    with parts.store.reader(parts.user_id) as reader:
        contests = reader.contests()
        replaced = reader.find(MemoryFilter(statuses=frozenset({Status.SUPERSEDED})))
        pairs = {(normalise_name(one.entity), normalise_attribute(one.attribute)) for one in contests}
        pairs |= {_name_pair(one) for one in replaced if one.entity and one.attribute}
        active = frozenset({Status.ACTIVE})
        held = [one for pair in sorted(pairs) for one in reader.find(MemoryFilter(pair=pair, statuses=active))]
    return find_slot_loops(replaced, held, contests, now_us=now_us, days=span)


def _name_pair(memory: Memory) -> tuple[str, str]:
    return normalise_name(memory.entity or ""), normalise_attribute(memory.attribute or "")
