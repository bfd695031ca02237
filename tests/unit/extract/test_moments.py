"""Since when, until when, and values that are days."""

import pytest

from credenda.clock import to_datetime
from credenda.write.extract.moments import clause_dates, iso_day, past_dates

from .build import NOON


def day(moment_us: int | None) -> str | None:
    return None if moment_us is None else to_datetime(moment_us).date().isoformat()


@pytest.mark.parametrize(
    ("text", "since", "until"),
    [
        ("I've lived in Linz since 2015.", "2015-01-01", None),
        ("I live in Vienna until June 2026.", None, "2026-06-01"),
        ("I was in Rome from 2001 to 2004.", "2001-01-01", "2005-01-01"),
        ("I must leave by 2030.", None, None),
        ("I live in Linz.", None, None),
    ],
)
def test_open_dates_bound_what_holds(text: str, since: str | None, until: str | None) -> None:
    found = past_dates(text, NOON)
    assert (day(found.since), day(found.until)) == (since, until)


def test_since_a_month_is_a_past_month_in_any_tense() -> None:
    assert day(clause_dates("I work there since May.", NOON, "future").since) == "2025-05-01"


def test_a_day_without_a_year_is_not_guessed_to_be_long_ago() -> None:
    for words, nearest in (("20 April", "2026-04-20"), ("20 February", "2026-02-20")):
        (found,) = past_dates(f"I was invited to speak in Oslo on {words}.", NOON).spans
        assert day(found.from_us) == nearest


def test_a_plan_begins_on_the_first_named_day_to_come() -> None:
    assert day(clause_dates("I fly to Oslo on Friday.", NOON, "future").coming) == "2026-03-13"
    assert clause_dates("I flew to Oslo yesterday.", NOON, "past").coming is None


@pytest.mark.parametrize(
    ("text", "attribute", "value"),
    [
        ("4 July", "birthday", "--07-04"),
        ("4 July 1988", "birthday", "1988-07-04"),
        ("tomorrow", "deadline", "2026-03-12"),
        ("Monday", "date", "Monday"),
        ("30 March at 10", "date", "30 March at 10"),
        ("some day", "deadline", "some day"),
    ],
)
def test_a_value_that_is_one_day_is_written_as_one(text: str, attribute: str, value: str) -> None:
    assert iso_day(text, NOON, attribute) == value
