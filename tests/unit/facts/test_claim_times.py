"""Since when and until when a claim holds by its words, and the day of a thing."""

from __future__ import annotations

import pytest

from credenda.clock import to_datetime
from credenda.model.claim import FactChange, FactStatus, UpdateKind
from credenda.model.memory import Cardinality

from .test_claims import read_one

PLAN: dict[str, object] = {"status": FactStatus.PLANNED}
DAYS: list[tuple[str, dict[str, object], str | None, str | None]] = [
    ("on night shift this week", {"when": "this week"}, None, "2026-05-25"),
    ("camping at Lochard tonight", {"when": "tonight"}, None, "2026-05-21"),
    ("stuck in Bergen until Friday", {"when": "until Friday"}, None, "2026-05-23"),
    ("moved to Bergen in March", {"change": FactChange.CHANGED}, "2026-03-01", None),
    ("moved to Bergen in July", {"when": "in July", "change": FactChange.CHANGED}, "2025-07-01", None),
    ("moved to Bergen back in July", {"when": "back", "change": FactChange.CHANGED}, "2025-07-01", None),
    ("moved to Bergen on 3 June", {"when": "on 3 June", "change": FactChange.CHANGED}, "2025-06-03", None),
    ("gym at Bergen in July", {"when": "in July", "change": FactChange.CHANGED}, None, None),
    ("moved to Bergen this week", {"when": "this week", "change": FactChange.CHANGED}, "2026-05-18", None),
    ("bought the canoe yesterday", {"when": "yesterday"}, "2026-05-19", None),
    ("dentist on 3 June at nine", {"when": "on 3 June", "status": FactStatus.PLANNED}, "2026-06-03", "2026-06-04"),
    ("dentist tomorrow at nine", {"when": "tomorrow", "status": FactStatus.PLANNED}, "2026-05-21", "2026-05-22"),
    ("dentist for the day after tomorrow", {"when": "after tomorrow"} | PLAN, "2026-05-22", "2026-05-23"),
    ("dentist in June", {"when": "in June"} | PLAN, "2026-06-01", "2026-07-01"),
    ("I'm taking oboe lessons this week", {"when": "this week", "change": FactChange.CHANGED}, None, "2026-05-25"),
    ("stuck in Bergen for two weeks", {"when": "for two weeks"}, None, "2026-06-04"),
    ("I've been in Bergen for two weeks", {"when": "for two weeks"}, None, None),
    ("gave up Bergen in March", {"when": "in March", "status": FactStatus.ENDED}, "2026-03-01", None),
    (
        "stopped at Bergen in July",
        {"when": "in July", "status": FactStatus.ENDED, "change": FactChange.CHANGED},
        "2025-07-01",
        None,
    ),
    ("learning the oboe this year", {"when": "this year"}, "2026-01-01", None),
]


@pytest.mark.parametrize(("text", "fields", "since", "until"), DAYS)
def test_words_of_time_say_since_when_and_until_when(
    text: str, fields: dict[str, object], since: str | None, until: str | None
) -> None:
    value = text.split()[0 if "dentist" in text else 2]
    (claim,) = read_one(text, value, "status", key="week", **fields)
    days = [
        None if at is None else to_datetime(at).date().isoformat() for at in (claim.valid_from_us, claim.valid_until_us)
    ]
    assert days == [since, until]


@pytest.mark.parametrize(
    ("words", "hour"),
    [
        ("tomorrow at 3pm", "15:00"),
        ("tomorrow at 9:30", "09:30"),
        ("tomorrow at 11.15 a.m.", "11:15"),
        ("tomorrow at noon", "12:00"),
        ("tomorrow at 12 am", "00:00"),
        ("tomorrow at nine", "00:00"),
        ("tomorrow at 9", "00:00"),
        ("tomorrow, 9:30 or 10:30", "00:00"),
    ],
)
def test_an_appointment_begins_at_the_hour_that_is_named(words: str, hour: str) -> None:
    (claim,) = read_one(f"dentist {words}", "dentist", "appointment", when=words)
    assert claim.valid_from_us is not None
    assert f"{to_datetime(claim.valid_from_us):%Y-%m-%d %H:%M}" == f"2026-05-21 {hour}"


@pytest.mark.parametrize(
    ("value", "attribute", "kept", "until"),
    [
        ("Friday", "deadline", "Friday", "2026-05-23"),
        ("tomorrow at 5pm", "deadline", "2026-05-21 17:00", "2026-05-22"),
        ("in two weeks", "deadline", "in two weeks", "2026-06-08"),
        ("tomorrow", "date", "2026-05-21", None),
        ("next Tuesday", "date", "2026-05-26", None),
        ("Tuesday", "date", "Tuesday", None),
        ("tomorrow at 9:30", "date", "2026-05-21 09:30", None),
    ],
)
def test_the_day_of_a_thing_is_one_of_the_calendar(value: str, attribute: str, kept: str, until: str | None) -> None:
    (claim,) = read_one(f"the report is {value}", value, attribute, subject="report")
    assert claim.value == kept
    ends = claim.valid_until_us
    assert (None if ends is None else to_datetime(ends).date().isoformat()) == until


def test_a_stay_for_a_time_takes_no_place() -> None:
    (claim,) = read_one(
        "I'm living in Bergen this week", "Bergen", "residence", when="this week", change=FactChange.CHANGED
    )
    assert (claim.cardinality, claim.move) == (Cardinality.SET, UpdateKind.STATE)


def test_a_measurement_of_a_day_stands_beside_others() -> None:
    fields: dict[str, object] = {"key": "blood pressure", "certainty": 1.0, "attribute_certainty": 1.0}
    (dated,) = read_one("blood pressure was 140/90 on Monday", "140/90", "measure", when="on Monday", **fields)
    (plain,) = read_one("blood pressure is 140/90", "140/90", "measure", **fields)
    assert (dated.cardinality, plain.cardinality) == (Cardinality.SET, Cardinality.SINGLE)
