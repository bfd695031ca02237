"""When a consolidation runs: a question of time, volume and what waits (S-028, S-029, C-017). Pure.

The lock is no part of it: who may run takes that afterwards, and nothing skips it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from credenda.clock import HOUR_US

__all__ = ["Gate", "closed"]

_HOUR: Final = float(HOUR_US)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """What opens it: hours since the last run, new memories since the mark. 0 asks for none."""

    min_hours: float = 24.0
    min_facts: int = 20


def closed(gate: Gate, *, now_us: int, last_us: int | None, new: int, retries: int, force: bool) -> str:
    """Say why nothing is to run now, "" where it is.

    `last_us` is when it last ran, `new` how many memories wait, `retries` how many of them failed before: these are
    tried again without waiting for others. `force` skips time and volume.

    >>> closed(Gate(), now_us=0, last_us=None, new=3, retries=0, force=False)
    'gate: 3 new memories, and 20 are needed'
    >>> closed(Gate(), now_us=0, last_us=None, new=3, retries=0, force=True)
    ''
    """
    if not new and not retries:
        return "nothing to do"
    if force or retries:
        return ""
    hours = None if last_us is None else (now_us - last_us) / _HOUR
    if hours is not None and hours < gate.min_hours:
        return f"gate: it ran {hours:.1f} hours ago, and {gate.min_hours:g} must lie between"
    if new < gate.min_facts:
        return f"gate: {new} new {'memory' if new == 1 else 'memories'}, and {gate.min_facts} are needed"
    return ""
