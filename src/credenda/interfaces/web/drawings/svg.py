"""The elements of a drawing, and texts that are safe in one. Pure."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final
from xml.etree import ElementTree as ET

from markupsafe import Markup

__all__ = ["Canvas", "Drawing", "Row", "Stretched", "Words", "make_row", "share", "shorten"]

Words = Callable[[str], str]
"""Translates a text of the interface."""

_INVISIBLE: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})
"""Categories of characters that no label has: controls, marks that turn its direction, half pairs, unassigned ones."""
_READ_TIMES: Final = 8
_TEXT: Final = 60
_LONG_TEXT: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A row of the table beside a drawing; `link` is the address that the first cell leads to."""

    cells: tuple[str, ...]
    link: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """An SVG element, and its data as a table; `left_out` counts the items that only the table has, or neither."""

    title: str
    svg: Markup
    head: tuple[str, ...]
    rows: tuple[Row, ...]
    left_out: int = 0


class Canvas:
    """An SVG element under construction, `height` pixels high and as wide as its place."""

    def __init__(self, title: str, about: str, *, height: float, name: str) -> None:
        """Begin with the title and the description that a screen reader says."""
        self._root = ET.Element(
            "svg", {"class": f"drawing {name}", "role": "img", "width": "100%", "height": f"{height:.0f}"}
        )
        ET.SubElement(self._root, "title").text = shorten(title, _LONG_TEXT)
        ET.SubElement(self._root, "desc").text = shorten(about, _LONG_TEXT)

    def add(self, tag: str, name: str = "", title: str = "", text: str = "", **places: str | float) -> ET.Element:
        """Add an element with the class `name`; its texts are shortened, and _ in an attribute becomes a hyphen."""
        return _add(self._root, tag, name, title=title, text=text, places=places)

    def stretch(self, name: str, *, y: float, height: float) -> Stretched:
        """Add a part whose inside is 100 wide and `height` high, and which stretches to the width of the drawing."""
        inner = ET.SubElement(
            self._root,
            "svg",
            {
                "class": name,
                "y": f"{y:g}",
                "width": "100%",
                "height": f"{height:g}",
                "viewBox": f"0 0 100 {height:g}",
                "preserveAspectRatio": "none",
            },
        )
        return Stretched(inner)

    def write(self) -> Markup:
        """Return the element as text of an HTML page."""
        return Markup(ET.tostring(self._root, encoding="unicode"))  # noqa: S704 - every text in it is escaped


class Stretched:
    """A part of a drawing in which lines and paths have numbers for places, and strokes keep their width."""

    def __init__(self, root: ET.Element) -> None:
        """Add to this element."""
        self._root = root

    def add(self, tag: str, name: str = "", title: str = "", **places: str | float) -> ET.Element:
        """Add an element."""
        return _add(self._root, tag, name, title=title, places={**places, "vector_effect": "non-scaling-stroke"})


def _add(
    parent: ET.Element, tag: str, name: str, *, title: str, places: dict[str, str | float], text: str = ""
) -> ET.Element:
    given = {key.replace("_", "-"): value if isinstance(value, str) else f"{value:g}" for key, value in places.items()}
    element = ET.SubElement(parent, tag, {**({"class": name} if name else {}), **given})
    if title:
        ET.SubElement(element, "title").text = shorten(title, _LONG_TEXT)
    if text:
        element.text = shorten(text, _TEXT)
    return element


def make_row(*cells: str, link: str = "") -> Row:
    """Return a row of a table, with short and visible texts."""
    return Row(cells=tuple(shorten(one, _LONG_TEXT) for one in cells), link=link)


def share(part: float) -> str:
    """Return a share of the width, given in [0, 1], as an attribute.

    >>> share(0.25), share(2)
    ('25%', '100%')
    """
    return f"{min(1.0, max(0.0, part)) * 100:.2f}".rstrip("0").rstrip(".") + "%"


def shorten(text: str, characters_max: int) -> str:
    r"""Return a text as one line of at most so many characters, without any that is invisible or turns its direction.

    Only the beginning of a long text is looked at.

    >>> shorten("a\u202e\ud800b\n  c", 10), shorten("abcdef", 4), shorten("\u200b", 3)
    ('ab c', 'abc…', '–')
    """
    begun = text[: characters_max * _READ_TIMES]
    visible = "".join(
        " " if one.isspace() else one for one in begun if one.isspace() or unicodedata.category(one) not in _INVISIBLE
    )
    line = " ".join(visible.split())
    if len(line) > characters_max or (len(begun) < len(text) and line):
        line = line[: characters_max - 1].rstrip() + "…"
    return line or "–"
