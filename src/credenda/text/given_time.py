"""Read one time from a person: a moment, or a day in the person's zone, and no result rather than a wrong one.

Unlike `find_dates`, which finds times in running text, it requires that every word belongs to the time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, datetime, timedelta, tzinfo
from typing import Final, NamedTuple

from credenda.clock import HOUR_US, SECOND_US, from_local_time, parse_time, to_datetime, to_local_time
from credenda.errors import Invalid
from credenda.text.dates import DateSpan, find_dates_in

_MINUTE_US: Final = 60 * SECOND_US
_SHOWN: Final = 64
_DAYS: Final = 3
_RFC: Final = re.compile(r"\d{4}-\d{2}-\d{2}[Tt]")
_NOW: Final = frozenset({"now", "right now"})
_TIME_OF_DAY: Final = re.compile(
    r"(?:^|[ ,]+)(?:at )?(?P<hour>[01]?\d|2[0-3]):(?P<minute>[0-5]\d)(?=$|[ ,])", re.IGNORECASE
)
_AGO: Final = re.compile(r"(?P<count>\d{1,6}|an?) (?P<unit>minute|min|hour)s? ago", re.IGNORECASE)
_MONTH_DAY: Final = re.compile(
    r"(?P<month>[a-z]{3,9})\.? (?P<day>\d{1,2})(?P<rest>(?:,? \d{4})?)", re.IGNORECASE | re.ASCII
)
_NUMBERS: Final = re.compile(r"\d{1,4}[./-]\d{1,2}[./-]?(?:\d{1,4})?", re.ASCII)
_FILLERS: Final = re.compile(r"(?:\b(?:on|at|in|the|of|day)\b|[\s,.])+", re.IGNORECASE)


class Period(NamedTuple):
    """The interval [from_us, until_us), microseconds UTC; for a moment both are the same."""

    from_us: int
    until_us: int

    @property
    def moment(self) -> bool:
        """Whether it has no length."""
        return self.from_us == self.until_us


def parse_moment(value: datetime | str, zone: tzinfo, now_us: int) -> int:
    """Parse a moment: a datetime, RFC 3339, or words such as "yesterday", "3 March" and "Friday 14:30".

    A day means its end, the last microsecond in the zone, so that all its events are included; today means now. A day
    without a year, or a weekday, is the latest one. Raises `Invalid` for unreadable or ambiguous text and for more than
    one day.
    """
    period = parse_period(value, zone, now_us)
    if period.moment:
        return period.from_us
    if not _to_single_day(period, zone):
        last = to_datetime(period.until_us - 1).astimezone(zone).date()
        raise Invalid(
            f"{_format_value(value)} is more than a day",
            why="a single moment is required",
            fix=f"name a day of it, such as {last.isoformat()}",
        )
    return now_us if period.from_us <= now_us < period.until_us else period.until_us - 1


def parse_start(value: datetime | str, zone: tzinfo, now_us: int) -> int:
    """Parse a moment like `parse_moment`; a day or a longer period means its start.

    >>> from zoneinfo import ZoneInfo
    >>> to_datetime(parse_start("yesterday", ZoneInfo("UTC"), 1_793_664_000_000_000)).isoformat()
    '2026-11-02T00:00:00+00:00'
    """
    return parse_period(value, zone, now_us).from_us


def parse_period(value: datetime | str, zone: tzinfo, now_us: int) -> Period:
    """Parse a moment or a period of whole days in a zone, like `parse_moment`; periods may have any length."""
    if not isinstance(value, str):
        moment_us = parse_time(value, zone)
        return Period(moment_us, moment_us)
    text = " ".join(value.split())
    if text.casefold() in _NOW:
        return Period(now_us, now_us)
    try:
        period = _parse_hours_ago(text, now_us) or _parse_exact(text, zone) or _parse_words(text, zone, now_us)
        for moment_us in period or ():
            to_datetime(moment_us)
    except (ValueError, OverflowError):  # a year before the first, or beyond the last
        period = None
    if period is None:
        parts = [int(part) for part in re.split(r"[./-]", text) if part] if _NUMBERS.fullmatch(text) else []
        if len(parts) == _DAYS and max(parts[:2]) <= 12 and parts[0] != parts[1]:  # noqa: PLR2004 - months
            why = "day and month may be exchanged"
        else:
            why = "it is neither RFC 3339 nor words for a day, a period or a time of day that are known here"
        fix = 'write it like 2026-03-01, 2026-03-01T09:30:00Z, "3 March 2026" or "yesterday 14:30"'
        raise Invalid(f"cannot read {_format_value(text)} as a time", why=why, fix=fix)
    return period


def _to_single_day(period: Period, zone: tzinfo) -> bool:
    first, last = (to_datetime(at).astimezone(zone).date() for at in (period.from_us, period.until_us - 1))
    return first == last


def _parse_hours_ago(text: str, now_us: int) -> Period | None:
    found = _AGO.fullmatch(text)
    if found is None:
        return None
    count = int(found["count"]) if found["count"].isdigit() else 1
    moment_us = now_us - count * (HOUR_US if found["unit"].lower() == "hour" else _MINUTE_US)
    return Period(moment_us, moment_us)


def _parse_exact(text: str, zone: tzinfo) -> Period | None:
    """Parse RFC 3339, or an ISO date as a whole day."""
    try:
        moment_us = parse_time(text, zone)
    except Invalid:
        return None
    try:
        following = date.fromisoformat(text) + timedelta(days=1)
    except (ValueError, OverflowError):
        return Period(moment_us, moment_us)
    return Period(moment_us, parse_time(following.isoformat(), zone))


def _parse_words(text: str, zone: tzinfo, now_us: int) -> Period | None:
    """Parse words for a time, with or without the time of day."""
    if _RFC.match(text):  # no moment, as it could not be read exactly
        return None
    clock = _TIME_OF_DAY.search(text)
    rest = text if clock is None else f"{text[: clock.start()]} {text[clock.end() :]}".strip(" ,")
    if clock is not None and not rest:
        rest = "today"
    span = next(_parse_variants(rest, zone, now_us), None)
    if span is None or span.from_us is None or span.until_us is None:
        return None
    period = Period(span.from_us, span.until_us)
    if clock is None:
        return period
    if not _to_single_day(period, zone):
        return None
    wall_us = to_local_time(period.from_us, zone) // (24 * HOUR_US) * (24 * HOUR_US)
    moment_us = from_local_time(wall_us + int(clock["hour"]) * HOUR_US + int(clock["minute"]) * _MINUTE_US, zone)
    return Period(moment_us, moment_us)


def _parse_variants(text: str, zone: tzinfo, now_us: int) -> Iterator[DateSpan]:
    """Try the words alone and after a preposition; all of them must belong to the time."""
    turned = _MONTH_DAY.sub(lambda found: f"{found['day']} {found['month']}{found['rest']}", text)
    named = text[:1].upper() + text[1:]
    for lead in ("", "on ", "in "):
        for words in (turned, named):
            asked = f"{lead}{words}"
            spans = find_dates_in(zone, asked, now_us, "past")
            if len(spans) == 1 and not _remove_span(asked, spans[0]):
                yield spans[0]


def _remove_span(text: str, span: DateSpan) -> str:
    return _FILLERS.sub("", f"{text[: span.start]} {text[span.stop :]}")


def _format_value(value: datetime | str) -> str:
    return repr(str(value)[:_SHOWN])
