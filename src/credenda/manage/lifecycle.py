"""Decide which memories change their layer, are archived or expire (E-059…E-064). Pure.

* working → episodic after 30 minutes or when shown twice (E-060); an unused memory of low importance (under .3) is
  archived instead.
* episodic → semantic with importance of at least .7 and five uses (E-059). Either the stated or the computed importance
  counts.
* archived: episodic, created and last recalled more than 90 days ago, retention under .15, importance under .3, fewer
  than three uses (E-063). It stays in the store and can be restored; nothing here deletes.

Pinned memories and the layers semantic, procedural and codebase are exempt (E-062, E-064).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from credenda.clock import is_ahead
from credenda.model.change import Change, SetLayer, SetStatus
from credenda.model.job import DutyRun
from credenda.model.memory import Layer, Memory, Status
from credenda.model.query import EarnedImportance
from credenda.model.report import DutyState, RetentionCurve, RetentionCurves, RetentionPoint

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
    showings: int = 0
    """How often it was shown, repetitions within a session and day included."""
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
            minutes = f"{rules.working_days * _MINUTES_A_DAY:.0f} minutes"
            if (times := max(one.uses, one.showings)) >= rules.working_uses:
                reason = f"used {times} times"
            elif one.age_days <= rules.working_days:
                return None
            elif not one.uses and one.memory.importance < rules.working_importance:
                return _archive(one.memory.id, f"unused for {minutes}, importance {one.memory.importance:.2f}")
            else:
                reason = f"older than {minutes}"
            return SetLayer(memory_id=one.memory.id, layer=Layer.EPISODIC, reason=reason)
        case Layer.EPISODIC:
            return _leave_episodic(one, rules)
        case _:
            return None


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


# The importance score of a memory: nine weighted factors over an immutable base. Pure.


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


def compute_activation(uses: Sequence[float]) -> float:
    """Return the base-level activation B = ln Σ t^−½ over the days since each use; −inf without a use.

    >>> compute_activation([1.0]), round(compute_activation([1.0, 4.0]), 3)
    (0.0, 0.405)
    """
    total = math.fsum(max(days, _LEAST_DAYS) ** _POWER for days in uses)
    return math.log(total) if total else -math.inf


def compute_importance(record: UsageRecord) -> EarnedImportance:
    """Compute the weighted sum of the nine factors (E-024…E-032)."""
    count = len(record.uses)
    since = min(record.uses, default=record.age_days)
    half_life = _HALF_LIFE_DAYS / (1.0 + record.kappa * (1.0 - record.trust))
    x = (compute_activation(record.uses) - _TAU) / _SCALE
    factors = {
        "base": record.base,
        "access": min(1.0, math.log1p(count) / math.log1p(_MANY_ACCESSES)),
        "recency": math.exp(-_LN2 * max(since, 0.0) / half_life),
        "emotion": abs(record.valence),
        "stability": _measure_stability(record, since),
        "layer": _LAYER[record.layer],
        "trust": record.trust,
        "confirmation": min(1.0, math.log1p(record.confirmations) / math.log1p(_MANY_CONFIRMATIONS)),
        "activation": 0.0 if x == -math.inf else 1.0 / (1.0 + math.exp(-x)),
    }
    terms = {name: WEIGHTS[name] * value for name, value in factors.items()}
    return EarnedImportance(score=min(1.0, max(0.0, math.fsum(terms.values()))), factors=factors, terms=terms)


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


# The decay of memories: forgetting curves and their adjustments. Pure.


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


# Decide which scheduled tasks are due, by interval and last run; a missed run is made up once.


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduledTask:
    """A scheduled task: its name and the microseconds between the starts of its runs; 0 for on demand only."""

    name: str
    every_us: int
    meaning: str


def find_due(duties: Sequence[ScheduledTask], runs: Mapping[str, DutyRun], now_us: int) -> list[ScheduledTask]:
    """Return the tasks that are due, the most overdue first."""
    waiting = [(_get_next_us(duty, runs.get(duty.name), now_us), duty) for duty in duties if duty.every_us]
    return [duty for next_us, duty in sorted(waiting, key=lambda one: one[0]) if next_us <= now_us]


def describe_state(duty: ScheduledTask, run: DutyRun | None, now_us: int, began_us: int) -> DutyState:
    """Describe the state of a task; `began_us` is when the store was created, the base of a first run's delay."""
    next_us = _get_next_us(duty, run, now_us) or now_us
    waited_us = now_us - (run.started_us if run else began_us)
    return DutyState(
        name=duty.name,
        meaning=duty.meaning,
        every_seconds=duty.every_us // 1_000_000,
        last_us=run.started_us if run else None,
        took_ms=run.took_us / 1_000 if run else None,
        result=run.result if run else "",
        failed=run.failed if run else False,
        next_us=next_us if duty.every_us else None,
        overdue=bool(duty.every_us) and waited_us > 2 * duty.every_us,
    )


def _get_next_us(duty: ScheduledTask, run: DutyRun | None, now_us: int) -> int:
    """Return when a task is due; 0 (at once) if it never ran, or ran before the clock was put back."""
    return 0 if run is None or is_ahead(run.started_us, now_us) else run.started_us + duty.every_us


# Draw the forgetting curves as SVG text.


_WIDTH: Final = 760
_HEIGHT: Final = 420
_LEFT: Final = 56
_RIGHT: Final = 180
_TOP: Final = 24
_BOTTOM: Final = 48
_COLOURS: Final = {"huber": "#0b6e99", "huber_linear": "#8a5a00", "l2": "#7a1f5c", "elastic": "#2e6b1f"}
_DAY_TICKS: Final = 30
_TENTHS: Final = 10


def draw_retention(found: RetentionCurves) -> str:
    """Draw the curves over days, solid for the longest half-life and dashed for the others, and the memories.

    Returns a self-contained SVG file; it contains ids and numbers, never the text of a memory.
    """
    last = found.days[-1]
    longest = max(curve.half_life_days for curve in found.curves)
    lines: list[str] = []
    for tenth in range(0, _TENTHS + 1, 2):
        y = _scale_y(tenth / _TENTHS)
        lines.append(f'<line x1="{_LEFT}" x2="{_scale_x(last, last):.1f}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>')
        lines.append(f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{tenth / _TENTHS:.1f}</text>')
    for day in range(0, int(last) + 1, _DAY_TICKS):
        x = _scale_x(day, last)
        lines.append(
            f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{_scale_y(0):.1f}" y2="{_scale_y(0) + 5:.1f}" stroke="#555"/>'
        )
        lines.append(f'<text x="{x:.1f}" y="{_scale_y(0) + 18:.1f}" text-anchor="middle">{day}</text>')
    middle = (_LEFT + _scale_x(last, last)) / 2
    lines.append(f'<text x="{middle:.1f}" y="{_HEIGHT - 10}" text-anchor="middle">days since last use</text>')
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img">',
        f"<title>Retention over days, profile {found.profile}</title>",
        "<style>text { font: 12px sans-serif }</style>",
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#fff"/>',
        *lines,
        *(_draw_curve(curve, found.days, longest) for curve in found.curves),
        *_draw_legend(found.curves),
        *(_draw_point(point, last) for point in found.points),
        "</svg>\n",
    ]
    return "\n".join(parts)


def _scale_x(day: float, last: float) -> float:
    return _LEFT + (_WIDTH - _LEFT - _RIGHT) * min(day / last, 1.0)


def _scale_y(value: float) -> float:
    return _TOP + (_HEIGHT - _TOP - _BOTTOM) * (1.0 - value)


def _draw_curve(curve: RetentionCurve, days: Sequence[float], longest: float) -> str:
    dash = "" if curve.half_life_days == longest else ' stroke-dasharray="5 4"'
    points = " ".join(
        f"{_scale_x(day, days[-1]):.1f},{_scale_y(v):.1f}" for day, v in zip(days, curve.values, strict=True)
    )
    return f'<polyline points="{points}" fill="none" stroke="{_COLOURS[curve.name]}" stroke-width="1.8"{dash}/>'


def _draw_legend(curves: Sequence[RetentionCurve]) -> list[str]:
    x = _WIDTH - _RIGHT + 16
    lines: list[str] = []
    for place, curve in enumerate(curves):
        y = _TOP + 14 + 20 * place
        lines.append(f'<rect x="{x}" y="{y - 9}" width="12" height="10" fill="{_COLOURS[curve.name]}"/>')
        lines.append(f'<text x="{x + 18}" y="{y}">{curve.name}, {curve.half_life_days:g} d</text>')
    return lines


def _draw_point(point: RetentionPoint, last: float) -> str:
    x, y = _scale_x(point.age_days, last), _scale_y(point.score)
    label = f"{point.memory_id}: {point.score:.3f} after {point.age_days:.1f} days, {point.layer}"
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="#c0392b" fill-opacity=".6"><title>{label}</title></circle>'
