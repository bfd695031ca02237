"""Days are those of the person's zone."""

from zoneinfo import ZoneInfo

import pytest

from credenda.clock import parse_time
from credenda.model.claim import Claim, Turn
from credenda.model.event import Event, Role
from credenda.write.extract.rules import RulesExtractor
from credenda.write.extract.wall import by_the_wall

VIENNA = ZoneInfo("Europe/Vienna")


def heard(text: str, at: str, zone: ZoneInfo = VIENNA) -> Claim:
    event = Event(text=text, role=Role.USER, speaker="user", occurred_us=parse_time(at), id="e1-a", recorded_us=0)
    (claim,) = by_the_wall(RulesExtractor(), Turn(event=event), zone)
    return claim


def test_yesterday_just_after_midnight_is_the_day_that_ended() -> None:
    said = "2026-06-09T22:30:00Z"  # 10 June, half past midnight in Vienna
    assert heard("I moved to Graz yesterday.", said).valid_from_us == parse_time("2026-06-08T22:00:00Z")
    assert heard("I moved to Graz yesterday.", said, ZoneInfo("UTC")).valid_from_us == parse_time("2026-06-08")


@pytest.mark.parametrize(
    ("said", "begins"),
    [
        ("2026-10-25T23:30:00Z", "2026-10-24T22:00:00Z"),  # yesterday had 25 hours
        ("2026-03-29T22:30:00Z", "2026-03-28T23:00:00Z"),  # and here 23
    ],
)
def test_yesterday_may_have_been_longer_or_shorter_than_others(said: str, begins: str) -> None:
    assert heard("I moved to Graz yesterday.", said).valid_from_us == parse_time(begins)


def test_friday_ends_at_midnight_in_the_zone() -> None:
    claim = heard("The demo is on Friday.", "2026-10-22T22:30:00Z")
    assert claim.value == "Friday"
    assert claim.valid_until_us == parse_time("2026-10-23T22:00:00Z")


def test_a_day_of_25_hours_is_written_as_a_day() -> None:
    claim = heard("My dentist appointment is on 25 October.", "2026-10-20T10:00:00Z")
    assert claim.value == "2026-10-25"
    assert claim.valid_until_us == parse_time("2026-10-25T23:00:00Z")
