"""Drawings of the web interface: SVG made on the server, each with the same data as a table. Pure."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import count, takewhile
from typing import Final
from xml.etree import ElementTree as ET

from markupsafe import Markup

from credenda.clock import DAY_US, HOUR_US, SECOND_US, from_datetime, to_datetime

# The elements of a drawing, and texts that are safe in one.


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


class Part:
    """A part of a drawing, whose elements all have the attributes of `common`."""

    def __init__(self, root: ET.Element, **common: str) -> None:
        self._root = root
        self._common = common

    def add(self, tag: str, name: str = "", title: str = "", text: str = "", **places: str | float) -> ET.Element:
        """Add an element with the class `name`; its texts are shortened, and _ in an attribute becomes a hyphen."""
        given = {**({"class": name} if name else {}), **places, **self._common}
        element = ET.SubElement(
            self._root,
            tag,
            {key.replace("_", "-"): one if isinstance(one, str) else f"{one:g}" for key, one in given.items()},
        )
        if title:
            ET.SubElement(element, "title").text = shorten(title, _LONG_TEXT)
        if text:
            element.text = shorten(text, _TEXT)
        return element


class Canvas(Part):
    """An SVG element under construction, `height` pixels high and as wide as its place."""

    def __init__(self, title: str, about: str, *, height: float, name: str) -> None:
        size = {"width": "100%", "height": f"{height:.0f}"}
        super().__init__(ET.Element("svg", {"class": f"drawing {name}", "role": "img", **size}))
        ET.SubElement(self._root, "title").text = shorten(title, _LONG_TEXT)
        ET.SubElement(self._root, "desc").text = shorten(about, _LONG_TEXT)

    def stretch(self, name: str, *, y: float, height: float) -> Part:
        """Add a part 100 wide and `height` high, which stretches to the width of the drawing; strokes keep theirs."""
        box = {"viewBox": f"0 0 100 {height:g}", "preserveAspectRatio": "none"}
        return Part(self.add("svg", name, y=y, width="100%", height=height, **box), vector_effect="non-scaling-stroke")

    def write(self) -> Markup:
        """Return the element as text of an HTML page."""
        return Markup(ET.tostring(self._root, encoding="unicode"))  # noqa: S704 - every text in it is escaped


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
_MINUTE_US: Final = 60 * SECOND_US
_STEPS: Final[Sequence[tuple[int, int, str]]] = (
    *((SECOND_US * count, 0, "%H:%M:%S") for count in (1, 15)),
    *((_MINUTE_US * count, 0, "%H:%M") for count in (1, 5, 15)),
    *((HOUR_US * count, 0, "%d %b %H:%M") for count in (1, 3, 12)),
    *((DAY_US * count, 0, "%Y-%m-%d") for count in (1, 2, 7, 14)),
    *((_YEAR_US // 12 * count, count, "%Y-%m") for count in (1, 3, 6)),
    *((_YEAR_US * count, 12 * count, "") for count in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000)),
)
"""The distance of two marks, how many calendar months it is, and how a mark is written; "" for its year."""
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
    for step_us, months, form in _STEPS:
        if long_us / step_us < ticks_max:
            start = _to_local(axis.start_us, zone)
            moments = _list_months(start, months) if months else _list_moments(start, step_us)
            placed = ((from_datetime(one), one) for one in takewhile(lambda one: one.year < _LAST_YEAR, moments))
            shown = takewhile(lambda one: one[0] <= axis.end_us, placed)
            return [
                Tick(at_us, one.strftime(form) if form else f"{one.year:04d}")
                for at_us, one in shown
                if at_us >= axis.start_us
            ][:ticks_max]
    return []


def _list_months(start: datetime, step: int) -> Iterator[datetime]:
    """Yield the beginnings of months, every so many, from one not after a moment."""
    month = start.year * _MONTHS + start.month - 1
    for number in count(month - month % step, step):
        year = max(1, number // _MONTHS)
        yield datetime(year, number % _MONTHS + 1, 1, tzinfo=start.tzinfo)


def _list_moments(start: datetime, step_us: int) -> Iterator[datetime]:
    """Yield round moments from one not after another: days by the calendar, and parts of a day by the clock."""
    midnight = start.replace(hour=0, minute=0, second=0, microsecond=0)
    step = timedelta(microseconds=step_us)
    if step >= timedelta(days=1):
        yield from (midnight + number * step for number in count())
    first = (midnight + (start - midnight) // step * step).astimezone(UTC)
    yield from ((first + number * step).astimezone(start.tzinfo) for number in count())


def _to_local(at_us: int, zone: tzinfo) -> datetime:
    moment = to_datetime(at_us)
    try:
        return moment.astimezone(zone)
    except OverflowError:  # the first and the last day of the calendar
        return moment


def show_moment(at_us: int, zone: tzinfo = UTC) -> str:
    """Return a moment to the minute in a zone.

    >>> show_moment(0)
    '1970-01-01 00:00'
    """
    moment = _to_local(at_us, zone)
    return f"{moment.year:04d}-{moment:%m-%d %H:%M}"


_LINE: Final = 22
_NAMES: Final = 0.34
"""The share of the width that the names take."""
_FIGURES: Final = 0.14
_LABEL: Final = 18


def _write(number: float, form: str, words: Words) -> str:
    """Write a number with the decimal sign of a language."""
    return format(number, form).replace(".", words("."))


def draw_terms(terms: Mapping[str, float], total: float, *, words: Words = str, name: str = "") -> Drawing:
    """Draw each term from a common zero, to the right where it adds and to the left where it takes, and their sum.

    `name` is that of the sum.
    """
    of = name or words("Score")
    name = f"{words('Terms of the score')}: {of}"
    rows = [*terms.items(), (of, total)]
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
            title=f"{shorten(term, _LABEL)}: {_write(value, '+.2f', words)}",
        )
        canvas.add("text", "figure", x="100%", y=y + 15, text_anchor="end", text=_write(value, "+.2f", words))
    return Drawing(
        title=name,
        svg=canvas.write(),
        head=(words("Term"), words("Value")),
        rows=tuple(make_row(term, _write(value, "+.2f", words)) for term, value in rows),
    )


# Retention curves, and the memories that lie on them. Pure.


_HIGH: Final = 260
_TOP: Final = 10
_FOOT: Final = 40
_LEFT: Final = 0.07
_KEY_LINE: Final = 20
_TENTHS: Final = 10
_POINTS_MAX: Final = 500
_TABLE_DAYS: Final = (0, 7, 30, 60, 90, 180)
_LABEL_CURVES: Final = 44


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
) -> Drawing:
    """Draw curves over ages in days, ascending and not empty, with a dot for each of at most 500 memories.

    `threshold` is a level below which memories leave; it becomes a line.
    """
    name = words("Retention by age")
    height = _TOP + _HIGH + _FOOT + _KEY_LINE * len(curves)
    about = words("Retention from 1 to 0 over days since the last use; each dot is a memory.")
    canvas = Canvas(name, about, height=height, name="curves")
    last = max(days[-1], 1.0)
    for tenth in range(0, _TENTHS + 1, 2):
        y = _TOP + _find_y(tenth / _TENTHS)
        canvas.add("line", "grid", x1=share(_LEFT), x2="100%", y1=f"{y:.1f}", y2=f"{y:.1f}")
        canvas.add("text", "tick", x="0", y=f"{y + 4:.1f}", text=_write(tenth / _TENTHS, ".1f", words))
    step = next(one for one in (1, 7, 30, 60, 90, 180, 365, 3_650, 10**9) if last / one <= _TENTHS)
    for tick in range(0, int(last) + 1, step):
        along = _find_x(tick, last)
        anchor = "middle" if along < 1.0 - _LEFT else "end"
        y = _TOP + _HIGH
        canvas.add("line", "axis", x1=share(along), x2=share(along), y1=y, y2=y + 5)
        canvas.add("text", "tick", x=share(along), y=y + 18, text_anchor=anchor, text=str(tick))
    canvas.add("text", "tick", x="50%", y=_TOP + _HIGH + 34, text_anchor="middle", text=words("days since last use"))
    field = canvas.stretch("field", y=_TOP, height=_HIGH)
    if threshold is not None:
        field.add("line", "threshold", x1=_LEFT * 100, x2=100, y1=_find_y(threshold), y2=_find_y(threshold))
    for curve in curves:
        dash = " dashed" if curve.dashed else ""
        pairs = zip(days, curve.values, strict=True)
        at = " ".join(f"{_find_x(day, last) * 100:.2f},{_find_y(value):.1f}" for day, value in pairs)
        field.add("polyline", f"curve colour-{curve.colour}{dash}", title=curve.label, points=at)
    for point in points[:_POINTS_MAX]:
        score, days_since = _write(point.score, ".2f", words), _write(point.days, ".0f", words)
        label = f"{shorten(point.label, _LABEL_CURVES)}: {score}, {days_since} d"
        cx, cy = share(_find_x(point.days, last)), _TOP + _find_y(point.score)
        canvas.add("circle", f"point layer-{point.layer or 'none'}", title=label, cx=cx, cy=f"{cy:.1f}", r=4)
    for number, shown in enumerate(curves):
        y = _TOP + _HIGH + _FOOT + _KEY_LINE * number + 10
        dash = " dashed" if shown.dashed else ""
        canvas.add("line", f"curve colour-{shown.colour}{dash}", x1="0", x2="5%", y1=y, y2=y)
        canvas.add("text", "label", x="6%", y=y + 4, text=shorten(shown.label, _LABEL_CURVES))
    left_out = max(0, len(points) - _POINTS_MAX)
    places = [min(range(len(days)), key=lambda at: abs(days[at] - wanted)) for wanted in _TABLE_DAYS]
    places = sorted(set(places))
    return Drawing(
        title=name,
        svg=canvas.write(),
        head=(words("Curve"), *(f"{days[at]:g} d" for at in places)),
        rows=tuple(make_row(one.label, *(_write(one.values[at], ".2f", words) for at in places)) for one in curves),
        left_out=left_out,
    )


def _find_x(day: float, last: float) -> float:
    return _LEFT + (1.0 - _LEFT) * min(max(day, 0.0) / last, 1.0)


def _find_y(value: float) -> float:
    """Return the pixels from the top of the field at which a retention lies."""
    return _HIGH * (1.0 - min(1.0, max(0.0, value)))


# The versions of a memory or slot as lanes, on both time axes. Pure.


_HEAD: Final = 26
_LANE: Final = 34
_BAR: Final = 12
_FOOT_LANES: Final = 26
_GAP_LANES: Final = 14
_NARROW: Final = 0.006
"""The least share of the width that a bar takes, so that a short time is seen."""
_ROOM: Final = 0.02
_LANES_MAX: Final = 24
_LABEL_LANES: Final = 44
_LAST_TICK: Final = 0.9
_CLASSES: Final = frozenset(
    {"active", "challenged", "candidate", "superseded", "merged", "invalidated", "archived", "forgotten", "deleted"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """One version: its words, its status, when it was true, and when the store held it. None is open."""

    label: str
    status: str
    recorded_us: int
    expired_us: int | None = None
    valid_from_us: int | None = None
    valid_until_us: int | None = None
    was_true: bool = True
    """Whether it was ever true; a corrected value was not."""
    link: str = ""

    @property
    def since_us(self) -> int:
        """The time from which it was true; that of its recording where nothing was said, but not after its end."""
        if self.valid_from_us is not None:
            return self.valid_from_us
        return self.recorded_us if self.valid_until_us is None else min(self.recorded_us, self.valid_until_us)


@dataclass(frozen=True, slots=True)
class _Bar:
    start_us: int
    end_us: int | None
    is_drawn: bool = True


def draw_lanes(
    versions: Sequence[Version], *, now_us: int, zone: tzinfo = UTC, words: Words = str, title: str = ""
) -> Drawing:
    """Draw the newest 24 versions, each as a lane in two panels: when it was true, and when the memory held it.

    The table has every version, in the given order.
    """
    shown = versions[-_LANES_MAX:]
    panel = _HEAD + _LANE * len(shown) + _FOOT_LANES
    name = title or words("Versions on both time axes")
    about = words("Above, when each value was true; below, when the memory held it. A bar without an end still holds.")
    canvas = Canvas(name, about, height=2 * panel + _GAP_LANES, name="lanes")
    valid = [_Bar(one.since_us, one.valid_until_us, is_drawn=one.was_true) for one in shown]
    held = [_Bar(one.recorded_us, one.expired_us) for one in shown]
    _draw_panel(canvas, words("True in the world"), shown, valid, top=0, now_us=now_us, zone=zone)
    _draw_panel(canvas, words("Held by the memory"), shown, held, top=panel + _GAP_LANES, now_us=now_us, zone=zone)
    return Drawing(
        title=name,
        svg=canvas.write(),
        head=tuple(words(one) for one in ("Value", "Status", "True from", "True until", "Held from", "Held until")),
        rows=tuple(_make_row(one, zone, words) for one in versions),
        left_out=len(versions) - len(shown),
    )


def _make_row(one: Version, zone: tzinfo, words: Words) -> Row:
    def show(at_us: int | None) -> str:
        return "–" if at_us is None else show_moment(at_us, zone)

    valid = (one.since_us, one.valid_until_us) if one.was_true else (None, None)
    times = (*valid, one.recorded_us, one.expired_us)
    return make_row(one.label, words(one.status), *map(show, times), link=one.link)


def _draw_panel(
    canvas: Canvas,
    head: str,
    shown: Sequence[Version],
    bars: Sequence[_Bar],
    *,
    top: float,
    now_us: int,
    zone: tzinfo,
) -> None:
    # From the first beginning to now, or to a later end, with a little room on both sides.
    start = min((bar.start_us for bar in bars), default=now_us)
    ends = [bar.end_us for bar in bars if bar.end_us is not None]
    end = max([now_us, start + 1, *ends])
    room = int((end - start) * _ROOM)
    axis = Axis(start - room, end + room)
    bottom = top + _HEAD + _LANE * len(shown)
    canvas.add("text", "panel-name", x="0", y=top + 14, text=head)
    for tick in find_ticks(axis, zone):
        place = axis.place(tick.at_us)
        canvas.add("line", "grid", x1=share(place), x2=share(place), y1=top + _HEAD, y2=bottom + 4)
        anchor = "end" if place > _LAST_TICK else "middle" if place > 1 - _LAST_TICK else "start"
        canvas.add("text", "tick", x=share(place), y=bottom + 18, text_anchor=anchor, text=tick.label)
    now = share(axis.place(now_us))
    canvas.add("line", "now", x1=now, x2=now, y1=top + _HEAD, y2=bottom + 4)
    for number, (version, bar) in enumerate(zip(shown, bars, strict=True)):
        _draw_lane(canvas, version, bar, axis, y=top + _HEAD + _LANE * number, zone=zone)


def _draw_lane(canvas: Canvas, version: Version, bar: _Bar, axis: Axis, *, y: float, zone: tzinfo) -> None:
    start, end = axis.place(bar.start_us), 1.0 if bar.end_us is None else axis.place(bar.end_us)
    wide = max(_NARROW, end - start)
    start = min(start, 1.0 - wide)
    status = version.status if version.status in _CLASSES else "active"
    open_end = " open" if bar.end_us is None else ""
    until = "…" if bar.end_us is None else show_moment(bar.end_us, zone)
    label = shorten(version.label, _LABEL_LANES)
    if not bar.is_drawn:
        return
    canvas.add(
        "rect",
        f"bar status-{status}{open_end}",
        title=f"{label}: {show_moment(bar.start_us, zone)} – {until}",
        x=share(start),
        y=y + 17,
        width=share(wide),
        height=_BAR,
        rx=3,
    )
    side, anchor = (start + wide, "end") if start > 1 / 2 else (start, "start")
    canvas.add("text", "label", x=share(side), y=y + 13, text=label, text_anchor=anchor)
