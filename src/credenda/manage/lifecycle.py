"""Which memories move to another layer, are put away, or come to their end (E-059…E-064). Pure.

* working → episodic after 30 minutes or two uses (E-060); what nobody used by then and matters little (importance under
  .3) expires instead.
* episodic → semantic with importance of at least .7 and five uses (E-059). Either importance counts: the one that was
  stated when it was written, or the one that it has earned since.
* archived: episodic, older than 90 days and not recalled for as long, retention under .15, importance under .3, fewer
  than three uses (E-063). It stays on disk and can be brought back; nothing here deletes.

Pinned memories and the layers semantic, procedural and codebase are exempt (E-062, E-064).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from credenda.model.change import Change, SetLayer, SetStatus
from credenda.model.memory import Layer, Memory, Status

__all__ = ["LADDER", "LifecycleRules", "Standing", "decide_lifecycle", "next_layer"]

_MINUTES_A_DAY: Final = 1440.0

LADDER: Final = (Layer.WORKING, Layer.EPISODIC, Layer.SEMANTIC)
"""The layers that promotion climbs; procedural and codebase are kinds of their own, not steps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LifecycleRules:
    """The bounds; ages are days."""

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
class Standing:
    """A memory and what has been computed about it.

    `age_days` since it was first held, `idle_days` since it was last recalled, or else first held.
    """

    memory: Memory
    age_days: float
    idle_days: float
    uses: int
    retention: float
    importance: float


def decide_lifecycle(standings: Iterable[Standing], rules: LifecycleRules) -> list[Change]:
    """Decide what moves; a memory moves one step at a time, and an exempt or contested one not at all."""
    return [change for one in standings if (change := _step(one, rules)) is not None]


def _step(one: Standing, rules: LifecycleRules) -> Change | None:
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


def _leave_working(one: Standing, rules: LifecycleRules) -> Change | None:
    minutes = f"{rules.working_days * _MINUTES_A_DAY:.0f} minutes"
    if one.uses >= rules.working_uses:
        reason = f"used {one.uses} times (E-060)"
    elif one.age_days <= rules.working_days:
        return None
    elif not one.uses and one.memory.importance < rules.working_importance:
        return _archive(one.memory.id, f"unused in its {minutes}, importance {one.memory.importance:.2f}")
    else:
        reason = f"older than {minutes} (E-060)"
    return SetLayer(memory_id=one.memory.id, layer=Layer.EPISODIC, reason=reason)


def _leave_episodic(one: Standing, rules: LifecycleRules) -> Change | None:
    worth = max(one.importance, one.memory.importance)
    if one.uses >= rules.promote_uses and worth >= rules.promote_importance:
        reason = f"importance {worth:.2f}, used {one.uses} times (E-059)"
        return SetLayer(memory_id=one.memory.id, layer=Layer.SEMANTIC, reason=reason)
    faded = min(one.age_days, one.idle_days) > rules.archive_days and one.retention < rules.archive_retention
    if faded and worth < rules.archive_importance and one.uses < rules.archive_uses:
        return _archive(one.memory.id, f"retention {one.retention:.3f}, importance {worth:.2f} (E-063)")
    return None


def _archive(memory_id: str, reason: str) -> Change:
    return SetStatus(memory_id=memory_id, status=Status.ARCHIVED, reason=reason)


def next_layer(layer: Layer, *, up: bool) -> Layer | None:
    """Give the layer one step up or down the ladder (E-061); None at its ends and off it.

    >>> next_layer(Layer.EPISODIC, up=True).value
    'semantic'
    """
    if layer not in LADDER:
        return None
    place = LADDER.index(layer) + (1 if up else -1)
    return LADDER[place] if 0 <= place < len(LADDER) else None
