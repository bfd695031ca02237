"""Times as a person reads them: how long ago, and the moment itself beside it."""

from __future__ import annotations

from datetime import datetime, tzinfo
from typing import Final

from credenda.clock import DAY_US, HOUR_US, SECOND_US, from_datetime, to_datetime
from credenda.interfaces.web.languages import translate

__all__ = ["describe_age", "describe_span", "format_day", "format_moment", "to_microseconds"]

_MINUTE_US: Final = 60 * SECOND_US
_UNITS: Final = (
    (365 * DAY_US, "{n} year", "{n} years"),
    (30 * DAY_US, "{n} month", "{n} months"),
    (7 * DAY_US, "{n} week", "{n} weeks"),
    (DAY_US, "{n} day", "{n} days"),
    (HOUR_US, "{n} hour", "{n} hours"),
    (_MINUTE_US, "{n} minute", "{n} minutes"),
)
_SECONDS: Final = (SECOND_US, "{n} second", "{n} seconds")
_AGO: Final = {one: f"{one} ago" for _, *words in (*_UNITS, _SECONDS) for one in words}
_AHEAD: Final = {one: f"in {one}" for _, *words in (*_UNITS, _SECONDS) for one in words}


def to_microseconds(moment: int | datetime) -> int:
    """Return a time in microseconds, given as such or as a datetime."""
    return from_datetime(moment) if isinstance(moment, datetime) else moment


def describe_age(moment_us: int, now_us: int, language: str, *, exactly: bool = False) -> str:
    """Say how long ago or ahead a moment is, in the largest unit that fits; `exactly` counts seconds too.

    >>> describe_age(0, 3 * 3_600_000_000, "en")
    '3 hours ago'
    """
    span_us = now_us - moment_us
    for unit_us, one, many in (*_UNITS, _SECONDS) if exactly else _UNITS:
        count = abs(span_us) // unit_us
        if count:
            words = (_AGO if span_us > 0 else _AHEAD)[one if count == 1 else many]
            return translate(language, words, n=count)
    return translate(language, "just now" if span_us >= 0 else "in a moment")


def describe_span(duration_seconds: float, language: str) -> str:
    """Say how long something took or has waited.

    >>> describe_span(0.0042, "en"), describe_span(7_300, "en")
    ('4 ms', '2 hours')
    """
    if duration_seconds < 1:
        return f"{duration_seconds * 1_000:.0f} ms"
    span_us = int(duration_seconds * SECOND_US)
    for unit_us, one, many in _UNITS:
        count = span_us // unit_us
        if count:
            return translate(language, one if count == 1 else many, n=count)
    return f"{duration_seconds:.0f} s"


def format_moment(moment_us: int, zone: tzinfo) -> str:
    """Write a moment in a time zone, the same in every language.

    >>> from datetime import UTC
    >>> format_moment(0, UTC)
    '1970-01-01 00:00 UTC'
    """
    local = to_datetime(moment_us).astimezone(zone)
    offset = local.strftime("%z")
    named = "UTC" if offset in {"+0000", ""} else f"UTC{offset[:3]}:{offset[3:]}"
    return f"{local:%Y-%m-%d %H:%M} {named}"


def format_day(moment_us: int, zone: tzinfo) -> str:
    """Write the day of a moment in a time zone."""
    return f"{to_datetime(moment_us).astimezone(zone):%Y-%m-%d}"
