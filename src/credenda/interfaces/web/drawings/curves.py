"""Retention curves, and the memories that lie on them. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from credenda.interfaces.web.drawings.svg import Canvas, Drawing, Words, make_row, share, shorten

__all__ = ["Curve", "CurvePoint", "draw_curves"]

_HIGH: Final = 260
_TOP: Final = 10
_FOOT: Final = 40
_LEFT: Final = 0.07
_KEY_LINE: Final = 20
_TENTHS: Final = 10
_POINTS_MAX: Final = 500
_TABLE_DAYS: Final = (0, 7, 30, 60, 90, 180)
_LABEL: Final = 36


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """A named curve: retention in [0, 1] at each age of the drawing. `colour` is 1 to 6; `dashed` marks a variant."""

    label: str
    values: tuple[float, ...]
    colour: int = 1
    dashed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CurvePoint:
    """A memory: days since it was last used, and its retention."""

    label: str
    days: float
    score: float
    layer: str = ""


def draw_curves(
    days: Sequence[float],
    curves: Sequence[Curve],
    points: Sequence[CurvePoint] = (),
    *,
    threshold: float | None = None,
    words: Words = str,
    title: str = "",
) -> Drawing:
    """Draw curves over ages in days, ascending and not empty, with a dot for each of at most 500 memories.

    `threshold` is a level below which memories leave; it becomes a line.
    """
    name = title or words("Retention by age")
    height = _TOP + _HIGH + _FOOT + _KEY_LINE * len(curves)
    about = words("Retention from 1 to 0 over days since the last use; each dot is a memory.")
    canvas = Canvas(name, about, height=height, name="curves")
    last = max(days[-1], 1.0)
    _draw_grid(canvas, last, words)
    field = canvas.stretch("field", y=_TOP, height=_HIGH)
    if threshold is not None:
        field.add("line", "threshold", x1=_LEFT * 100, x2=100, y1=_find_y(threshold), y2=_find_y(threshold))
    for curve in curves:
        dash = " dashed" if curve.dashed else ""
        pairs = zip(days, curve.values, strict=True)
        at = " ".join(f"{_find_x(day, last) * 100:.2f},{_find_y(value):.1f}" for day, value in pairs)
        field.add("polyline", f"curve colour-{curve.colour}{dash}", title=curve.label, points=at)
    for point in points[:_POINTS_MAX]:
        label = f"{shorten(point.label, _LABEL)}: {point.score:.3f}, {point.days:.1f} d"
        cx, cy = share(_find_x(point.days, last)), _TOP + _find_y(point.score)
        canvas.add("circle", f"point layer-{point.layer or 'none'}", title=label, cx=cx, cy=f"{cy:.1f}", r=4)
    _draw_key(canvas, curves)
    return _make_drawing(name, canvas, days, curves, left_out=max(0, len(points) - _POINTS_MAX), words=words)


def _make_drawing(
    name: str, canvas: Canvas, days: Sequence[float], curves: Sequence[Curve], *, left_out: int, words: Words
) -> Drawing:
    places = [min(range(len(days)), key=lambda at: abs(days[at] - wanted)) for wanted in _TABLE_DAYS]
    places = sorted(set(places))
    return Drawing(
        title=name,
        svg=canvas.write(),
        head=(words("Curve"), *(f"{days[at]:g} d" for at in places)),
        rows=tuple(make_row(one.label, *(f"{one.values[at]:.3f}" for at in places)) for one in curves),
        left_out=left_out,
    )


def _find_x(day: float, last: float) -> float:
    return _LEFT + (1.0 - _LEFT) * min(max(day, 0.0) / last, 1.0)


def _find_y(value: float) -> float:
    """Return the pixels from the top of the field at which a retention lies."""
    return _HIGH * (1.0 - min(1.0, max(0.0, value)))


def _draw_grid(canvas: Canvas, last: float, words: Words) -> None:
    for tenth in range(0, _TENTHS + 1, 2):
        y = _TOP + _find_y(tenth / _TENTHS)
        canvas.add("line", "grid", x1=share(_LEFT), x2="100%", y1=f"{y:.1f}", y2=f"{y:.1f}")
        canvas.add("text", "tick", x="0", y=f"{y + 4:.1f}", text=f"{tenth / _TENTHS:.1f}")
    step = next(one for one in (1, 7, 30, 60, 90, 180, 365, 3_650, 10**9) if last / one <= _TENTHS)
    for day in range(0, int(last) + 1, step):
        along = _find_x(day, last)
        anchor = "middle" if along < 1.0 - _LEFT else "end"
        y = _TOP + _HIGH
        canvas.add("line", "axis", x1=share(along), x2=share(along), y1=y, y2=y + 5)
        canvas.add("text", "tick", x=share(along), y=y + 18, text_anchor=anchor, text=str(day))
    canvas.add("text", "tick", x="50%", y=_TOP + _HIGH + 34, text_anchor="middle", text=words("days since last use"))


def _draw_key(canvas: Canvas, curves: Sequence[Curve]) -> None:
    for number, curve in enumerate(curves):
        y = _TOP + _HIGH + _FOOT + _KEY_LINE * number + 10
        dash = " dashed" if curve.dashed else ""
        canvas.add("line", f"curve colour-{curve.colour}{dash}", x1="0", x2="5%", y1=y, y2=y)
        canvas.add("text", "label", x="6%", y=y + 4, text=shorten(curve.label, _LABEL))
