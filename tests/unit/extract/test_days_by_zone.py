"""Days are those of the person's zone."""

from zoneinfo import ZoneInfo

import pytest

from credenda.clock import parse_time
from credenda.model.claim import Claim, Span, Turn
from credenda.model.event import Role
from credenda.model.memory import MemoryType
from credenda.write.extract.moments import by_the_wall, clause_dates

from .build import event

VIENNA = ZoneInfo("Europe/Vienna")


class Dated:
    """An extractor whose claim holds on the day that the words name, counted in UTC."""

    def extract(self, turn: Turn) -> list[Claim]:
        said = turn.event
        (found,) = clause_dates(said.text, said.occurred_us, "future").spans
        return [
            Claim(
                text=said.text,
                type=MemoryType.FACT,
                span=Span(said.id, 0, len(said.text)),
                speaker=said.speaker,
                valid_from_us=found.from_us,
                valid_until_us=found.until_us,
            )
        ]


def days(text: str, at: str, zone: ZoneInfo = VIENNA) -> tuple[int | None, int | None]:
    (claim,) = by_the_wall(Dated(), Turn(event=event(text, Role.USER, "user", parse_time(at))), zone)
    return claim.valid_from_us, claim.valid_until_us


def test_yesterday_just_after_midnight_is_the_day_that_ended() -> None:
    said = "2026-06-09T22:30:00Z"  # 10 June, half past midnight in Vienna
    assert days("I moved to Graz yesterday.", said)[0] == parse_time("2026-06-08T22:00:00Z")
    assert days("I moved to Graz yesterday.", said, ZoneInfo("UTC"))[0] == parse_time("2026-06-08")


@pytest.mark.parametrize(
    ("said", "begins"),
    [
        ("2026-10-25T23:30:00Z", "2026-10-24T22:00:00Z"),  # yesterday had 25 hours
        ("2026-03-29T22:30:00Z", "2026-03-28T23:00:00Z"),  # and here 23
    ],
)
def test_yesterday_may_have_been_longer_or_shorter_than_others(said: str, begins: str) -> None:
    assert days("I moved to Graz yesterday.", said)[0] == parse_time(begins)


def test_a_day_to_come_ends_at_midnight_in_the_zone() -> None:
    assert days("The demo is on Friday.", "2026-10-22T22:30:00Z")[1] == parse_time("2026-10-23T22:00:00Z")
    long_day = days("My appointment is on 25 October.", "2026-10-20T10:00:00Z")
    assert long_day[1] == parse_time("2026-10-25T23:00:00Z")
