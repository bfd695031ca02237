"""The importance score of a memory: nine weighted factors over an immutable base. Pure.

The base is the importance estimated at extraction (R-020), adjusted once by surprise (E-024, `model.surprise`). The
score is computed afresh each time and never fed back, because feedback drifts to the same value from any start (D-021).
The factors are engram's (E-024…E-032, E-034…E-040), each divided by the maximum of its formula, so that all lie in [0,
1]: undivided they sum to .70 at most, and the limit of promotion (.7, E-059) is never reached. The ninth, which engram
names and never computes (D-022), is the base-level activation of ACT-R (X-003).

The weights are those of E-033, each times .9, and .10 for the ninth: they sum to 1.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from credenda.model.memory import Layer

__all__ = ["WEIGHTS", "Factors", "Importance", "UsageRecord", "compute_activation", "compute_importance"]

WEIGHTS: Final[Mapping[str, float]] = MappingProxyType(
    {
        "base": 0.225,
        "access": 0.108,
        "recency": 0.108,
        "emotion": 0.072,
        "stability": 0.072,
        "layer": 0.135,
        "trust": 0.09,
        "confirmation": 0.09,
        "activation": 0.10,
    }
)
_LN2: Final = math.log(2.0)
_MANY_ACCESSES: Final = 20
"""Sessions and days above which more use does not raise the score."""
_MANY_CONFIRMATIONS: Final = math.expm1(4.0)
"""Confirmations at which .05 · ln(1 + n) reaches its limit of .2 (E-040)."""
_LAYER: Final[Mapping[Layer, float]] = MappingProxyType(
    {Layer.WORKING: 0.0, Layer.EPISODIC: 1 / 3, Layer.SEMANTIC: 1.0, Layer.PROCEDURAL: 2 / 3, Layer.CODEBASE: 0.0}
)
"""E-038 divided by .3."""
_HALF_LIFE_DAYS: Final = 30.0
_POWER: Final = -0.5
"""d of ACT-R (Anderson and Lebiere 1998); also the only value at which the published constants were fitted."""
_TAU: Final = -2.0
_SCALE: Final = 1.0
"""τ and s of the logistic that maps activation to [0, 1]: a memory shown once, 55 days ago (B = −2), gets .5."""
_LEAST_DAYS: Final = 1 / 24
"""Uses within one hour count as one; this also keeps t above zero."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageRecord:
    """The usage data of a memory; times are days before now, `uses` one per distinct session and day.

    `base` and `trust` lie in [0, 1], `valence` in [−1, 1].
    """

    base: float
    layer: Layer
    trust: float
    age_days: float
    uses: Sequence[float] = ()
    confirmations: int = 0
    valence: float = 0.0
    kappa: float = 4.0


Factors = Mapping[str, float]
"""The nine factors by name, each in [0, 1]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Importance:
    """The score in [0, 1], the factors, and the contribution of each."""

    score: float
    factors: Factors
    terms: Mapping[str, float]


def compute_activation(uses: Sequence[float]) -> float:
    """Return the base-level activation B = ln Σ t^−½ over the days since each use; −inf without a use.

    >>> compute_activation([1.0]), round(compute_activation([1.0, 4.0]), 3)
    (0.0, 0.405)
    """
    total = math.fsum(max(days, _LEAST_DAYS) ** _POWER for days in uses)
    return math.log(total) if total else -math.inf


def compute_importance(record: UsageRecord) -> Importance:
    """Compute the weighted sum of the nine factors (E-024…E-032)."""
    count = len(record.uses)
    since = min(record.uses, default=record.age_days)
    half_life = _HALF_LIFE_DAYS / (1.0 + record.kappa * (1.0 - record.trust))
    factors = {
        "base": record.base,
        "access": min(1.0, math.log1p(count) / math.log1p(_MANY_ACCESSES)),
        "recency": math.exp(-_LN2 * max(since, 0.0) / half_life),
        "emotion": abs(record.valence),
        "stability": _measure_stability(record, since),
        "layer": _LAYER[record.layer],
        "trust": record.trust,
        "confirmation": min(1.0, math.log1p(record.confirmations) / math.log1p(_MANY_CONFIRMATIONS)),
        "activation": _apply_logistic((compute_activation(record.uses) - _TAU) / _SCALE),
    }
    terms = {name: WEIGHTS[name] * value for name, value in factors.items()}
    return Importance(score=min(1.0, max(0.0, math.fsum(terms.values()))), factors=factors, terms=terms)


def _measure_stability(record: UsageRecord, since: float) -> float:
    """Return how steadily a memory is used: high for regular use, low for a burst.

    E-037 divides the number of uses by the days they span, which is highest for a burst, against its own name (E-028).
    Here it is the share of the memory's life over which its uses are spread, times the share of weeks with a use.
    """
    if len(record.uses) < 2:  # noqa: PLR2004 - one use spans nothing
        return 0.0
    life = max(record.age_days, 1.0)
    span = max(record.uses) - since
    weeks = len({int(days // 7) for days in record.uses})
    return min(1.0, span / life) * min(1.0, weeks / max(1.0, span / 7))


def _apply_logistic(x: float) -> float:
    return 0.0 if x == -math.inf else 1.0 / (1.0 + math.exp(-x))
