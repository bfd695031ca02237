"""Decide which memories change their layer, are archived or expire (E-059…E-064). Pure.

* working → episodic after 30 minutes or two uses (E-060); an unused memory of low importance (under .3) is archived
  instead.
* episodic → semantic with importance of at least .7 and five uses (E-059). Either the stated or the computed importance
  counts.
* archived: episodic, created and last recalled more than 90 days ago, retention under .15, importance under .3, fewer
  than three uses (E-063). It stays in the store and can be restored; nothing here deletes.

Pinned memories and the layers semantic, procedural and codebase are exempt (E-062, E-064).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from credenda.model.change import Change, SetLayer, SetStatus
from credenda.model.memory import Layer, Memory, Status

__all__ = ["LADDER", "LifecycleRules", "LifecycleState", "decide_lifecycle", "get_next_layer"]

_MINUTES_A_DAY: Final = 1440.0

LADDER: Final = (Layer.WORKING, Layer.EPISODIC, Layer.SEMANTIC)
"""The layers of promotion, in order; procedural and codebase are not part of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LifecycleRules:
    """The limits; ages are days."""

    working_days: float = 30 / _MINUTES_A_DAY
    working_uses: int = 2
    working_importance: float = 0.3
    promote_importance: float = 0.7
    promote_uses: int = 5
    archive_days: float = 90.0
    archive_retention: float = 0.15
    archive_importance: float = 0.3
    archive_uses: int = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class LifecycleState:
    """A memory with its computed values.

    `age_days` since it was created, `idle_days` since it was last recalled, or else created.
    """

    memory: Memory
    age_days: float
    idle_days: float
    uses: int
    retention: float
    importance: float


def decide_lifecycle(standings: Iterable[LifecycleState], rules: LifecycleRules) -> list[Change]:
    """Decide the transitions; a memory moves one layer at a time, and an exempt or contested one never."""
    return [change for one in standings if (change := _decide_step(one, rules)) is not None]


def _decide_step(one: LifecycleState, rules: LifecycleRules) -> Change | None:
    memory = one.memory
    if memory.status is not Status.ACTIVE or memory.pinned or memory.contested:
        return None
    match memory.layer:
        case Layer.WORKING:
            return _leave_working(one, rules)
        case Layer.EPISODIC:
            return _leave_episodic(one, rules)
        case _:
            return None


def _leave_working(one: LifecycleState, rules: LifecycleRules) -> Change | None:
    minutes = f"{rules.working_days * _MINUTES_A_DAY:.0f} minutes"
    if one.uses >= rules.working_uses:
        reason = f"used {one.uses} times"
    elif one.age_days <= rules.working_days:
        return None
    elif not one.uses and one.memory.importance < rules.working_importance:
        return _archive(one.memory.id, f"unused for {minutes}, importance {one.memory.importance:.2f}")
    else:
        reason = f"older than {minutes}"
    return SetLayer(memory_id=one.memory.id, layer=Layer.EPISODIC, reason=reason)


def _leave_episodic(one: LifecycleState, rules: LifecycleRules) -> Change | None:
    worth = max(one.importance, one.memory.importance)
    if one.uses >= rules.promote_uses and worth >= rules.promote_importance:
        reason = f"importance {worth:.2f}, used {one.uses} times"
        return SetLayer(memory_id=one.memory.id, layer=Layer.SEMANTIC, reason=reason)
    faded = min(one.age_days, one.idle_days) > rules.archive_days and one.retention < rules.archive_retention
    if faded and worth < rules.archive_importance and one.uses < rules.archive_uses:
        return _archive(one.memory.id, f"retention {one.retention:.3f}, importance {worth:.2f}")
    return None


def _archive(memory_id: str, reason: str) -> Change:
    return SetStatus(memory_id=memory_id, status=Status.ARCHIVED, reason=reason)


def get_next_layer(layer: Layer, *, up: bool) -> Layer | None:
    """Return the layer one step up or down (E-061); None at the ends and for other layers.

    >>> get_next_layer(Layer.EPISODIC, up=True).value
    'semantic'
    """
    if layer not in LADDER:
        return None
    place = LADDER.index(layer) + (1 if up else -1)
    return LADDER[place] if 0 <= place < len(LADDER) else None
