"""The terms of a score as bars, and counts as columns. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from credenda.interfaces.web.drawings.svg import Canvas, Drawing, Words, make_row, share, shorten

__all__ = ["draw_columns", "draw_terms"]

_LINE: Final = 22
_NAMES: Final = 0.34
"""The share of the width that the names take."""
_FIGURES: Final = 0.14
_LABEL: Final = 18
_COLUMNS_MAX: Final = 60
_COLUMNS_HIGH: Final = 56
_GAP: Final = 0.2


def draw_terms(terms: Mapping[str, float], total: float, *, words: Words = str, title: str = "") -> Drawing:
    """Draw each term from a common zero, to the right where it adds and to the left where it takes, and their sum."""
    name = title or words("Terms of the score")
    rows = [*terms.items(), (words("Score"), total)]
    low = min(0.0, *(value for _, value in rows))
    high = max(0.0, *(value for _, value in rows)) or (0.0 if low else 1.0)
    canvas = Canvas(
        name, words("Each term as a bar from zero; the last bar is their sum."), height=_LINE * len(rows), name="terms"
    )
    room = 1.0 - _NAMES - _FIGURES
    zero = _NAMES + room * -low / (high - low)
    canvas.add("line", "axis", x1=share(zero), x2=share(zero), y1=0, y2=_LINE * len(rows))
    for number, (term, value) in enumerate(rows):
        wide = room * abs(value) / (high - low)
        kind = "sum" if number == len(terms) else "adds" if value >= 0 else "takes"
        y = _LINE * number
        canvas.add("text", "label", x="0", y=y + 15, text=shorten(term, _LABEL))
        canvas.add(
            "rect",
            f"bar {kind}",
            x=share(zero if value >= 0 else zero - wide),
            y=y + 4,
            width=share(wide),
            height=_LINE - 8,
            title=f"{shorten(term, _LABEL)}: {value:+.4f}",
        )
        canvas.add("text", "figure", x="100%", y=y + 15, text_anchor="end", text=f"{value:+.3f}")
    return Drawing(
        title=name,
        svg=canvas.write(),
        head=(words("Term"), words("Value")),
        rows=tuple(make_row(term, f"{value:+.4f}") for term, value in rows),
    )


def draw_columns(
    counts: Sequence[tuple[str, float]], *, title: str, unit: str = "", words: Words = str, height: int = _COLUMNS_HIGH
) -> Drawing:
    """Draw counts as columns side by side, oldest first; at most the last 60."""
    shown = counts[-_COLUMNS_MAX:]
    most = max((value for _, value in shown), default=0.0) or 1.0
    about = (
        f"{shorten(shown[0][0], _LABEL)} – {shorten(shown[-1][0], _LABEL)}"
        if shown
        else words("There is nothing to draw.")
    )
    canvas = Canvas(title, about, height=height, name="columns")
    canvas.add("line", "axis", x1="0", x2="100%", y1=height - 0.5, y2=height - 0.5)
    for number, (label, value) in enumerate(shown):
        high = max(0.0, value) / most * (height - 2)
        canvas.add(
            "rect",
            "bar adds",
            x=share((number + _GAP / 2) / len(shown)),
            y=height - 1 - high,
            width=share((1 - _GAP) / len(shown)),
            height=high,
            title=f"{shorten(label, _LABEL)}: {value:g} {unit}",
        )
    return Drawing(
        title=title,
        svg=canvas.write(),
        head=(words("Item"), unit or words("Count")),
        rows=tuple(make_row(label, f"{value:g}") for label, value in shown),
        left_out=len(counts) - len(shown),
    )
