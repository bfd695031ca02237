"""One time as a person names it, in the person's zone."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from credenda.clock import DAY_US, HOUR_US, from_datetime, from_local_time, parse_time, to_datetime, to_local_time
from credenda.errors import Invalid
from credenda.text.dates import find_dates_in
from credenda.text.given_time import parse_moment, parse_period

VIENNA = ZoneInfo("Europe/Vienna")
SANTIAGO = ZoneInfo("America/Santiago")
SUNDAY = parse_time("2026-11-22T10:00:00Z")


def named(text: str, zone: ZoneInfo = VIENNA, now: int = SUNDAY) -> str:
    return to_datetime(parse_moment(text, zone, now)).astimezone(zone).isoformat(timespec="seconds")


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("now", "2026-11-22T11:00:00+01:00"),
        ("today", "2026-11-22T11:00:00+01:00"),
        ("2026-11-22", "2026-11-22T11:00:00+01:00"),
        ("yesterday", "2026-11-21T23:59:59+01:00"),
        ("tomorrow", "2026-11-23T23:59:59+01:00"),
        ("3 March", "2026-03-03T23:59:59+01:00"),
        ("March 3", "2026-03-03T23:59:59+01:00"),
        ("may 5", "2026-05-05T23:59:59+02:00"),
        ("the 3rd of March 2024", "2024-03-03T23:59:59+01:00"),
        ("March 3, 2024", "2024-03-03T23:59:59+01:00"),
        ("24 December", "2025-12-24T23:59:59+01:00"),
        ("Friday", "2026-11-20T23:59:59+01:00"),
        ("on Friday", "2026-11-20T23:59:59+01:00"),
        ("3 days ago", "2026-11-19T23:59:59+01:00"),
        ("2 hours ago", "2026-11-22T09:00:00+01:00"),
        ("yesterday 14:30", "2026-11-21T14:30:00+01:00"),
        ("3 March at 10:00", "2026-03-03T10:00:00+01:00"),
        ("9:15", "2026-11-22T09:15:00+01:00"),
        ("2026-03-03", "2026-03-03T23:59:59+01:00"),
        ("2026-03-03T10:00", "2026-03-03T10:00:00+01:00"),
        ("2026-03-03T10:00:00Z", "2026-03-03T11:00:00+01:00"),
        ("9999-12-31T10:00:00Z", "9999-12-31T11:00:00+01:00"),
    ],
)
def test_a_moment_by_its_words(text: str, moment: str) -> None:
    assert named(text) == moment


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "neither"),
        ("the moon", "neither"),
        ("yesterday-ish", "neither"),
        ("2026-02-30", "neither"),
        ("31 February", "neither"),
        ("29 February", "neither"),
        ("since 2015", "neither"),
        ("3 March and 4 March", "neither"),
        ("0001-01-01", "neither"),
        ("999999 hours ago ago", "neither"),
        ("3/4/2026", "may be exchanged"),
        ("03.04.2026", "may be exchanged"),
        ("March 2024", "more than a day"),
        ("last week", "more than a day"),
        ("2019", "more than a day"),
    ],
)
def test_what_cannot_be_read_or_may_mean_several_days_is_refused(text: str, why: str) -> None:
    with pytest.raises(Invalid, match=why) as caught:
        parse_moment(text, VIENNA, SUNDAY)
    assert "\n" not in str(caught.value)


def test_only_the_beginning_of_a_long_text_is_repeated() -> None:
    with pytest.raises(Invalid) as caught:
        parse_moment("x" * 500, VIENNA, SUNDAY)
    assert len(str(caught.value)) < 300


def test_a_period_may_be_of_any_length() -> None:
    march = parse_period("March 2026", VIENNA, SUNDAY)
    assert march.from_us == parse_time("2026-02-28T23:00:00Z")
    assert march.until_us == parse_time("2026-03-31T22:00:00Z")
    assert not march.moment
    assert parse_period(datetime(2026, 3, 1, tzinfo=UTC), VIENNA, SUNDAY).moment


@pytest.mark.parametrize(("day", "hours"), [("2026-03-29", 23), ("2026-10-25", 25), ("2026-06-01", 24)])
def test_days_are_as_long_as_they_are_in_the_zone(day: str, hours: int) -> None:
    period = parse_period(day, VIENNA, SUNDAY)
    assert period.until_us - period.from_us == hours * HOUR_US


def test_an_hour_that_is_shown_twice_is_the_first_and_one_that_is_skipped_comes_after_the_gap() -> None:
    assert parse_moment("2026-10-25T02:30", VIENNA, SUNDAY) == parse_time("2026-10-25T00:30:00Z")
    assert parse_moment("25 October 02:30", VIENNA, SUNDAY) == parse_time("2026-10-25T00:30:00Z")
    assert parse_moment("29 March 02:30", VIENNA, SUNDAY) == parse_time("2026-03-29T01:30:00Z")


def test_a_day_may_begin_after_midnight() -> None:
    """Where summer time begins at midnight, the day has no 00:00."""
    period = parse_period("2026-09-06", SANTIAGO, SUNDAY)
    assert period.from_us == parse_time("2026-09-06T04:00:00Z")
    assert period.until_us - period.from_us == 23 * HOUR_US


def test_yesterday_is_that_of_the_zone() -> None:
    late = parse_time("2026-11-21T23:30:00Z")
    assert named("yesterday", VIENNA, late).startswith("2026-11-21")
    assert parse_moment("yesterday", UTC, late) == parse_time("2026-11-21") - 1
    (span,) = find_dates_in(VIENNA, "I met her yesterday.", late)
    assert span.from_us == parse_time("2026-11-20T23:00:00Z")


@pytest.mark.parametrize("moment", ["2026-03-29T00:59:59Z", "2026-03-29T01:00:00Z", "2026-07-01T00:00:00Z"])
def test_the_wall_leads_back_to_the_moment(moment: str) -> None:
    us = parse_time(moment)
    assert from_local_time(to_local_time(us, VIENNA), VIENNA) == us


def test_the_ends_of_the_calendar_stay_as_they_are() -> None:
    last = from_datetime(datetime(9999, 12, 31, 23, 30, tzinfo=UTC))
    assert to_local_time(last, VIENNA) == last
    assert to_local_time(last - DAY_US, VIENNA) == last - DAY_US + HOUR_US
