"""Intervals of days: weeks begin on Monday, and seasons are the northern meteorological ones. Pure."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Final, NamedTuple

__all__ = [
    "DECEMBER",
    "MONTHS",
    "QUARTER",
    "SEASONS",
    "WEEK",
    "WEEKDAYS",
    "Days",
    "find_relative_month",
    "find_relative_season",
    "find_relative_weekend",
    "find_weekday",
    "get_day",
    "get_month",
    "get_months",
    "get_season",
    "get_week",
    "get_weekend",
    "parse_month",
    "shift_period",
    "take_part",
]

WEEK: Final = 7
QUARTER: Final = 3
DECEMBER: Final = 12
_MONTH_NAMES: Final = "january february march april may june july august september october november december"
MONTHS: Final = tuple(_MONTH_NAMES.split())
WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
SEASONS: Final = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}


class Days(NamedTuple):
    """An interval of days, `until` excluded."""

    since: date
    until: date


def parse_month(name: str) -> int:
    """Return the number of a month from its name or first three letters."""
    return next(at for at, month in enumerate(MONTHS, 1) if month.startswith(name[:3].lower()))


def get_month(year: int, month: int) -> Days:
    """Return a month as an interval; months beyond December continue in the next year."""
    year, month = year + (month - 1) // DECEMBER, (month - 1) % DECEMBER + 1
    return Days(date(year, month, 1), date(year + month // DECEMBER, month % DECEMBER + 1, 1))


def get_months(year: int, month: int, count: int) -> Days:
    """Return an interval of `count` months."""
    return Days(get_month(year, month).since, get_month(year, month + count - 1).until)


def get_day(day: date) -> Days:
    """Return a day as an interval."""
    return Days(day, day + timedelta(days=1))


def get_season(year: int, name: str) -> Days:
    """Return a season by the year in which it begins."""
    return get_months(year, SEASONS[name.lower()], QUARTER)


def get_week(day: date) -> Days:
    """Return the week that contains a day."""
    monday = day - timedelta(days=day.weekday())
    return Days(monday, monday + timedelta(days=WEEK))


def get_weekend(day: date) -> Days:
    """Return the Saturday and Sunday of the week that contains a day."""
    monday = get_week(day).until
    return Days(monday - timedelta(days=2), monday)


def take_part(days: Days, part: str | None) -> Days:
    """Narrow an interval to its first, middle or last third."""
    if part is None:
        return days
    third = (days.until - days.since) // 3
    if part.lower().endswith(("early", "start of", "beginning of")):
        return Days(days.since, days.since + third)
    if part.lower().endswith(("late", "end of")):
        return Days(days.until - third, days.until)
    return Days(days.since + third, days.until - third)


def shift_period(today: date, count: int, unit: str) -> Days:
    """Move by units, and return the whole unit at the target."""
    match unit.lower():
        case "day":
            return get_day(today + timedelta(days=count))
        case "week":
            return get_week(today + timedelta(days=WEEK * count))
        case "month":
            return get_month(today.year, today.month + count)
        case _:
            return get_months(today.year + count, 1, DECEMBER)


def find_weekday(today: date, name: str, word: str) -> date:
    """Return the weekday last before today, from today on, or of next week."""
    ahead = (WEEKDAYS.index(name.lower()) - today.weekday()) % WEEK
    match word:
        case "last":
            return today + timedelta(days=ahead - WEEK)
        case "next":
            return get_week(today).until + timedelta(days=WEEKDAYS.index(name.lower()))
        case _:
            return today + timedelta(days=ahead)


def find_relative_weekend(today: date, step: int) -> Days:
    """Return last, this or next weekend; on a weekend, the last one is a week ago."""
    own = get_weekend(today)
    if step < 0 and today >= own.since:
        return Days(own.since - timedelta(days=WEEK), own.until - timedelta(days=WEEK))
    return Days(own.since + timedelta(days=WEEK * step), own.until + timedelta(days=WEEK * step))


def find_relative_month(today: date, month: int, step: int) -> Days:
    """Resolve "last May" to the latest May that is over, "next May" to the first that has not begun."""
    year = today.year
    if step < 0:
        return get_month(year if month < today.month else year - 1, month)
    if step > 0:
        return get_month(year if month > today.month else year + 1, month)
    return get_month(year, month)


def find_relative_season(today: date, name: str, step: int) -> Days:
    """Return the season that ended last, that is not over, or that has not begun yet."""
    candidates = [get_season(today.year + shift, name) for shift in (-2, -1, 0, 1)]
    if step < 0:
        return [one for one in candidates if one.until <= today][-1]
    if step > 0:
        return next(one for one in candidates if one.since > today)
    return next(one for one in candidates if one.until > today)
