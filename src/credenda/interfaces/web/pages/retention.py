"""Retention: the forgetting curves, where memories lie on them, what fades next, and what other settings would do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from credenda.errors import CredendaError, Invalid
from credenda.interfaces.web.drawings import Curve, CurvePoint, Drawing, draw_curves
from credenda.interfaces.web.page import Done, Page
from credenda.interfaces.web.view import View
from credenda.model.report import RetentionCurves, RetentionPoint
from credenda.services.expectation import name_version

_POINTS: Final = 500
_NEXT: Final = 12
_MOST: Final = 96
_ARCHIVED_BELOW: Final = 0.15
"""The retention under which the lifecycle may archive an episodic memory (E-062)."""
_SETTINGS: Final = ("decay_profile", "retention_mode", "half_life_days", "trust_kappa")
_NUMBERS: Final = frozenset({"half_life_days", "trust_kappa"})
_DECAYING: Final = frozenset({"working", "episodic"})
_MODES: Final = ("huber", "huber_linear", "l2", "elastic")


def load(view: View) -> Mapping[str, object]:
    """Load the curves of the settings and of the what-if, and the memories with the least retention."""
    wanted = {name: _read(view, name) for name in _SETTINGS}
    changed = {name: value for name, value in wanted.items() if value is not None}
    now: RetentionCurves = view.call("retention", limit=_POINTS)
    other: RetentionCurves = view.call("retention", limit=_POINTS, **changed) if changed else now
    shown = view.get_int("shown", _NEXT, low=1, high=_MOST)
    scores = {one.memory_id: one.score for one in other.points}
    fading = sorted(now.points, key=_find_place)[:shown]
    in_use = _find_settings(now)
    return {
        "profile": now.profile,
        "mode": now.mode,
        "settings": in_use | changed,
        "what_if": changed,
        "now": now,
        "other": other,
        "layers": _count_layers(now.points),
        "counted": len(now.points),
        "more": min(shown * 2, _MOST) if shown < min(len(now.points), _MOST) else None,
        "fading": [one for one in (_load_point(view, point, scores) for point in fading) if one is not None],
    }


def draw(view: View, data: Mapping[str, Any]) -> Mapping[str, object]:
    """Draw the curves with the memories on them."""
    return {"curves": _draw_curves(view, data["now"], data["other"] if data["what_if"] else None), "modes": _MODES}


def _find_place(point: RetentionPoint) -> tuple[float, bool, float]:
    """Return where a memory stands among those that fade next: by its retention, then layers that decay, then age."""
    return point.score, point.layer not in _DECAYING, -point.age_days


def _find_settings(found: RetentionCurves) -> dict[str, object]:
    """Return the settings that these curves were computed with; they are drawn for trust 1 and ½."""
    long, short = (pick(one.half_life_days for one in found.curves) for pick in (max, min))
    kappa = round(2 * (long / short - 1), 6)
    return {
        "decay_profile": found.profile,
        "retention_mode": found.mode,
        "half_life_days": long,
        "trust_kappa": kappa,
    }


def _read(view: View, name: str) -> str | float | None:
    text = view.get(name).strip()
    if not text or name not in _NUMBERS:
        return text or None
    try:
        return float(text.replace(",", "."))
    except ValueError:
        raise Invalid(f"{name} is not a number", fix="write a number such as 30") from None


def _draw_curves(view: View, now: RetentionCurves, other: RetentionCurves | None) -> Drawing:
    """Draw every mode for full trust, that in use for half trust too, and the what-if beside it."""
    longest = max(one.half_life_days for one in now.curves)
    curves = [
        Curve(
            label=view.t(
                "{mode}, half-life {days} d", mode=view.word("curve", one.name), days=f"{one.half_life_days:g}"
            ),
            values=one.values,
            colour=_MODES.index(one.name) + 1,
            dashed=one.half_life_days < longest,
        )
        for one in now.curves
        if one.half_life_days == longest or one.name == now.mode
    ]
    if other is not None:
        tried = max((one for one in other.curves if one.name == other.mode), key=lambda one: one.half_life_days)
        label = view.t(
            "what if: {mode}, {days} d", mode=view.word("curve", tried.name), days=f"{tried.half_life_days:g}"
        )
        curves.append(Curve(label=label, values=tried.values, colour=5))
    points = [
        CurvePoint(label=one.memory_id, days=one.age_days, score=one.score, layer=one.layer) for one in now.points
    ]
    return draw_curves(now.days, curves, points, threshold=_ARCHIVED_BELOW, words=view.t)


def _count_layers(points: Sequence[RetentionPoint]) -> Sequence[Mapping[str, object]]:
    """Return for each layer how many memories it has, and their mean retention."""
    layers: dict[str, list[float]] = {}
    for one in points:
        layers.setdefault(one.layer, []).append(one.score)
    return [
        {"layer": layer, "memories": len(scores), "mean": sum(scores) / len(scores)}
        for layer, scores in sorted(layers.items())
    ]


def _load_point(view: View, point: RetentionPoint, scores: Mapping[str, float]) -> Mapping[str, object] | None:
    """Return a memory with its retention; None for one that has gone in the meantime."""
    try:
        memory = view.call("get", id=point.memory_id)
    except CredendaError:
        return None
    return {
        "memory": memory,
        "version": name_version(memory),
        "score": point.score,
        "other": scores.get(point.memory_id, point.score),
        "age_days": point.age_days,
        "terms": point.terms,
    }


def promote(view: View) -> Done:
    """Move a memory one layer up."""
    return _move(view, "promote")


def demote(view: View) -> Done:
    """Move a memory one layer down."""
    return _move(view, "demote")


def _move(view: View, operation: str) -> Done:
    memory = view.change(operation, id=view.get("id"))
    return Done(to=view.find_way_back(), changes=view.mark_last_change(memory.id))


PAGE = Page(
    name="retention",
    path="/retention",
    title="Retention",
    operation="retention",
    load=load,
    draw=draw,
    actions={"promote": promote, "demote": demote},
    group="upkeep",
)
