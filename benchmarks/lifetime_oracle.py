"""An independent implementation of the published formulas for an episode.

Inputs are plain numbers: when it was stored, on which days it was recalled, its importance, and the trust in its
source. Days are counted from the first.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field


@dataclass(slots=True)
class Episode:
    """An episode of the simulation; `recalled` are the days on which it was recalled."""

    text: str
    held: float
    importance: float
    trust: float
    valence: float = 0.0
    recalled: list[float] = field(default_factory=list[float])


Fate = str
"""`stays`, `rises` or `archived`."""


def retention(one: Episode, day: float) -> float:
    """Return the retention on a day; after half a half-life the curve falls slower than any exponential."""
    half_life = 30.0 / (1.0 + 4.0 * (1.0 - one.trust))
    t = (day - max([one.held, *one.recalled])) / half_life
    tail = math.sqrt(0.5) / (1.0 + math.log(2.0) * max(t - 0.5, 0.0))
    curve = 0.5**t if t <= 0.5 else tail  # noqa: PLR2004 - δ
    return min(1.0, curve + min(0.3, 0.05 * math.log(1 + len(one.recalled))))


def _earned(one: Episode, day: float) -> float:
    uses = [day - at for at in one.recalled]
    since = min(uses, default=day - one.held)
    half_life = 30.0 / (1.0 + 4.0 * (1.0 - one.trust))
    spread = 0.0
    if len(uses) > 1:
        span = max(uses) - since
        weeks = len({int(at // 7) for at in uses})
        spread = min(1.0, span / max(1.0, day - one.held)) * min(1.0, weeks / max(1.0, span / 7))
    warmth = sum(max(at, 1 / 24) ** -0.5 for at in uses)
    return (
        0.225 * one.importance
        + 0.108 * min(1.0, math.log(1 + len(uses)) / math.log(21))
        + 0.108 * 0.5 ** (since / half_life)
        + 0.072 * abs(one.valence)
        + 0.072 * spread
        + 0.135 / 3
        + 0.09 * one.trust
        + (0.10 / (1.0 + math.exp(-(math.log(warmth) + 2.0))) if warmth else 0.0)
    )


def fate_on(one: Episode, day: float) -> Fate:
    """Return the effect of a run on a day on an episode that has not changed so far."""
    worth, uses = max(one.importance, _earned(one, day)), len(one.recalled)
    if uses >= 5 and worth >= 0.7:  # noqa: PLR2004 - E-059
        return "rises"
    old = day - max([one.held, *one.recalled]) > 90  # noqa: PLR2004 - E-063
    faded = retention(one, day) < 0.15  # noqa: PLR2004 - E-063
    return "archived" if old and faded and worth < 0.3 and uses < 3 else "stays"  # noqa: PLR2004 - E-063
