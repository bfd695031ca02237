"""Words for times become intervals, or nothing."""

from datetime import UTC, datetime

import pytest

from credenda.clock import cpu_seconds, from_datetime, parse_time, to_datetime
from credenda.text.dates import Lean, find_dates

WEDNESDAY = from_datetime(datetime(2023, 5, 10, 12, tzinfo=UTC))
Found = tuple[str, str | None, str | None]


def found(text: str, lean: Lean | None = None, at: int = WEDNESDAY) -> list[Found]:
    return [(text[one.start : one.stop], _day(one.from_us), _day(one.until_us)) for one in find_dates(text, at, lean)]


def _day(moment_us: int | None) -> str | None:
    return None if moment_us is None else to_datetime(moment_us).date().isoformat()


CERTAIN = [
    ("I met her yesterday.", "yesterday", "2023-05-09", "2023-05-10"),
    ("today", "today", "2023-05-10", "2023-05-11"),
    ("tomorrow evening", "tomorrow", "2023-05-11", "2023-05-12"),
    ("the day before yesterday", "the day before yesterday", "2023-05-08", "2023-05-09"),
    ("the day after tomorrow", "the day after tomorrow", "2023-05-12", "2023-05-13"),
    ("last night", "last night", "2023-05-09", "2023-05-10"),
    ("this morning", "this morning", "2023-05-10", "2023-05-11"),
    ("last week", "last week", "2023-05-01", "2023-05-08"),
    ("next week", "next week", "2023-05-15", "2023-05-22"),
    ("last weekend", "last weekend", "2023-05-06", "2023-05-08"),
    ("this weekend", "this weekend", "2023-05-13", "2023-05-15"),
    ("last Friday", "last Friday", "2023-05-05", "2023-05-06"),
    ("next Tuesday", "next Tuesday", "2023-05-16", "2023-05-17"),
    ("this Sunday", "this Sunday", "2023-05-14", "2023-05-15"),
    ("last month", "last month", "2023-04-01", "2023-05-01"),
    ("next month", "next month", "2023-06-01", "2023-07-01"),
    ("last year", "last year", "2022-01-01", "2023-01-01"),
    ("last May", "last May", "2022-05-01", "2022-06-01"),
    ("next March", "next March", "2024-03-01", "2024-04-01"),
    ("last summer", "last summer", "2022-06-01", "2022-09-01"),
    ("last winter", "last winter", "2022-12-01", "2023-03-01"),
    ("next quarter", "next quarter", "2023-07-01", "2023-10-01"),
    ("two weeks ago", "two weeks ago", "2023-04-24", "2023-05-01"),
    ("3 days ago", "3 days ago", "2023-05-07", "2023-05-08"),
    ("a couple of days ago", "a couple of days ago", "2023-05-08", "2023-05-09"),
    ("six months ago", "six months ago", "2022-11-01", "2022-12-01"),
    ("ten years ago", "ten years ago", "2013-01-01", "2014-01-01"),
    ("in 3 weeks", "in 3 weeks", "2023-05-29", "2023-06-05"),
    ("two days from now", "two days from now", "2023-05-12", "2023-05-13"),
    ("in May 2023", "in May 2023", "2023-05-01", "2023-06-01"),
    ("Feb. 2020", "Feb. 2020", "2020-02-01", "2020-03-01"),
    ("in December 2022", "in December 2022", "2022-12-01", "2023-01-01"),
    ("at the end of May 2023", "at the end of May 2023", "2023-05-22", "2023-06-01"),
    ("at end of May 2023", "at end of May 2023", "2023-05-22", "2023-06-01"),
    ("at the start of March", "at the start of March", "2023-03-01", "2023-03-11"),
    ("in early 2022", "in early 2022", "2022-01-01", "2022-05-02"),
    ("in 2019", "in 2019", "2019-01-01", "2020-01-01"),
    ("the summer of 2021", "the summer of 2021", "2021-06-01", "2021-09-01"),
    ("in winter 2020", "in winter 2020", "2020-12-01", "2021-03-01"),
    ("Q3 2022", "Q3 2022", "2022-07-01", "2022-10-01"),
    ("2023-03-04", "2023-03-04", "2023-03-04", "2023-03-05"),
    ("at 2023-03-04T10:00:00Z", "at 2023-03-04T10:00:00Z", "2023-03-04", "2023-03-05"),
    ("on 9 February 1990", "on 9 February 1990", "1990-02-09", "1990-02-10"),
    ("on the 5th of May 2021", "on the 5th of May 2021", "2021-05-05", "2021-05-06"),
    ("May 5, 2024", "May 5, 2024", "2024-05-05", "2024-05-06"),
    ("on Feb 29 2024", "on Feb 29 2024", "2024-02-29", "2024-03-01"),
    ("July 16-18, 2022", "July 16-18, 2022", "2022-07-16", "2022-07-19"),
    ("on 12 June", "on 12 June", "2023-06-12", "2023-06-13"),
    ("since 2015", "since 2015", "2015-01-01", None),
    ("since last year", "since last year", "2022-01-01", None),
    ("starting June 1", "starting June 1", "2023-06-01", None),
    ("after 3 March 2022", "after 3 March 2022", "2022-03-04", None),
    ("until June", "until June", None, "2023-06-01"),
    ("before 2020", "before 2020", None, "2020-01-01"),
    ("through June 2024", "through June 2024", None, "2024-07-01"),
    ("by 12 June 2023", "by 12 June 2023", None, "2023-06-13"),
    ("from 2015 to 2019", "from 2015 to 2019", "2015-01-01", "2020-01-01"),
    ("between May 2022 and July 2022", "between May 2022 and July 2022", "2022-05-01", "2022-08-01"),
    ("from 3 March 2022 until 5 March 2022", "from 3 March 2022 until 5 March 2022", "2022-03-03", "2022-03-06"),
]


@pytest.mark.parametrize(("text", "words", "since", "until"), CERTAIN)
def test_a_time_is_an_interval(text: str, words: str, since: str | None, until: str | None) -> None:
    assert found(text) == [(words, since, until)]


@pytest.mark.parametrize(
    ("text", "lean", "since"),
    [
        ("on Tuesday", "past", "2023-05-09"),
        ("on Tuesday", "future", "2023-05-16"),
        ("on Wednesday", "past", "2023-05-03"),
        ("on Wednesday", "future", "2023-05-10"),
        ("on march 11 at 5", "future", "2024-03-11"),
        ("moved to may 12, same time", "future", "2023-05-12"),
        ("on 3 March", "past", "2023-03-03"),
        ("on 3 March", "future", "2024-03-03"),
        ("in August", "past", "2022-08-01"),
        ("in August", "future", "2023-08-01"),
        ("in December", "past", "2022-12-01"),
    ],
)
def test_a_lean_settles_which_one_is_meant(text: str, lean: Lean, since: str) -> None:
    assert [one[1] for one in found(text, lean)] == [since]


@pytest.mark.parametrize(
    "text",
    [
        "on Tuesday",
        "until Friday",
        "in November",
        "on 5 November",
        "June 31",
        "2023-13-45",
        "I may 3 times",
        "we march 5 miles",
        "may 12 people come",
        "version 2015",
        "at 2015 rpm",
        "a few days later",
        "some years",
        "May I come in?",
        "in 2020%",
        "the second one",
        "call 555-2019-11",
        "Friday",
        "",
        "on Feb 29 2023",
    ],
)
def test_in_doubt_there_is_no_time(text: str) -> None:
    assert found(text) == []


def test_several_times_come_in_order() -> None:
    text = "I moved in May 2020, left two years ago, and came back last week."
    assert [one[0] for one in found(text)] == ["in May 2020", "two years ago", "last week"]


def test_the_anchor_decides_across_midnight_and_new_year() -> None:
    late = parse_time("2023-12-31T23:59:59Z")
    assert found("tomorrow", at=late) == [("tomorrow", "2024-01-01", "2024-01-02")]
    assert found("next month", at=late) == [("next month", "2024-01-01", "2024-02-01")]


def test_a_weekend_is_not_its_own_last() -> None:
    sunday = parse_time("2023-05-14T09:00:00Z")
    assert found("last weekend", at=sunday) == [("last weekend", "2023-05-06", "2023-05-08")]


@pytest.mark.parametrize("anchor", [-(1 << 60), 0, 1 << 55])
def test_no_anchor_breaks_it(anchor: int) -> None:
    if -62_135_596_800_000_000 < anchor < 253_402_300_800_000_000:
        assert isinstance(find_dates("three hundred years, 999 years ago, in 999 weeks, next year", anchor), list)


@pytest.mark.parametrize("piece", ["in may 3 of ", "the end of ", "2024-01-01 ", "last ", "1 ", "on Monday and "])
def test_a_long_text_takes_linear_time(piece: str) -> None:
    began = cpu_seconds()
    find_dates(piece * (200_000 // len(piece)), WEDNESDAY)
    assert cpu_seconds() - began < 2


@pytest.mark.parametrize(
    ("text", "until"), [("away until Wednesday", "2023-05-17"), ("away until Friday", "2023-05-12")]
)
def test_what_lasts_until_a_day_of_the_week_lasts_beyond_today(text: str, until: str) -> None:
    assert [day for _, _, day in found(text, "future")] == [until]
