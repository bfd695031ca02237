"""Compute the retention curves and the place of each memory on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from credenda.config import replace_settings
from credenda.errors import Invalid
from credenda.manage.decay import CURVES, RetentionRules, compute_curve, compute_half_life
from credenda.manage.plot import draw_retention
from credenda.model.report import (
    RetentionCurve,
    RetentionCurves,
    RetentionPoint,
)
from credenda.portability.atomic_write import replace_file
from credenda.runtime import Parts
from credenda.services.decay import RETAINED_STATUSES
from credenda.services.usage import Looked, look, read_retention_rules, read_times
from credenda.storage.store import MemoryFilter

__all__ = ["compute_retention_curves"]

_CURVE_DAYS: Final = 181


_POINTS: Final = 2_000


def compute_retention_curves(
    parts: Parts, *, plot: Path | None = None, limit: int = 200, what_if: Mapping[str, object] | None = None
) -> RetentionCurves:
    """Return the forgetting curves over half a year, and the positions of the newest memories on them.

    `limit` bounds the memories, 1 to 2,000; `plot` names an SVG file for the drawing. `what_if` has settings with other
    values, for this answer alone.
    """
    if type(limit) is not int or not 1 <= limit <= _POINTS:
        raise Invalid(f"a limit of {limit}", why=f"it must be 1 to {_POINTS:,}", fix="pass a number like 200")
    rules = read_retention_rules(replace_settings(parts.settings, what_if or {}))
    days = tuple(float(day) for day in range(_CURVE_DAYS))
    with parts.store.reader(parts.user_id) as reader:
        times = read_times(reader, parts)
        found = reader.find(MemoryFilter(statuses=RETAINED_STATUSES, limit=limit))
        looked = look(reader, found, rules, times)
    drawn = RetentionCurves(
        days=days,
        curves=tuple(_compute_curve(name, rules, days, trust) for name in CURVES for trust in (1.0, 0.5)),
        points=tuple(_place_memory(one) for one in looked),
        profile=rules.profile,
        mode=rules.mode,
    )
    if plot is not None:
        with replace_file(plot) as file:
            file.write(draw_retention(drawn).encode())
    return drawn


def _compute_curve(name: str, rules: RetentionRules, days: Sequence[float], trust: float) -> RetentionCurve:
    half_life = compute_half_life(rules, trust)
    shape = RetentionRules(mode=name, delta=rules.delta, ratio=rules.ratio)
    values = tuple(round(compute_curve(shape, day, half_life), 6) for day in days)
    return RetentionCurve(name=name, half_life_days=half_life, values=values)


def _place_memory(one: Looked) -> RetentionPoint:
    memory = one.memory
    return RetentionPoint(
        memory_id=memory.id,
        layer=memory.layer,
        age_days=round(one.idle_days, 3),
        score=one.retained.score,
        terms=one.retained.terms,
        trust=memory.trust,
    )
