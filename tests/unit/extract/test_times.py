"""Since when, until when, and what happened on a day."""

import pytest

from .build import date, hear, only


@pytest.mark.requirement("R-035")
@pytest.mark.parametrize(
    ("text", "since", "until"),
    [
        ("I've lived in Linz since 2015.", "2015-01-01", None),
        ("I live in Vienna until June 2026.", None, "2026-06-01"),
        ("I moved to Graz in May 2023.", "2023-05-01", None),
        ("I moved to Graz last week.", "2026-03-02", None),
        ("I switched to Helix yesterday.", "2026-03-10", None),
        ("Ben is on leave until 3 August.", None, "2026-08-03"),
        ("The demo is on Friday.", None, "2026-03-14"),
        ("The standup is on Mondays.", None, None),
        ("I live in Linz.", None, None),
        ("I've been a vegetarian for ten years.", "2016-01-01", None),
        ("I've been living in Linz for ten years.", "2016-01-01", None),
        ("I quit smoking in 2019.", "2019-01-01", None),
        ("I stopped drinking two years ago.", "2024-01-01", None),
        ("I work at Bosch until the end of May.", None, "2026-06-01"),
        ("I'm in Lisbon until June.", None, "2026-06-01"),
        ("I'm on parental leave until the end of the year.", None, "2027-01-01"),
    ],
)
def test_dates_bound_what_holds(text: str, since: str | None, until: str | None) -> None:
    claim = only(text)
    assert (date(claim.valid_from_us), date(claim.valid_until_us)) == (since, until)


@pytest.mark.requirement("R-056")
@pytest.mark.parametrize(
    ("text", "value", "day"),
    [
        ("I visited Lyon last week.", "visited Lyon", "2026-03-02"),
        ("Yesterday I adopted a puppy.", "adopted a puppy", "2026-03-10"),
        ("Last weekend, I ran a half marathon.", "ran a half marathon", "2026-03-07"),
        ("I met Ana at a conference in Oslo two years ago.", "met Ana at a conference in Oslo", "2024-01-01"),
    ],
)
def test_a_happening_is_dated(text: str, value: str, day: str) -> None:
    claim = only(text)
    assert (claim.attribute, claim.value, date(claim.valid_from_us)) == ("event", value, day)


@pytest.mark.requirement("R-043")
def test_a_day_without_a_year_is_not_guessed_to_be_long_ago() -> None:
    claim = only("I was invited to speak in Oslo on 20 April.")
    assert (claim.attribute, claim.valid_from_us, claim.valid_until_us) == (None, None, None)
    assert date(only("I was invited to speak in Oslo on 20 February.").valid_from_us) == "2026-02-20"


@pytest.mark.requirement("R-039")
@pytest.mark.parametrize("text", ["I had a great time last week.", "I took it yesterday.", "I went to the store."])
def test_a_happening_that_says_nothing_or_has_no_day_is_not_stored(text: str) -> None:
    assert hear(text) == []


@pytest.mark.requirement("R-045")
@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("My birthday is on 4 July.", "--07-04"),
        ("My birthday is 4 July 1988.", "1988-07-04"),
        ("My deadline is tomorrow.", "2026-03-12"),
        ("The deadline for the grant is 1 June.", "2026-06-01"),
        ("The audit is on Monday.", "Monday"),
        ("I have a dentist appointment on 30 March at 10.", "30 March at 10"),
    ],
)
def test_a_day_is_normal_in_the_value_and_literal_in_the_text(text: str, value: str) -> None:
    claim = only(text)
    assert (claim.value, claim.text) == (value, text)


@pytest.mark.requirement("R-045")
def test_what_moved_from_one_day_to_another_is_no_stretch_of_time() -> None:
    assert only("The deadline moved from Friday to Monday.").value == "Monday"


@pytest.mark.requirement("R-045")
def test_a_word_that_begins_like_an_article_is_whole() -> None:
    assert only("Every Friday I have therapy at 4.").entity == "therapy at 4"
