"""The elements of a drawing, and texts that are safe in one. Pure."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final
from xml.etree import ElementTree as ET

from markupsafe import Markup

from credenda.clock import DAY_US, HOUR_US, SECOND_US, to_datetime

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


# The marks of a time axis: calendar steps in the person's time zone. Pure.


_YEAR_US: Final = 365 * DAY_US + DAY_US // 4
_MONTH_US: Final = _YEAR_US // 12
_MINUTE_US: Final = 60 * SECOND_US
_STEPS: Final[Sequence[tuple[int, str, int]]] = (
    (SECOND_US, "second", 1),
    (15 * SECOND_US, "second", 15),
    (_MINUTE_US, "minute", 1),
    (5 * _MINUTE_US, "minute", 5),
    (15 * _MINUTE_US, "minute", 15),
    (HOUR_US, "hour", 1),
    (3 * HOUR_US, "hour", 3),
    (12 * HOUR_US, "hour", 12),
    (DAY_US, "day", 1),
    (2 * DAY_US, "day", 2),
    (7 * DAY_US, "day", 7),
    (14 * DAY_US, "day", 14),
    (_MONTH_US, "month", 1),
    (3 * _MONTH_US, "month", 3),
    (6 * _MONTH_US, "month", 6),
    *((_YEAR_US * years, "year", years) for years in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000)),
)
_FORMS: Final = {
    "second": "%H:%M:%S",
    "minute": "%H:%M",
    "hour": "%d %b %H:%M",
    "day": "%Y-%m-%d",
    "month": "%Y-%m",
    "year": "%Y",
}
_MONTHS: Final = 12
_LAST_YEAR: Final = 9_998


@dataclass(frozen=True, slots=True)
class Tick:
    """A mark of an axis."""

    at_us: int
    label: str


@dataclass(frozen=True, slots=True)
class Axis:
    """A span of time, drawn from left to right over the whole width."""

    start_us: int
    end_us: int

    def place(self, at_us: int) -> float:
        """Return the share of the width at which a moment lies, in [0, 1]."""
        part = (at_us - self.start_us) / max(1, self.end_us - self.start_us)
        return min(1.0, max(0.0, part))


def find_ticks(axis: Axis, zone: tzinfo = UTC, *, ticks_max: int = 4) -> list[Tick]:
    """Return at most so many round moments inside an axis, oldest first."""
    long_us = max(1, axis.end_us - axis.start_us)
    for step_us, unit, count in _STEPS:
        if long_us / step_us < ticks_max:
            return list(_walk(axis, zone, unit, count))[:ticks_max]
    return []


def _walk(axis: Axis, zone: tzinfo, unit: str, count: int) -> Iterator[Tick]:
    moment = _round_down(_to_local(axis.start_us, zone), unit, count)
    while moment.year < _LAST_YEAR:
        at_us = _to_us(moment)
        if at_us > axis.end_us:
            return
        if at_us >= axis.start_us:
            text = f"{moment.year:04d}" if unit == "year" else moment.strftime(_FORMS[unit])
            yield Tick(at_us, text)
        moment = _move_on(moment, unit, count)


def _round_down(moment: datetime, unit: str, count: int) -> datetime:
    midnight = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    match unit:
        case "year":
            return midnight.replace(year=max(1, moment.year - moment.year % count), month=1, day=1)
        case "month":
            return midnight.replace(month=moment.month - (moment.month - 1) % count, day=1)
        case "day":
            return midnight
        case "hour":
            return midnight.replace(hour=moment.hour - moment.hour % count)
        case "minute":
            return moment.replace(minute=moment.minute - moment.minute % count, second=0, microsecond=0)
        case _:
            return moment.replace(second=moment.second - moment.second % count, microsecond=0)


def _move_on(moment: datetime, unit: str, count: int) -> datetime:
    match unit:
        case "year":
            return moment.replace(year=moment.year + count if moment.year > 1 else max(2, count))
        case "month":
            months = moment.month - 1 + count
            return moment.replace(year=moment.year + months // _MONTHS, month=months % _MONTHS + 1)
        case "day":
            return moment + timedelta(days=count)
        case _:
            later = moment.astimezone(UTC) + timedelta(**{f"{unit}s": count})
            return later.astimezone(moment.tzinfo)


def _to_local(at_us: int, zone: tzinfo) -> datetime:
    moment = to_datetime(at_us)
    try:
        return moment.astimezone(zone)
    except OverflowError:  # the first and the last day of the calendar
        return moment


def _to_us(moment: datetime) -> int:
    since = moment - datetime(1970, 1, 1, tzinfo=UTC)
    return (since.days * 86_400 + since.seconds) * SECOND_US + since.microseconds


def show_moment(at_us: int, zone: tzinfo = UTC) -> str:
    """Return a moment to the minute in a zone.

    >>> show_moment(0)
    '1970-01-01 00:00'
    """
    moment = _to_local(at_us, zone)
    return f"{moment.year:04d}-{moment:%m-%d %H:%M}"
