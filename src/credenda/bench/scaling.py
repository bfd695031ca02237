"""The growth of a figure with the size of the store, as an exponent and as a plot. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import Final

__all__ = ["Line", "fit_exponent", "plot_svg"]

Line = Sequence[tuple[int, float]]
"""Points (size, figure), both above zero."""

_WIDTH: Final = 640
_HEIGHT: Final = 400
_LEFT: Final = 60
_RIGHT: Final = 150
_TOP: Final = 30
_BOTTOM: Final = 50
_COLOURS: Final = ("#1b6ca8", "#c1552b", "#3c8d40", "#7a4fa3")
_TEXT: Final = 'font-family="sans-serif" font-size="12"'


def fit_exponent(line: Line) -> float | None:
    """Return the slope of the least-squares line through the logarithms; None for fewer than two sizes.

    1 is proportional growth, 0 is constant.

    >>> fit_exponent([(1_000, 2.0), (10_000, 4.0), (100_000, 8.0)])
    0.301
    """
    points = [(math.log(size), math.log(figure)) for size, figure in line]
    mean_x = sum(x for x, _ in points) / max(1, len(points))
    mean_y = sum(y for _, y in points) / max(1, len(points))
    wide = sum((x - mean_x) ** 2 for x, _ in points)
    if not wide:
        return None
    return round(sum((x - mean_x) * (y - mean_y) for x, y in points) / wide, 3)


def plot_svg(lines: Mapping[str, Line], *, title: str, unit: str) -> str:
    """Plot lines over sizes, both axes logarithmic, as an SVG document; leave out lines without points."""
    drawn = {name: sorted(line) for name, line in lines.items() if line}
    sizes = sorted({size for line in drawn.values() for size, _ in line})
    low, high = _find_decades([figure for line in drawn.values() for _, figure in line])
    first, last = math.log10(sizes[0]), math.log10(sizes[-1])

    def x(size: int) -> float:
        return _LEFT + (math.log10(size) - first) / ((last - first) or 1) * (_WIDTH - _LEFT - _RIGHT)

    def y(figure: float) -> float:
        return _TOP + (high - math.log10(figure)) / (high - low) * (_HEIGHT - _TOP - _BOTTOM)

    parts = [f'<text x="{_LEFT}" y="18" {_TEXT}>{escape(title)}</text>']
    for power in range(low, high + 1):
        parts.append(
            f'<line x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y(10**power):.1f}" y2="{y(10**power):.1f}" stroke="#ddd"/>'
        )
        parts.append(f'<text x="8" y="{y(10**power) + 4:.1f}" {_TEXT}>{10.0**power:g} {escape(unit)}</text>')
    parts += [f'<text x="{x(size) - 15:.1f}" y="{_HEIGHT - 25}" {_TEXT}>{size:,}</text>' for size in sizes]
    for (name, line), colour in zip(drawn.items(), _COLOURS, strict=False):
        points = " ".join(f"{x(size):.1f},{y(figure):.1f}" for size, figure in line)
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{x(size):.1f}" cy="{y(figure):.1f}" r="3" fill="{colour}"/>' for size, figure in line]
        end = y(line[-1][1]) + 4
        parts.append(f'<text x="{_WIDTH - _RIGHT + 8}" y="{end:.1f}" fill="{colour}" {_TEXT}>{escape(name)}</text>')
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" height="{_HEIGHT}">'
    )
    return "\n".join([head, '<rect width="100%" height="100%" fill="white"/>', *parts, "</svg>\n"])


def _find_decades(figures: Sequence[float]) -> tuple[int, int]:
    """Return the powers of ten that enclose all figures."""
    low, high = math.floor(math.log10(min(figures))), math.ceil(math.log10(max(figures)))
    return low, max(high, low + 1)
