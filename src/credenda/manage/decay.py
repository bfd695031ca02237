"""The decay of memories: forgetting curves and their adjustments. Pure.

Retention R lies in [0, 1]; ages and half-lives are days, t = age / half-life. Without reinforcement:

* `l2`: R = exp(−ln 2 · t), half at the half-life (E-050).
* `huber_linear`: `l2` until t = δ, from there its tangent, which ends at zero (E-051, as engram computes it).
* `huber`, the default: `l2` until t = δ, from there T / (1 + ln 2 · (t − δ)) with T = exp(−ln 2 · δ). Value and slope
  agree at δ and the tail falls slower than any exponential, which is what a robust curve is for (D-023).
* `elastic`: r · max(0, 1 − t/2) + (1 − r) · exp(−ln 2 · t) (E-052).

Profile `recall` is the published formula: exp(−λ · age) + (1 − exp(−λ · age)) · min(1, ln(1 + n) / ln(1 + cap)),
R-088…R-090. Its ten accesses keep a memory at 1 for ever; the default profile limits the gain from use to +0.3 (E-053,
D-009).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from credenda.model.memory import Layer

__all__ = [
    "CURVES",
    "RetentionRules",
    "RetentionScore",
    "UsageCounts",
    "compute_curve",
    "compute_half_life",
    "compute_recall_decay",
    "compute_retention",
]

_LN2: Final = math.log(2.0)
_ELASTIC_SPAN: Final = 2.0
"""Half-lives after which the linear part of `elastic` is zero."""
_PLACES: Final = 6
"""Decimal digits of a score (R-096)."""


def _decay_l2(t: float, _: RetentionRules) -> float:
    return math.exp(-_LN2 * t)


def _decay_huber(t: float, rules: RetentionRules) -> float:
    if t <= rules.delta:
        return math.exp(-_LN2 * t)
    return math.exp(-_LN2 * rules.delta) / (1.0 + _LN2 * (t - rules.delta))


def _decay_huber_linear(t: float, rules: RetentionRules) -> float:
    if t <= rules.delta:
        return math.exp(-_LN2 * t)
    return max(0.0, math.exp(-_LN2 * rules.delta) * (1.0 - _LN2 * (t - rules.delta)))


def _decay_elastic(t: float, rules: RetentionRules) -> float:
    straight = max(0.0, 1.0 - t / _ELASTIC_SPAN)
    return rules.ratio * straight + (1.0 - rules.ratio) * math.exp(-_LN2 * t)


CURVES: Final[Mapping[str, Callable[[float, RetentionRules], float]]] = MappingProxyType(
    {"huber": _decay_huber, "huber_linear": _decay_huber_linear, "l2": _decay_l2, "elastic": _decay_elastic}
)
"""The curves by name, over t in half-lives."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionRules:
    """The parameters of the curves, with the defaults of the settings; sources: docs/explanation/lifecycle.md."""

    profile: str = "layered"
    """`layered` or `recall`."""
    mode: str = "huber"
    half_life_days: float = 30.0
    delta: float = 0.5
    """δ: half-lives after which `huber` leaves the exponential."""
    ratio: float = 0.3
    """r: the weight of the linear part of `elastic`."""
    kappa: float = 4.0
    """κ: how much faster less trusted memories decay; with 4, trust .5 decays three times as fast as trust 1 (E-055).
    """
    reinforcement: float = 0.05
    reinforcement_cap: float = 0.3
    doubt: float = 0.15
    """The share of the score that each net "not useful" rating removes."""
    passing: float = 0.05
    """The share that each session and day removes in which the memory was shown, but another one was used."""
    doubt_cap: float = 0.5
    """The largest share that ratings remove, so that an unused memory decays but never vanishes."""
    challenge: float = 0.7
    """The factor on the score of a challenged memory (E-070)."""
    challenge_floor: float = 0.1
    recall_rate: float = 0.02
    """λ, per day (R-091)."""
    recall_boost_cap: float = 10.0
    fading: frozenset[Layer] = field(default=frozenset({Layer.WORKING, Layer.EPISODIC}))
    """Layers that decay under `layered`; the others keep their score (E-003…E-005)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageCounts:
    """The usage of a memory: distinct sessions and days in which it was shown, and its ratings.

    `judged` counts "useful" as +1 and "not useful" as −1; `passed` counts sessions and days in which it was shown, but
    another memory was used.
    """

    accesses: int = 0
    judged: int = 0
    passed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionScore:
    """The retention in [0, 1] and its terms; their sum, clamped to [0, 1], is the score."""

    score: float
    half_life_days: float
    """Infinite without decay."""
    terms: Mapping[str, float]


def compute_half_life(rules: RetentionRules, trust: float) -> float:
    """Return the half-life, shorter for lower trust: base / (1 + κ · (1 − trust)) (E-054).

    >>> compute_half_life(RetentionRules(), 1.0), compute_half_life(RetentionRules(), 0.5)
    (30.0, 10.0)
    """
    return rules.half_life_days / (1.0 + rules.kappa * (1.0 - trust))


def compute_curve(rules: RetentionRules, age_days: float, half_life: float) -> float:
    """Return the retention at an age without adjustments, in [0, 1]; a negative age counts as 0.

    >>> [round(compute_curve(RetentionRules(mode="huber_linear"), age, 30), 3) for age in (30, 45, 60)]
    [0.462, 0.217, 0.0]
    """
    return CURVES[rules.mode](max(age_days, 0.0) / half_life, rules)


def compute_recall_decay(rules: RetentionRules, age_days: float, accesses: int) -> float:
    """Return Recall's decay score as published (R-088…R-090), in [0, 1].

    >>> round(compute_recall_decay(RetentionRules(), 60, 0), 3), compute_recall_decay(RetentionRules(), 60, 10)
    (0.301, 1.0)
    """
    raw = math.exp(-rules.recall_rate * max(age_days, 0.0))
    boost = min(1.0, math.log1p(accesses) / math.log1p(rules.recall_boost_cap))
    return raw + (1.0 - raw) * boost


def compute_retention(
    rules: RetentionRules,
    *,
    layer: Layer,
    trust: float,
    age_days: float,
    usage: UsageCounts,
    pinned: bool = False,
    challenged: bool = False,
) -> RetentionScore:
    """Compute the retention of a memory and its terms.

    `age_days` is the time since it was last shown, or else created. Pinned memories never decay (E-062).
    """
    terms: dict[str, float] = {}
    half_life = math.inf
    if rules.profile == "recall":
        half_life = _LN2 / rules.recall_rate
        terms["curve"] = math.exp(-rules.recall_rate * max(age_days, 0.0))
        terms["use"] = compute_recall_decay(rules, age_days, usage.accesses) - terms["curve"]
    else:
        if layer in rules.fading and not pinned:
            half_life = compute_half_life(rules, trust)
            terms["curve"] = compute_curve(rules, age_days, half_life)
        else:
            terms["curve"] = 1.0
        counted = usage.accesses + max(usage.judged, 0)
        terms["use"] = min(rules.reinforcement_cap, rules.reinforcement * math.log1p(counted))
        terms["ceiling"] = min(0.0, 1.0 - terms["curve"] - terms["use"])
        whole = math.fsum(terms.values())
        share = rules.doubt * max(-usage.judged, 0) + rules.passing * max(usage.passed - max(usage.judged, 0), 0)
        terms["doubt"] = -whole * min(rules.doubt_cap, share)
        left = whole + terms["doubt"]
        floor = min(left, rules.challenge_floor)
        terms["challenge"] = max(floor, rules.challenge * left) - left if challenged else 0.0
    score = min(1.0, max(0.0, math.fsum(terms.values())))
    return RetentionScore(score=round(score, _PLACES), half_life_days=half_life, terms=terms)
