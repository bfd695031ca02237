"""The versions of a memory or slot as lanes, on both time axes. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, tzinfo
from typing import Final

from credenda.interfaces.web.drawings.svg import Canvas, Drawing, Row, Words, make_row, share, shorten
from credenda.interfaces.web.drawings.ticks import Axis, find_ticks, show_moment

__all__ = ["Version", "draw_lanes"]

_HEAD: Final = 26
_LANE: Final = 34
_BAR: Final = 12
_FOOT: Final = 26
_GAP: Final = 14
_NARROW: Final = 0.006
"""The least share of the width that a bar takes, so that a short time is seen."""
_ROOM: Final = 0.02
_LANES_MAX: Final = 24
_LABEL: Final = 44
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
        """The time from which it was true; that of its recording where nothing was said."""
        return self.recorded_us if self.valid_from_us is None else self.valid_from_us


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
    panel = _HEAD + _LANE * len(shown) + _FOOT
    name = title or words("Versions on both time axes")
    about = words("Above, when each value was true; below, when the memory held it. A bar without an end still holds.")
    canvas = Canvas(name, about, height=2 * panel + _GAP, name="lanes")
    valid = [_Bar(one.since_us, one.valid_until_us, is_drawn=one.was_true) for one in shown]
    held = [_Bar(one.recorded_us, one.expired_us) for one in shown]
    _draw_panel(canvas, words("True in the world"), shown, valid, top=0, now_us=now_us, zone=zone)
    _draw_panel(canvas, words("Held by the memory"), shown, held, top=panel + _GAP, now_us=now_us, zone=zone)
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


def _find_axis(bars: Sequence[_Bar], now_us: int) -> Axis:
    """Return the time from the first beginning to now, or to a later end, with a little room on both sides."""
    start = min((bar.start_us for bar in bars), default=now_us)
    ends = [bar.end_us for bar in bars if bar.end_us is not None]
    end = max([now_us, start + 1, *ends])
    room = int((end - start) * _ROOM)
    return Axis(start - room, end + room)


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
    axis = _find_axis(bars, now_us)
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
    label = shorten(version.label, _LABEL)
    if bar.is_drawn:
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
