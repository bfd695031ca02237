"""Time: integer microseconds UTC inside, aware datetimes and RFC 3339 in the public API.

The only module that reads the machine's clock; all other code gets a `Clock`.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final, Protocol

from credenda.errors import Invalid

SECOND_US: Final = 1_000_000
HOUR_US: Final = 3_600 * SECOND_US
DAY_US: Final = 24 * HOUR_US
LONGEST_WAIT_US: Final = 2 * DAY_US
"""No lease, delay or pause is longer: a later end was set by a clock that has been put back since."""
EARLIEST_US: Final = (datetime.min.replace(tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
"""The first moment that can be written: the start of the year 1."""
_AHEAD_US: Final = HOUR_US
"""By how much the clocks of two machines may differ."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_SHOWN: Final = 64
"""Characters of an invalid time that its error repeats."""


class Clock(Protocol):
    """The source of time for leases, schedules and every other duration."""

    def now_us(self) -> int:
        """Return the present moment in microseconds since 1970-01-01 UTC."""
        ...


class SystemClock:
    """The machine's clock."""

    def now_us(self) -> int:
        """Return the present moment in microseconds since 1970-01-01 UTC."""
        return time.time_ns() // 1_000


class StoppedClock:
    """A clock that stands at one moment, for copies of a memory as it was then."""

    def __init__(self, moment_us: int) -> None:
        """Stand at a moment, in microseconds since 1970-01-01 UTC."""
        self._moment_us = moment_us

    def now_us(self) -> int:
        """Return that moment."""
        return self._moment_us


def has_ended(until_us: int, now_us: int) -> bool:
    """Return whether a lease, delay or pause is over, also if its end is too far ahead to have been meant.

    >>> has_ended(5, 10), has_ended(15, 10), has_ended(10 + 365 * DAY_US, 10)
    (True, False, True)
    """
    return not now_us < until_us <= now_us + LONGEST_WAIT_US


def is_ahead(past_us: int, now_us: int) -> bool:
    """Return whether the time of something past lies ahead, because the clock has been put back since.

    >>> is_ahead(5, 10), is_ahead(10 + 365 * DAY_US, 10)
    (False, True)
    """
    return past_us > now_us + _AHEAD_US


seconds: Final = time.perf_counter
"""Returns a monotonic reading in seconds, for measuring durations."""
cpu_seconds: Final = time.thread_time
"""Returns the processor time of this thread in seconds, for measuring work on a busy machine."""


def to_datetime(moment_us: int) -> datetime:
    """Convert microseconds since 1970-01-01 UTC to an aware datetime."""
    return _EPOCH + moment_us * _MICROSECOND


def from_datetime(moment: datetime, zone: tzinfo = UTC) -> int:
    """Convert a datetime to microseconds UTC; a naive datetime is in `zone`."""
    aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=zone)
    return (aware - _EPOCH) // _MICROSECOND


def to_local_time(moment_us: int, zone: tzinfo) -> int:
    """Return the local time of a zone, encoded as if it were UTC, so that days can be counted by division.

    >>> from zoneinfo import ZoneInfo
    >>> format_time(to_local_time(parse_time("2026-07-01T22:30:00Z"), ZoneInfo("Europe/Vienna")))
    '2026-07-02T00:30:00Z'
    """
    try:
        wall = to_datetime(moment_us).astimezone(zone)
    except OverflowError:  # the first or last hours of the calendar
        return moment_us
    return from_datetime(wall.replace(tzinfo=UTC))


def from_local_time(wall_us: int, zone: tzinfo) -> int:
    """Return the moment of a local time in a zone, the inverse of `to_local_time`.

    A local time that occurs twice, when summer time ends, means its first occurrence; one that is skipped, when summer
    time begins, is counted from the start of the gap.
    """
    return from_datetime(to_datetime(wall_us).replace(tzinfo=zone))


def format_time(moment_us: int | None) -> str | None:
    """Format microseconds UTC as RFC 3339 with zone, or None for None."""
    return None if moment_us is None else to_datetime(moment_us).isoformat().replace("+00:00", "Z")


def parse_time(value: datetime | str, zone: tzinfo = UTC) -> int:
    """Parse an aware or naive datetime, an RFC 3339 time or an ISO date as microseconds UTC.

    Raises `Invalid` for anything else, and for a moment outside the years 1 to 9999 in UTC.
    """
    if not isinstance(value, datetime | str):  # pyright: ignore[reportUnnecessaryIsInstance] - callers may be untyped
        raise Invalid(
            f"cannot read a {type(value).__name__} as a time",
            why="it has neither zone nor unit",
            fix="give a datetime, or text like 2026-03-01T09:30:00Z",
        )
    try:
        moment_us = from_datetime(datetime.fromisoformat(value.strip()) if isinstance(value, str) else value, zone)
        to_datetime(moment_us)
    except (ValueError, OverflowError) as error:
        raise Invalid(
            f"cannot read {str(value)[:_SHOWN]!r} as a time",
            why="it is neither RFC 3339 nor an ISO date of the years 1 to 9999",
            fix="write it like 2026-03-01 or 2026-03-01T09:30:00Z",
        ) from error
    return moment_us


def pause(duration_seconds: float) -> None:
    """Sleep to let other processes run; only waits for a lock or a database may use it."""
    time.sleep(duration_seconds)
