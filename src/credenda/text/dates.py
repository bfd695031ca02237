"""Dates and times in text, as intervals of UTC days, by rules that prefer no result over a wrong one. Pure.

Weeks begin on Monday, seasons are the northern meteorological ones, and an interval is half open. A weekday or a day
without a year is resolved only if `lean` tells whether the text refers to the past or the future (or one year is
clearly nearer).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, date, datetime, timedelta, tzinfo
from functools import cache
from typing import Final, Literal, NamedTuple

from credenda.clock import (
    DAY_US,
    HOUR_US,
    SECOND_US,
    from_datetime,
    from_local_time,
    to_datetime,
    to_local_time,
)

# Intervals of days: weeks begin on Monday, and seasons are the northern meteorological ones. Pure.


WEEK: Final = 7
QUARTER: Final = 3
DECEMBER: Final = 12
_MONTH_NAMES: Final = "january february march april may june july august september october november december"
MONTHS: Final = tuple(_MONTH_NAMES.split())
SHORT_DAYS: Final = {"tue": 1, "tues": 1, "wed": 2, "weds": 2, "thu": 3, "thur": 3, "thurs": 3, "fri": 4}
"""Weekdays as people write them in haste; "sat" and "sun" are words of their own."""
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


def _number_weekday(name: str) -> int:
    return next(at for at, one in enumerate(WEEKDAYS) if one.startswith(name[:3].lower()))


def find_weekday(today: date, name: str, word: str) -> date:
    """Return the weekday last before today, from today on, or of next week."""
    number = _number_weekday(name)
    ahead = (number - today.weekday()) % WEEK
    match word:
        case "last":
            return today + timedelta(days=ahead - WEEK)
        case "next":
            return get_week(today).until + timedelta(days=number)
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


# Intervals from the times in a text and the words before them: "since", "until", "from … to …".


_MOVING: Final = re.compile(
    r"\b(?:mov(?:es?|ed|ing)|shift(?:s|ed)?|push(?:es|ed)?|chang(?:es?|ed)|switch(?:es|ed)?|w[ea]nt|goes|postponed"
    r"|rescheduled|brought|slipped|extended|delayed)(?: \w+){0,2}\s*$",
    re.IGNORECASE,
)
"""Words before "from X to Y" that mean a replacement of X by Y rather than an interval."""


class DateSpan(NamedTuple):
    """Characters [start, stop) that name a time, and the interval [from_us, until_us); None is an open end."""

    start: int
    stop: int
    from_us: int | None
    until_us: int | None


class TimeExpression(NamedTuple):
    """A time in a text, with the kind of preposition before it."""

    start: int
    stop: int
    word: str
    days: Days


@cache
def _compile_prepositions() -> re.Pattern[str]:
    return re.compile(
        r"\b(?:(?P<since>since|starting(?: (?:from|on|in))?|as of|from)|(?P<until>until|till|up to|til|before)"
        r"|(?P<through>through)|(?P<to>to|and)|(?P<by>by)|(?P<after>after)|(?P<plain>on|in|at|during|over)|between)\s+(?:the\s+)?$",
        re.IGNORECASE,
    )


def _to_us(day: date) -> int:
    return from_datetime(datetime(day.year, day.month, day.day, tzinfo=UTC))


def find_preposition(text: str, start: int) -> tuple[str, int]:
    """Return the kind of preposition right before an offset and its start."""
    floor = max(0, start - 24)
    found = _compile_prepositions().search(text[floor:start])
    if found is None:
        return "", start
    return found.lastgroup or "between", floor + found.start()


def _to_span(atom: TimeExpression) -> DateSpan:
    since, until = _to_us(atom.days.since), _to_us(atom.days.until)
    match atom.word:
        case "since":
            return DateSpan(atom.start, atom.stop, since, None)
        case "until" | "by":
            return DateSpan(atom.start, atom.stop, None, since if atom.word == "until" else until)
        case "through":
            return DateSpan(atom.start, atom.stop, None, until)
        case "after":
            return DateSpan(atom.start, atom.stop, until, None)
        case _:
            return DateSpan(atom.start, atom.stop, since, until)


def _join_interval(text: str, one: TimeExpression, other: TimeExpression) -> DateSpan | None:
    """Join "from X to Y" and "between X and Y" into one interval."""
    if one.word not in {"since", "between"} or other.word not in {"to", "until", "through"}:
        return None
    if _MOVING.search(text, 0, one.start):
        return None
    if text[one.stop : other.start].strip() or one.days.since > other.days.since:
        return None
    return DateSpan(one.start, other.stop, _to_us(one.days.since), _to_us(other.days.until))


def join_date_spans(text: str, atoms: Sequence[TimeExpression]) -> list[DateSpan]:
    """Join the times of a text that form an interval, in order."""
    spans: list[DateSpan] = []
    at = 0
    while at < len(atoms):
        pair = _join_interval(text, atoms[at], atoms[at + 1]) if at + 1 < len(atoms) else None
        spans.append(pair or _to_span(atoms[at]))
        at += 2 if pair else 1
    return spans


Lean = Literal["past", "future"]
_LEANS: Final[tuple[Lean, ...]] = ("past", "future")
_SPANS_MAX: Final = 64
_MARGIN: Final = 32
_NEAR_DAYS: Final = 120
_COUNTS: Final = {
    word: number
    for number, words in enumerate(
        [
            "",
            "a an one",
            "two couple",
            "three",
            "four",
            "five few",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
        ]
    )
    for word in words.split()
}


class _Context(NamedTuple):
    today: date
    lean: Lean | None


_MONTH: Final = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)"
)
_WEEKDAY: Final = rf"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:{'|'.join(SHORT_DAYS)})\b)"
_SEASON: Final = r"(?:spring|summer|autumn|fall|winter)"
_YEAR: Final = r"(?:19|20)\d\d"
_DAY: Final = r"(?:0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th)?"
_COUNT: Final = r"(?:\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|a couple of)"
_PART: Final = r"(?:(?P<{0}>early|mid|late|(?:the )?(?:start|beginning|middle|end) of)[ -])?"
_START: Final = (
    rf"(?:the )?(?:start|beginning|middle|end) of {_MONTH}\b"
    r"(?! (?:this|last|next|road|street|lane|avenue|drive|way|close|court|place)\b)"
)
"""A part of a month, and no street."""
_OPENERS: Final = ("in", "since", "until", "till", "from", "to", "by", "before", "after")
_AFTER: Final = "(?:" + "|".join(rf"(?<=\b{word} )" for word in _OPENERS) + ")"
_CLOCK: Final = r"[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?"
_UNIT: Final = r"(?:day|week|month|year)"
_UNIT_DAYS: Final = {"day": 1, "week": 7, "month": 30, "year": 365}
_RULES: Final = (
    ("iso", rf"(?P<iso_y>\d{{4}})-(?P<iso_m>\d\d)-(?P<iso_d>\d\d)(?:{_CLOCK})?"),
    (
        "dmy",
        (
            rf"(?:(?P<dmy_b>{_DAY})\s?[-\u2013]\s?)?(?:the )?(?P<dmy_d>{_DAY}) (?:of )?"
            rf"(?P<dmy_m>{_MONTH})\b\.?(?:,? (?P<dmy_y>{_YEAR}))?"
        ),
    ),
    (
        "both",
        (
            rf"(?P<both_x>this |next |last )?(?P<both_w>{_WEEKDAY}),? (?:the )?(?P<both_d>\d{{1,2}}(?:st|nd|rd|th))"
            rf"(?! (?:of )?{_MONTH}\b)"
        ),
    ),
    (
        "mdy",
        (
            rf"(?P<mdy_m>{_MONTH})\b\.? (?:the )?(?P<mdy_d>{_DAY})\b(?!:)(?:\s?[-\u2013]\s?(?P<mdy_e>{_DAY})\b)?"
            rf"(?:,? (?P<mdy_y>{_YEAR}))?"
        ),
    ),
    ("my", _PART.format("my_p") + rf"(?P<my_m>{_MONTH})\b\.?,? (?:of )?(?P<my_y>{_YEAR})"),
    ("sy", rf"(?:the )?(?P<sy_s>{_SEASON}) (?:of )?(?P<sy_y>{_YEAR})"),
    ("quarter", rf"Q(?P<quarter_q>[1-4])[ /](?P<quarter_y>{_YEAR})"),
    ("ending", r"the end of (?:the|this) (?P<ending_u>week|month|year)"),
    ("beside", r"the day (?P<beside_w>before yesterday|after tomorrow)"),
    ("ago", rf"(?P<ago_n>{_COUNT}) (?P<ago_u>{_UNIT})s? ago"),
    (
        "ahead",
        (
            rf"(?:in (?P<ahead_n>{_COUNT}) (?P<ahead_u>{_UNIT})s?(?: from now)?"
            rf"|(?P<ahead_m>{_COUNT}) (?P<ahead_v>{_UNIT})s? from now)"
        ),
    ),
    (
        "relative",
        (
            r"(?P<rel_w>last|this past|past|this coming|this|next) "
            rf"(?P<rel_u>week(?:end)?|month|year|quarter|{_SEASON}|{_WEEKDAY}|{_MONTH})"
        ),
    ),
    (
        "within",
        (
            r"(?<!for )(?<!for the )(?:the )?(?P<in_w>last|past|next) "
            rf"(?:(?P<in_n>{_COUNT}|few|couple of) (?P<in_u>{_UNIT})s?|fortnight)\b(?! of\b)"
        ),
    ),
    ("near", r"(?P<near_w>yesterday|today|tomorrow|tmrw|tonight|last night|this (?:morning|afternoon|evening))"),
    (
        "month",
        rf"(?:{_AFTER}|(?<=\ball of )|(?<=\bthroughout )|(?<=\bat )(?={_START}))"
        + _PART.format("month_p")
        + rf"(?P<month_m>{_MONTH})(?!\.? \d)",
    ),
    ("year", rf"(?:{_AFTER}|(?<=\byear ))" + _PART.format("year_p") + rf"(?P<year_y>{_YEAR})(?! ?%)"),
    ("weekday", rf"(?:{_AFTER}|(?<=\bon ))(?P<weekday_w>{_WEEKDAY})(?!,? (?:the )?{_DAY} (?:of )?{_MONTH}\b)"),
    ("day", rf"(?:{_AFTER}|(?<=\bon )|(?<=\bfor )|(?<![^\W_] ))the (?P<day_d>\d{{1,2}}(?:st|nd|rd|th))(?! \w{{3}})"),
)
_WORDS: Final = re.compile(r"[a-z]+|\d{4}|\d{1,2}(?=st|nd|rd|th)", re.ASCII)
_GROUP: Final = re.compile(r"\(\?P<\w+>")
_LETTERS: Final = re.compile(r"\\.|[A-Z]+", re.DOTALL)
_NEARBY: Final = (
    "jan feb mar apr jun jul aug sep sept oct nov dec yesterday today tomorrow tmrw tonight ago day days week weeks "
    "month months year years weekend quarter fortnight night morning afternoon evening"
)
_TIME_WORDS: Final = frozenset([*_NEARBY.split(), *MONTHS, *WEEKDAYS, *SHORT_DAYS, *SEASONS])


def _find_region(text: str) -> tuple[int, int] | None:
    """Find cheaply the part of a text that may contain times: slightly more than its first to its last time word."""
    folded = text.lower()
    words = _WORDS.findall(folded)
    if _TIME_WORDS.isdisjoint(words) and not any(map(str.isdigit, words)):
        return None
    spans = [one.span() for one in _WORDS.finditer(folded) if one[0][0].isdigit() or one[0] in _TIME_WORDS]
    if len(folded) != len(text):
        return 0, len(text)
    return max(0, spans[0][0] - _MARGIN), min(len(text), spans[-1][1] + _MARGIN)


@cache
def _compile_atoms() -> re.Pattern[str]:
    return re.compile(
        r"\b(?:" + "|".join(rf"(?P<{name}>{rule}\b(?![-/]\d|\w))" for name, rule in _RULES) + ")", re.IGNORECASE
    )


@cache
def _compile_folded_atoms() -> re.Pattern[str]:
    """Compile the same for ASCII text in lower case, which takes half the time."""
    rules = "|".join(rf"(?:{_GROUP.sub('(?:', rule)}\b(?![-/]\d|\w))" for _, rule in _RULES)
    small = _LETTERS.sub(lambda found: found[0] if found[0][0] == "\\" else found[0].lower(), rules)
    return re.compile(rf"\b(?:{small})")


def _parse_day_number(text: str) -> int:
    return int(text.rstrip("stndrhSTNDRH"))


def _resolve_date(context: _Context, day: int, month: int, year: str | None) -> Days | None:
    """Resolve a day and month; without a year by the lean, or to the clearly nearest year."""
    if year is not None:
        return get_day(date(int(year), month, day))
    around = [date(context.today.year + step, month, day) for step in (-1, 0, 1) if (month, day) != (2, 29)]
    if context.lean == "past":
        return get_day(max(one for one in around if one <= context.today)) if around else None
    if context.lean == "future":
        return get_day(min(one for one in around if one >= context.today)) if around else None
    near = [one for one in around if abs((one - context.today).days) <= _NEAR_DAYS]
    return get_day(near[0]) if near else None


def _parse_iso(found: re.Match[str], context: _Context) -> Days | None:
    del context
    return get_day(date(int(found["iso_y"]), int(found["iso_m"]), int(found["iso_d"])))


def _parse_day_month(found: re.Match[str], context: _Context) -> Days | None:
    days = _resolve_date(context, _parse_day_number(found["dmy_d"]), parse_month(found["dmy_m"]), found["dmy_y"])
    if days is None or found["dmy_b"] is None:
        return days
    first = days.since.replace(day=_parse_day_number(found["dmy_b"]))
    return Days(first, days.until) if first < days.since else days


def _parse_weekday_number(found: re.Match[str], context: _Context) -> Days | None:
    """Parse "Tues 20th": the nearest such day ahead, or behind where the lean is to the past."""
    said = (found["both_x"] or "").strip().lower()
    step = -1 if said == "last" or (context.lean == "past" and said != "next") else 1
    day, weekday = _parse_day_number(found["both_d"]), _number_weekday(found["both_w"])
    near = (context.today + timedelta(days=step * at) for at in range(_NEAR_DAYS))
    return next((get_day(one) for one in near if (one.day, one.weekday()) == (day, weekday)), None)


_BEHIND_DAY: Final = re.compile(
    r"\s*(?:$|[.,;:!?)]|(?:at|in|on|with|for|from|to|until|till|and|or|but|is|was|instead|now)\b)", re.IGNORECASE
)
"""What stands behind "may 12" as a day, and not behind "may 12 people come", "march 5 miles"."""


def _parse_month_day(found: re.Match[str], context: _Context) -> Days | None:
    verb = found["mdy_m"] in {"may", "march", "mar"} and found["mdy_y"] is None and found["mdy_d"].isdigit()
    if verb and not _BEHIND_DAY.match(found.string, found.end()):
        return None
    days = _resolve_date(context, _parse_day_number(found["mdy_d"]), parse_month(found["mdy_m"]), found["mdy_y"])
    if days is None or found["mdy_e"] is None:
        return days
    last = days.since.replace(day=_parse_day_number(found["mdy_e"]))
    return Days(days.since, last + timedelta(days=1)) if last > days.since else None


def _parse_month_year(found: re.Match[str], context: _Context) -> Days | None:
    del context
    return take_part(get_month(int(found["my_y"]), parse_month(found["my_m"])), found["my_p"])


def _parse_season_year(found: re.Match[str], context: _Context) -> Days | None:
    del context
    return get_season(int(found["sy_y"]), found["sy_s"])


def _parse_quarter(found: re.Match[str], context: _Context) -> Days | None:
    del context
    return get_months(int(found["quarter_y"]), QUARTER * (int(found["quarter_q"]) - 1) + 1, QUARTER)


def _parse_period_end(found: re.Match[str], context: _Context) -> Days | None:
    whole = shift_period(context.today, 0, found["ending_u"])
    return Days(whole.until - timedelta(days=1), whole.until)


def _parse_day_after_next(found: re.Match[str], context: _Context) -> Days | None:
    step = -2 if "before" in found["beside_w"].lower() else 2
    return get_day(context.today + timedelta(days=step))


def _parse_count(text: str) -> int:
    words = text.lower().split()
    few = next((word for word in ("couple", "few") if word in words), words[0])
    return int(few) if few.isdigit() else _COUNTS[few]


@cache
def _compile_duration() -> re.Pattern[str]:
    return re.compile(
        rf"\bfor (?:the next |another )?(?P<n>{_COUNT}|(?:a )?few) (?:more )?(?P<u>{_UNIT})s?\b(?! (?:now|already)\b)",
        re.IGNORECASE,
    )


class Duration(NamedTuple):
    """Characters [start, stop) that say how long something lasts, and the days."""

    start: int
    stop: int
    days: int


def find_duration(text: str) -> Duration | None:
    """Return how long something lasts by a text, None if it does not say; "a few" are at most five.

    >>> find_duration("in Lisbon for two weeks").days, find_duration("for the next few days").days
    (14, 5)
    """
    found = _compile_duration().search(text)
    if found is None:
        return None
    return Duration(found.start(), found.end(), _parse_count(found["n"]) * _UNIT_DAYS[found["u"].lower()])


def _parse_ago(found: re.Match[str], context: _Context) -> Days | None:
    return shift_period(context.today, -_parse_count(found["ago_n"]), found["ago_u"])


def _parse_ahead(found: re.Match[str], context: _Context) -> Days | None:
    number, unit = found["ahead_n"] or found["ahead_m"], found["ahead_u"] or found["ahead_v"]
    return shift_period(context.today, _parse_count(number), unit)


def _parse_relative(found: re.Match[str], context: _Context) -> Days | None:
    word, unit, today = found["rel_w"].lower(), found["rel_u"].lower(), context.today
    step = {"last": -1, "past": -1, "this past": -1, "next": 1, "this coming": 0}.get(word, 0)
    word = {-1: "last", 0: "this", 1: "next"}[step]
    if unit in WEEKDAYS or unit in SHORT_DAYS:
        return get_day(find_weekday(today, unit, word))
    if unit in SEASONS:
        return find_relative_season(today, unit, step)
    match unit:
        case "week" | "month" | "year":
            return shift_period(today, step, unit)
        case "weekend":
            return find_relative_weekend(today, step)
        case "quarter":
            return get_months(today.year, QUARTER * ((today.month - 1) // QUARTER + step) + 1, QUARTER)
        case _:
            return find_relative_month(today, parse_month(unit), step)


def _parse_nearby_day(found: re.Match[str], context: _Context) -> Days | None:
    step = {"yesterday": -1, "last night": -1, "tomorrow": 1, "tmrw": 1}.get(found["near_w"].lower(), 0)
    return get_day(context.today + timedelta(days=step))


def _is_small_month(found: re.Match[str]) -> bool:
    """Return whether a lower-case month name is a month: "in may" and "since march", not "to march", "from jan"."""
    opener = found.string[: found.start()].rsplit(maxsplit=1)[-1].lower()
    name = found["month_m"]
    if name in {"march", "may"}:
        return opener != "to"
    return name in MONTHS or opener in {"in", "since", "until", "till", "by"}


def _parse_bare_month(found: re.Match[str], context: _Context) -> Days | None:
    """Parse "in May": by the lean; without one only if the neighbouring months leave no doubt."""
    name = found["month_m"]
    if name.islower() and not _is_small_month(found):
        return None
    month, today = parse_month(name), context.today
    around = [get_month(today.year + step, month) for step in (-1, 0, 1)]
    if context.lean == "past":
        found_days = [one for one in around if one.since <= today][-1]
    elif context.lean == "future":
        found_days = next(one for one in around if one.until > today)
    else:
        near = [one for one in around if abs((one.since - today).days) <= _NEAR_DAYS]
        return take_part(near[0], found["month_p"]) if near else None
    return take_part(found_days, found["month_p"])


def _parse_bare_year(found: re.Match[str], context: _Context) -> Days | None:
    del context
    return take_part(get_months(int(found["year_y"]), 1, DECEMBER), found["year_p"])


def _parse_bare_weekday(found: re.Match[str], context: _Context) -> Days | None:
    if context.lean is None:
        return None
    word = "last" if context.lean == "past" else "this"
    return get_day(find_weekday(context.today, found["weekday_w"], word))


def _parse_span(found: re.Match[str], context: _Context) -> Days | None:
    """Parse "the last ten days", which ends today, and "the next two weeks", which begins today."""
    count, unit = (_parse_count(found["in_n"]), found["in_u"].lower()) if found["in_n"] else (2, "week")
    ahead, today = found["in_w"].lower() == "next", get_day(context.today)
    far = today.since + timedelta(days=(count if ahead else -count) * _UNIT_DAYS[unit])
    return Days(today.since, far) if ahead else Days(far, today.until)


def _parse_bare_day(found: re.Match[str], context: _Context) -> Days | None:
    """Parse "the 21st": the next one or the last one of that number, by the lean."""
    if context.lean is None:
        return None
    day, step = _parse_day_number(found["day_d"]), 1 if context.lean == "future" else -1
    months = (get_month(context.today.year, context.today.month + at * step).since for at in range(3))
    days = (one.replace(day=day) for one in months if day <= (get_month(one.year, one.month).until - one).days)
    return next((get_day(one) for one in days if (one - context.today).days * step >= 0), None)


_PARSERS: Final[dict[str, Callable[[re.Match[str], _Context], Days | None]]] = {
    "iso": _parse_iso,
    "dmy": _parse_day_month,
    "both": _parse_weekday_number,
    "mdy": _parse_month_day,
    "my": _parse_month_year,
    "sy": _parse_season_year,
    "quarter": _parse_quarter,
    "ending": _parse_period_end,
    "beside": _parse_day_after_next,
    "ago": _parse_ago,
    "ahead": _parse_ahead,
    "relative": _parse_relative,
    "near": _parse_nearby_day,
    "month": _parse_bare_month,
    "year": _parse_bare_year,
    "weekday": _parse_bare_weekday,
    "within": _parse_span,
    "day": _parse_bare_day,
}


def _parse_region(text: str, region: tuple[int, int], context: _Context) -> Iterator[TimeExpression]:
    start, stop = region
    if text.isascii():
        first = _compile_folded_atoms().search(text.lower(), start, stop)
        if first is None:
            return
        start = first.start()
    for found in _compile_atoms().finditer(text, start, stop):
        try:
            days = _PARSERS[kind := next(name for name, _ in _RULES if found[name] is not None)](found, context)
        except (ValueError, OverflowError):
            continue
        if days is not None:
            word, start = find_preposition(text, found.start())
            if word == "until":
                days = _resolve_bound(found, kind, days, context)
            yield TimeExpression(start, found.end(), word, days)


def _resolve_bound(found: re.Match[str], kind: str, days: Days, context: _Context) -> Days:
    """Return the days before whose start "until" ends: the end of May, and on a Monday the Monday after."""
    if kind == "weekday" and days.since == context.today:
        return shift_period(context.today, 7, "day")
    return Days(days.until, days.until) if "end of" in found[0].lower() else days


def find_dates(text: str, anchor_us: int, lean: Lean | None = None) -> list[DateSpan]:
    """Find the times that a text names, in order, relative to the moment `anchor_us` (microseconds UTC).

    "since" and "after" leave the end open, "until", "by" and "before" the start; "until June" ends where June begins.
    """
    region = _find_region(text)
    if region is None:
        return []
    atoms: list[TimeExpression] = []
    for atom in _parse_region(text, region, _Context(to_datetime(anchor_us).date(), lean)):
        atoms.append(atom)
        if len(atoms) == _SPANS_MAX:
            break
    return join_date_spans(text, atoms)


# Times of day in a text, and the days of a zone.


_MINUTE_US: Final = 60 * SECOND_US
_NOON: Final = 12
_SPOKEN_CLOCK: Final = re.compile(
    r"(?<![\d:/])(?:(?P<hour>[01]?\d|2[0-3])(?:[:.](?P<minute>[0-5]\d))? ?(?P<half>[ap])\.?m\b\.?"
    r"|(?:at )?(?P<hours>[01]?\d|2[0-3]):(?P<minutes>[0-5]\d)(?![\d:])"
    r"|(?:at )?(?P<noon>noon|midday))",
    re.IGNORECASE,
)


class Clock(NamedTuple):
    """Characters [start, stop) that name a time of day, and its microseconds after midnight."""

    start: int
    stop: int
    after_us: int


def find_clock(text: str) -> Clock | None:
    """Find the time of day that a text names; None for several, and for a bare hour, which may be of either half.

    >>> find_clock("tomorrow at 3pm").after_us // HOUR_US, find_clock("on Monday at 9")
    (15, None)
    """
    found = list(_SPOKEN_CLOCK.finditer(text))
    if len(found) != 1:
        return None
    (one,) = found
    hour, minute = int(one["hour"] or one["hours"] or 12), int(one["minute"] or one["minutes"] or 0)
    if one["half"]:
        if not 1 <= hour <= _NOON:
            return None
        hour = hour % _NOON + (_NOON if one["half"].lower() == "p" else 0)
    return Clock(one.start(), one.end(), hour * HOUR_US + minute * _MINUTE_US)


def find_dates_in(zone: tzinfo, text: str, anchor_us: int, lean: Lean | None = None) -> list[DateSpan]:
    """Find the times that a text names, like `find_dates`, with the days of a zone."""

    def placed(wall_us: int | None) -> int | None:
        return None if wall_us is None else from_local_time(wall_us, zone)

    found = find_dates(text, to_local_time(anchor_us, zone), lean)
    return [span._replace(from_us=placed(span.from_us), until_us=placed(span.until_us)) for span in found]


# The same times in other words.


_LIMITING: Final = re.compile(r"\b(?:till|until|by|before|since|from|after)\b", re.IGNORECASE)
_HALF_DAY: Final = re.compile(r"[ap]\.?m\b|\b(?:1[3-9]|2[0-3]):\d\d", re.IGNORECASE)
_IN_FULL: Final = {short: WEEKDAYS[number] for short, number in SHORT_DAYS.items() if short != "wed"}
_SHORT: Final = re.compile(rf"\b(?:{'|'.join(_IN_FULL)})\b", re.IGNORECASE)
_HOURS: Final = {word: str(number) for word, number in _COUNTS.items() if number and word not in {"a", "an"}}
_HALF_PAST: Final = re.compile(rf"\bhalf (?:past )?(?P<hour>\d{{1,2}}|{'|'.join(_HOURS)})\b", re.IGNORECASE)
_DOTTED: Final = re.compile(r"\b(\d{1,2})\.([0-5]\d ?[ap]m)\b", re.IGNORECASE)
_GLUED: Final = re.compile(r"(\d)((?:[kmc]?g|mg|ml|[ckm]m|l|k|h|hrs?|mins?)\b)", re.IGNORECASE)
_PARTED: Final = re.compile(r"(\d) (?=[ap]m\b)", re.IGNORECASE)
_LOOSE_DAY: Final = re.compile(rf"\b(?:{'|'.join(WEEKDAYS)}|at|on|the|from|of)\b", re.IGNORECASE)
"""What is left of a day whose number and month are left out."""


def spell_out(text: str) -> str:
    """Write in full what people shorten, and numbers apart from their units: "tues + thurs", "half 4", "80mg".

    >>> spell_out("wfh tues + thurs"), spell_out("half 4"), spell_out("7.30 pm"), spell_out("80mg")
    ('wfh tuesday + thursday', '4:30', '7:30pm', '80 mg')
    """
    text = _SHORT.sub(lambda found: _IN_FULL[found[0].lower()], text)
    text = _HALF_PAST.sub(lambda found: f"{_HOURS.get(found['hour'].lower(), found['hour'])}:30", text)
    return _GLUED.sub(r"\1 \2", _PARTED.sub(r"\1", _DOTTED.sub(r"\1:\2", text)))


def leave_out_days(value: str, sentence: str, occurred_us: int) -> str:
    """Leave out of a value the days and times that its sentence names in other words: "tues 20th" is 20 January.

    >>> leave_out_days("Lisbon, 12-16 February", "booked lisbon 12-16 feb", 1_767_600_000_000_000)
    'Lisbon'
    """
    plain = _LIMITING.sub("in", sentence)  # an end has the same days
    told = [one for lean in _LEANS for text in (sentence, plain) for one in find_dates(text, occurred_us, lean)]
    since, until = {one.from_us for one in told}, {one.until_us for one in told}
    until |= {one + DAY_US for one in until if one is not None}
    left = value
    for lean in _LEANS:  # the one who words the value knows better than a rule whether "Friday" is past
        for day in reversed(find_dates(left, occurred_us, lean)):
            if day.from_us in since and day.until_us in until:
                left = f"{left[: day.start]} {left[day.stop :]}"
    clocks = [find_clock(text) for text in (left, sentence)]
    both = all(_HALF_DAY.search(text) for text in (left, sentence))
    half_us = 2 * _NOON * HOUR_US if both else _NOON * HOUR_US  # "half 4" may be in the afternoon
    if clocks[0] and clocks[1] and clocks[0].after_us % half_us == clocks[1].after_us % half_us:
        left = f"{left[: clocks[0].start]} {left[clocks[0].stop :]}"
    if left == value:
        return value
    return " ".join(_LOOSE_DAY.sub(" ", left).split()).strip(" ,")
