"""Draw the forgetting curves as SVG text. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from credenda.model.report import RetentionCurve, RetentionCurves, RetentionPoint

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
