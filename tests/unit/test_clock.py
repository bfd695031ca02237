"""Moments are whole microseconds UTC inside; at the edges they are read and written without loss."""

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from credenda.clock import SystemClock, format_time, from_datetime, parse_time, to_datetime
from credenda.errors import Invalid

MARCH = 1_772_323_200_000_000
"""2026-03-01T00:00:00Z"""
VIENNA = ZoneInfo("Europe/Vienna")


@pytest.mark.parametrize(
    ("written", "moment"),
    [
        ("2026-03-01", MARCH),
        ("2026-03-01T00:00:00Z", MARCH),
        ("2026-03-01T00:00:00.000001Z", MARCH + 1),
        ("2026-03-01T01:00:00+01:00", MARCH),
        ("2026-02-28 19:00:00-05:00", MARCH),
        (" 2026-03-01T00:00:00 ", MARCH),
        ("20260301T000000Z", MARCH),
        ("1969-12-31T23:59:59.999999Z", -1),
        (datetime(2026, 3, 1, tzinfo=UTC), MARCH),
        (datetime(2026, 3, 1, 1, tzinfo=timezone(timedelta(hours=1))), MARCH),
        (datetime(2026, 3, 1), MARCH),  # noqa: DTZ001 - one without a zone is the point
    ],
)
def test_a_time_is_read(written: datetime | str, moment: int) -> None:
    assert parse_time(written) == moment


@pytest.mark.parametrize(
    ("written", "moment"),
    [
        ("2026-03-01T00:00:00", "2026-02-28T23:00:00Z"),
        ("2026-07-01T00:00:00", "2026-06-30T22:00:00Z"),
        ("2026-03-01", "2026-02-28T23:00:00Z"),
        ("2026-03-01T00:00:00Z", "2026-03-01T00:00:00Z"),
        # In the hour that comes twice the first is meant, in the one that is left out the clock before it.
        ("2026-10-25T02:30:00", "2026-10-25T00:30:00Z"),
        ("2026-03-29T02:30:00", "2026-03-29T01:30:00Z"),
    ],
)
def test_a_time_without_a_zone_is_read_in_the_zone_given(written: str, moment: str) -> None:
    assert format_time(parse_time(written, VIENNA)) == moment


@pytest.mark.parametrize(
    "written", ["", "now", "2026-02-30", "2026-03-01T25:00:00Z", "March 1", "1772323200", "x" * 999]
)
def test_what_is_no_time_is_refused_and_shown_shortly(written: str) -> None:
    with pytest.raises(Invalid, match="RFC 3339") as caught:
        parse_time(written)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("given_value", [None, 1_772_323_200, 1.5, True, b"2026-03-01", ["2026-03-01"]])
def test_a_number_says_neither_zone_nor_unit(given_value: object) -> None:
    with pytest.raises(Invalid, match="zone nor unit"):
        parse_time(given_value)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "moment",
    [
        "0001-01-01T00:00:00+14:00",
        "9999-12-31T23:59:59-14:00",
        datetime.min.replace(tzinfo=timezone(timedelta(hours=1))),
        datetime.max.replace(tzinfo=timezone(timedelta(hours=-1))),
    ],
)
def test_a_moment_that_utc_cannot_name_is_refused(moment: datetime | str) -> None:
    with pytest.raises(Invalid, match="9999"):
        parse_time(moment)


@pytest.mark.parametrize("moment", [datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)])
def test_the_first_and_the_last_moment_come_back(moment: datetime) -> None:
    assert to_datetime(parse_time(moment)) == moment


@given(st.datetimes(timezones=st.just(UTC)))
def test_to_the_microsecond_and_back(moment: datetime) -> None:
    moment_us = from_datetime(moment)
    assert to_datetime(moment_us) == moment
    written = format_time(moment_us)
    assert written is not None
    assert written.endswith("Z")
    assert parse_time(written) == moment_us


@given(st.datetimes(min_value=datetime(1900, 1, 1), max_value=datetime(2100, 1, 1), timezones=st.timezones()))  # noqa: DTZ001 - bounds are naive by contract
def test_the_zone_of_an_aware_time_is_kept(moment: datetime) -> None:
    assert to_datetime(from_datetime(moment, VIENNA)) == moment.astimezone(UTC)


def test_no_moment_is_written_as_none() -> None:
    assert format_time(None) is None


def test_the_machines_clock_agrees_with_the_machine() -> None:
    before, now, after = datetime.now(UTC), to_datetime(SystemClock().now_us()), datetime.now(UTC)
    assert before - timedelta(milliseconds=1) <= now <= after + timedelta(milliseconds=1)
