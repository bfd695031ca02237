"""What the words around a fact say of it: doses, appointments, amounts of money, and who is what now."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from credenda.clock import format_time, from_datetime
from credenda.model.claim import SPEAKER, Claim, Fact, FactChange, FactStatus, Turn, UpdateKind, Words
from credenda.model.event import Event, Role, Source
from credenda.model.memory import Stance
from credenda.write.facts.claims import make_claims

TUESDAY = from_datetime(datetime(2026, 11, 3, 9, tzinfo=UTC))


def place(text: str, words: str) -> Words:
    start = text.index(words)
    return Words(words, start, start + len(words))


def read(text: str, *facts: Mapping[str, object]) -> list[Claim]:
    """Return the claims of a message in which a reader found facts, each given by its value and what is special."""
    event = Event(
        text=text,
        role=Role.USER,
        speaker="user",
        occurred_us=TUESDAY,
        id="e1",
        recorded_us=TUESDAY,
        source=Source.HUMAN,
    )
    made: list[Fact] = []
    for one in facts:
        plain = Fact(value=place(text, str(one["value"])), quote=Words(text, 0, len(text)), attribute="amount")
        special = {name: given for name, given in one.items() if name != "value"}
        made.append(replace(plain, **special))  # pyright: ignore[reportArgumentType] - fields of a fact
    return make_claims(Turn(event=event), made)


def show(claims: list[Claim]) -> list[tuple[str | None, str | None, str | None]]:
    return [(one.entity, one.attribute, one.value) for one in claims]


@pytest.mark.parametrize(
    ("text", "dose", "held"),
    [
        ("My cardiologist raised my bisoprolol to 5 mg.", "5 mg", "5 mg of bisoprolol"),
        ("They put my prednisone down to 10 mg.", "10 mg", "10 mg of prednisone"),
        ("My sertraline is up to 100 mg now.", "100 mg", "100 mg of sertraline"),
        ("I take metformin 850 mg with meals.", "850 mg with meals", "850 mg of metformin"),
    ],
)
def test_a_dose_is_that_of_the_medicine_that_its_words_name(text: str, dose: str, held: str) -> None:
    claims = read(text, {"value": dose, "subject": "", "change": FactChange.CHANGED, "attribute_certainty": 0.49})
    assert show(claims) == [("user", "medication", held)]


def test_the_dose_of_somebody_else_is_none_of_the_speaker() -> None:
    assert read("My mum takes it. The doctor raised the warfarin to 8 mg.", {"value": "8 mg", "subject": ""}) == []
    assert read("My doctor raised the dose to 8 mg.", {"value": "8 mg", "subject": ""}) == []
    assert read("The vet raised my mother's tablets to 5 mg.", {"value": "5 mg", "subject": ""}) == []


def test_a_medicine_is_told_once_with_its_dose() -> None:
    claims = read(
        "I take metformin 850 mg.",
        {"value": "metformin", "attribute": "medication"},
        {"value": "850 mg", "subject": "metformin"},
    )
    assert show(claims) == [("user", "medication", "850 mg of metformin")]


@pytest.mark.parametrize(
    ("text", "value", "when", "held", "day"),
    [
        (
            "I have a meeting with the bank tomorrow at 3pm.",
            "bank",
            "tomorrow at 3pm",
            "meeting with the bank",
            "04T15:00",
        ),
        ("My call with Nils is on Friday.", "Nils", "on Friday", "call with Nils", "06T00:00"),
        ("There's a viewing of the attic on Thursday.", "attic", "on Thursday", "viewing of the attic", "05T00:00"),
    ],
)
def test_an_appointment_has_its_noun_and_its_day(text: str, *, value: str, when: str, held: str, day: str) -> None:
    unsure = {"certainty": 0.1, "attribute_certainty": 0.4, "status": FactStatus.PLANNED, "key": "meeting"}
    (claim,) = read(text, {"value": value, "attribute": "appointment", "when": when, **unsure})
    assert (claim.value, claim.stance) == (held, Stance.PLANNED)
    assert (format_time(claim.valid_from_us) or "").startswith(f"2026-11-{day}")


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("Karl has an interview at Halden on Friday.", [("interview", "Karl", "on Friday")]),
        (
            "I see the dentist on Thursday and I have a meeting with Ada on Friday.",
            [("dentist", SPEAKER, "on Thursday"), ("Ada", SPEAKER, "on Friday")],
        ),
    ],
)
def test_an_appointment_of_another_person_or_day_stays_as_it_was_read(
    text: str, facts: list[tuple[str, str, str]]
) -> None:
    told = [
        {"value": value, "attribute": "appointment", "subject": of, "when": when, "status": FactStatus.PLANNED}
        for value, of, when in facts
    ]
    assert [one.value for one in read(text, *told)] == [value for value, _, _ in facts]


@pytest.mark.parametrize(
    "text",
    [
        "I make 300 euros a month with photography.",
        "I get 450 euros rent from my tenant.",
        "I get paid 9 euros an hour.",
    ],
)
def test_money_beside_a_salary_and_rent_that_comes_in_take_no_slot(text: str) -> None:
    value = re.search(r"\d+ euros(?: rent| a month)?", text)
    assert value is not None
    assert {one.attribute for one in read(text, {"value": value[0]})} <= {None, "amount"}


@pytest.mark.parametrize("when", ["", "yesterday"])
def test_an_unsure_appointment_without_a_day_to_come_is_none(when: str) -> None:
    text = "My meeting with Otto was yesterday."
    fact = {"value": "Otto", "attribute": "appointment", "certainty": 0.1, "status": FactStatus.PLANNED, "when": when}
    assert read(text, fact) == []


def test_what_words_deny_for_now_has_ended_whatever_its_reader_says() -> None:
    text = "Parcels don't go to the depot any more."
    (claim,) = read(text, {"value": "the depot", "attribute": "contact", "key": "parcels", "certainty": 0.5})
    assert (claim.move, claim.value) == (UpdateKind.END, "the depot")


@pytest.mark.parametrize("behind", ["Ida is", "but Ida does now", "Ida has it now"])
def test_who_is_what_somebody_no_longer_is_has_it(behind: str) -> None:
    text = f"Ben no longer runs the kiosk, {behind}."
    over = {"subject": "Ben", "status": FactStatus.ENDED, "change": FactChange.CHANGED}
    claims = read(text, {"value": "kiosk", "attribute": "works_on", **over}, {"value": "Ida", "attribute": "colleague"})
    assert [(one.entity, one.value, one.move is UpdateKind.END) for one in claims] == [
        ("Ben", "kiosk", True),
        ("Ida", "kiosk", False),
    ]


def test_a_stay_has_a_place_and_an_end() -> None:
    (claim,) = read(
        "I'm in Faro this week.",
        {"value": "Faro", "attribute": "location", "when": "this week", "status": FactStatus.PLANNED},
    )
    assert (claim.entity, claim.attribute, claim.stance) == ("user", "location", Stance.ASSERTED)
    assert format_time(claim.valid_until_us) == "2026-11-09T00:00:00Z"


@pytest.mark.parametrize(
    ("text", "value", "fields", "held"),
    [
        ("I earn 2900 euros a month.", "2900 euros a month", {}, ("salary", "2900 euros a month")),
        (
            "I got a raise: 3150 euros a month.",
            "3150 euros a month",
            {"key": "raise"},
            ("salary", "3150 euros a month"),
        ),
        ("We pay 780 euros rent a month.", "780 euros rent a month", {}, ("rent", "780 euros a month")),
    ],
)
def test_the_words_of_an_amount_or_a_move_name_its_slot(
    text: str, value: str, fields: dict[str, object], held: tuple[str, str]
) -> None:
    assert show(read(text, {"value": value, **fields})) == [("user", *held)]


def test_the_noun_before_a_name_says_what_somebody_is_to_the_speaker() -> None:
    fact = {"value": "Callum", "attribute": "colleague"}
    assert show(read("My new apprentice is called Callum.", fact)) == [("user", "apprentice", "Callum")]


def test_an_amount_of_things_is_no_salary() -> None:
    assert read("I make 200 bottles a month.", {"value": "200 bottles a month"}) == []


def test_the_parts_of_a_value_are_one() -> None:
    text = "I work at the acoustics lab of the university."
    parts = [
        {"value": "acoustics lab of the", "attribute": "employer", "certainty": 0.1},
        {"value": "university", "attribute": "employer", "certainty": 0.51},
    ]
    assert show(read(text, *parts)) == [("user", "employer", "acoustics lab of the university")]


def test_a_word_before_a_day_is_no_part_of_it() -> None:
    parts = [{"value": value, "attribute": "deadline", "subject": "report"} for value in ("in", "June")]
    assert ("report", "deadline", "June") in show(read("The report is due in June.", *parts))


def test_two_values_side_by_side_stay_two() -> None:
    facts = [{"value": value, "attribute": "likes"} for value in ("figs", "plums")]
    assert len(read("I like figs plums and such.", *facts)) == 2


def test_the_deadline_of_a_report_is_filed_under_the_report() -> None:
    fact = {"value": "15 October", "attribute": "deadline", "subject": "report deadline"}
    assert show(read("The report deadline is 15 October.", fact)) == [("report", "deadline", "2027-10-15")]
