"""The marks of a time axis: calendar steps in the person's time zone. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final

from credenda.clock import DAY_US, HOUR_US, SECOND_US, to_datetime

__all__ = ["Axis", "Tick", "find_ticks", "show_moment"]

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
