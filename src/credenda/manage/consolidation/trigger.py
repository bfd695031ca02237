"""Decide whether a consolidation is due, by time and by the number of new memories (S-028, S-029, C-017). Pure.

The lock is taken separately, and nothing skips it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from credenda.clock import HOUR_US, is_ahead

_HOUR: Final = float(HOUR_US)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trigger:
    """The conditions of a run: hours since the last run, and new memories since then. 0 disables a condition."""

    min_hours: float = 24.0
    min_facts: int = 20


def explain_skip(gate: Trigger, *, now_us: int, last_us: int | None, new: int, retries: int, force: bool) -> str:
    """Return why no run is due, or "" if one is.

    `last_us` is the time of the last run, `new` the number of waiting memories, `retries` how many of them failed
    before: these are retried without waiting for others. `force` skips both conditions.

    >>> explain_skip(Trigger(), now_us=0, last_us=None, new=3, retries=0, force=False)
    'not due: 3 new memories, and a run needs 20'
    >>> explain_skip(Trigger(), now_us=0, last_us=None, new=3, retries=0, force=True)
    ''
    """
    if not new and not retries:
        return "nothing to do"
    if force or retries:
        return ""
    hours = None if last_us is None or is_ahead(last_us, now_us) else (now_us - last_us) / _HOUR
    if hours is not None and hours < gate.min_hours:
        return f"not due: the last run was {hours:.1f} hours ago, and runs are {gate.min_hours:g} hours apart"
    if new < gate.min_facts:
        return f"not due: {new} new {'memory' if new == 1 else 'memories'}, and a run needs {gate.min_facts}"
    return ""
