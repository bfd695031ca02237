"""Everyday questions are answered from the beliefs: by the value that holds, or held at the time asked for."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from credenda import Credenda
from credenda.clock import from_datetime
from credenda.read.newer import was_valid_within
from credenda.read.plan import Interval
from credenda.testing import ManualClock


def claim(mem: Credenda, text: str, **fields: str) -> str:
    (result,) = mem.remember(text, claims=[{"quote": text, "entity": "user", **fields}]).claims
    assert result.memory_id is not None
    return result.memory_id


def first(mem: Credenda, question: str) -> str:
    return mem.search(question).hits[0].text


def test_each_appointment_of_a_sentence_has_its_own_day_and_hour(mem: Credenda) -> None:
    text = "optician on 4 May at 15:30 and chimney sweep on 6 May at 8"
    said = [("optician on 4 May at 15:30", "optician"), ("chimney sweep on 6 May at 8", "chimney sweep")]
    claims = [
        {"quote": quote, "entity": name, "attribute": "date", "value": quote.split(" on ")[1], "stance": "planned"}
        for quote, name in said
    ]
    mem.remember(text, claims=claims)
    planned = {one.entity: one.statement for one in mem.list(attribute="date").items}
    assert "planned for 2026-05-04 15:30" in planned["optician"]
    assert planned["chimney sweep"].endswith("planned for 2026-05-06")
    assert "optician" in first(mem, "When is my next appointment?")


@pytest.mark.parametrize("span", ["the last ten days", "the past fortnight", "the last couple of weeks"])
def test_what_changed_in_a_span_of_time_is_found(mem: Credenda, clock: ManualClock, span: str) -> None:
    old = claim(mem, "I work at Lumen", attribute="employer", value="Lumen")
    clock.advance(timedelta(days=40))
    claim(mem, "I am at Brisk now", attribute="employer", value="Brisk", replaces=old)
    clock.advance(timedelta(days=8))
    assert first(mem, f"What changed in {span}?").endswith("before: Lumen")


@pytest.mark.parametrize(
    ("attribute", "question"),
    [
        ("job", "What do I do for a living?"),
        ("boss", "Who do I report to?"),
        ("boss", "Who do I answer to at work?"),
        ("girlfriend", "Who is my partner?"),
        ("home", "Where do I live?"),
        ("residence", "Which neighbourhood am I in?"),
        ("medication", "Which inhaler do I use?"),
        ("medication", "What are my gout meds?"),
    ],
)
def test_a_slot_is_found_by_every_name_that_programs_give_it(mem: Credenda, attribute: str, question: str) -> None:
    claim(mem, "it is Orrin now", attribute=attribute, value="Orrin")
    claim(mem, "my gym is Castle Lifts", attribute="gym", value="Castle Lifts")
    claim(mem, "my landlord is Fintan", attribute="landlord", value="Fintan")
    assert "Orrin" in first(mem, question)


def test_a_question_about_the_past_is_told_the_value_of_then(mem: Credenda, clock: ManualClock) -> None:
    for value in ("61 kg", "64 kg", "66 kg"):
        claim(mem, f"weight {value}", attribute="weight", value=value)
        clock.advance(timedelta(days=60))
    for question, value in (("in March?", "61 kg"), ("before 66 kg?", "64 kg")):
        told, now, *_ = mem.search(f"How much did I weigh {question}").hits
        assert (told.memory and told.memory.value, now.text.partition("before: ")[2]) == (value, value)


@pytest.fixture
def jobs(mem: Credenda) -> tuple[str, str]:
    """Tell two jobs, one of 2021 to March 2023 and the present one."""
    names = list[str]()
    for day, text, value in (("2021-03-01", "I work at Lumen", "Lumen"), ("2023-03-01", "I'm at Brisk now", "Brisk")):
        one = {"quote": text, "entity": "user", "attribute": "employer", "value": value}
        one |= {"replaces": names[0]} if names else {}
        (result,) = mem.remember(text, occurred_at=f"{day}T09:00:00Z", claims=[one]).claims
        assert result.memory_id is not None
        names.append(result.memory_id)
    return names[0], names[1]


@pytest.mark.parametrize("question", ["Where did I work in 2022?", "Where did I work before Brisk?"])
def test_the_value_that_held_when_a_question_asks_of_comes_before_the_present_one(
    mem: Credenda, jobs: tuple[str, str], question: str
) -> None:
    assert [hit.id for hit in mem.search(question).hits] == [*jobs]
    then, _, now = mem.context(question).text.partition("Held true:")
    assert "Held true then:" in then
    assert ("Lumen" in then, "Brisk" in then, "Brisk" in now) == (True, False, True)


@pytest.mark.parametrize("question", ["Where did I work in 2019?", "Where did I work in 2025?", "Where do I work?"])
def test_the_present_value_comes_first_where_no_earlier_one_held_then(
    mem: Credenda, jobs: tuple[str, str], question: str
) -> None:
    assert mem.search(question).hits[0].id == jobs[1]
    assert "true then:" not in mem.context(question).text


def test_a_value_that_had_ended_by_then_did_not_hold_then(mem: Credenda, jobs: tuple[str, str]) -> None:
    left = replace(mem.get(jobs[0]), valid_until_us=from_datetime(datetime(2021, 5, 1, tzinfo=UTC)))
    asked = [
        Interval(from_datetime(datetime(year, 1, 1, tzinfo=UTC)), from_datetime(datetime(year + 1, 1, 1, tzinfo=UTC)))
        for year in (2021, 2022)
    ]
    assert [was_valid_within(left, [one]) for one in asked] == [True, False]


def test_of_two_things_the_one_that_is_named_comes_first(mem: Credenda, clock: ManualClock) -> None:
    text = "the test broker is on port 5672 and the live broker on 5673"
    fields = {"attribute": "port"}
    live = {"quote": "the live broker on 5673", "entity": "live broker", "value": "5673", **fields}
    test = {"quote": "the test broker is on port 5672", "entity": "test broker", "value": "5672", **fields}
    mem.remember(text, claims=[live, test])
    clock.advance(timedelta(days=9))
    moved = "test broker moved to 6672"
    mem.remember(moved, claims=[{"quote": moved, "entity": "test broker", "value": "6672", **fields}])
    assert "5673" in first(mem, "What port is the live broker on?")


def test_who_no_longer_belongs_to_a_group_comes_last(mem: Credenda) -> None:
    rex = claim(mem, "our dog Rex snores", attribute="dog", value="Rex")
    mem.remember(
        "Rex is a boxer", claims=[{"quote": "Rex is a boxer", "entity": "Rex", "attribute": "breed", "value": "boxer"}]
    )
    claim(mem, "Rex died", attribute="dog", value="Rex", stance="negated", replaces=rex)
    claim(mem, "Tinsel the cat moved in", attribute="cat", value="Tinsel")
    assert "Tinsel" in first(mem, "What pets do we have?")


def test_what_is_planned_stands_before_what_was_called_off(mem: Credenda) -> None:
    off = claim(mem, "booked Oslo", attribute="trip", value="Oslo", stance="planned")
    claim(mem, "Oslo is off", attribute="trip", value="Oslo", stance="negated", replaces=off)
    claim(mem, "booked Riga", attribute="trip", value="Riga", stance="planned")
    assert "Riga" in first(mem, "What trips are coming up?")
    assert "not Oslo" in first(mem, "Am I on a trip to Oslo?")


def test_a_sure_answer_is_not_padded_with_what_hardly_fits(mem: Credenda) -> None:
    claim(mem, "I take tram 9 to the depot", attribute="commute", value="tram 9")
    for name in ("Ola", "Per", "Kim", "Liv"):
        text = f"{name} plays the tuba"
        mem.remember(text, claims=[{"quote": text, "entity": name, "attribute": "instrument", "value": "tuba"}])
    assert "tuba" not in mem.context("How do I get to work?").text


def test_a_medicine_has_one_dose_at_a_time(mem: Credenda, clock: ManualClock) -> None:
    claim(
        mem,
        "on ramipril 5 mg, one tablet in the morning",
        attribute="medication",
        value="ramipril 5 mg, one tablet in the morning",
    )
    clock.advance(timedelta(days=30))
    claim(mem, "10 mg of ramipril these days", attribute="medication", value="10 mg of ramipril")
    assert [one.value for one in mem.list(attribute="medication").items] == ["10 mg of ramipril"]


def test_a_thing_has_one_state_at_a_time(mem: Credenda, clock: ManualClock) -> None:
    for sentence in (
        "The voice roster is broken.",
        "The voice roster is fixed now.",
        "The voice roster is broken again.",
    ):
        mem.remember(sentence)
        mem.settle()
        clock.advance(timedelta(days=9))
    ended = [(one.value, one.valid_until is None) for one in mem.history(entity="voice roster", attribute="status")]
    assert ended == [("broken", False), ("fixed", False), ("broken", True)]


def test_a_corrected_port_is_filed_as_the_port(mem: Credenda, clock: ManualClock) -> None:
    for sentence in ("The prod database is on port 5432.", "Scratch that, the prod database is on port 6432."):
        mem.remember(sentence)
        mem.settle()
        clock.advance(timedelta(days=9))
    held = [(one.attribute, one.value) for one in mem.list(entity="prod database").items]
    assert held == [("port", "6432")]


def test_a_named_value_of_a_slot_for_the_same_question_ends(mem: Credenda) -> None:
    flat = claim(mem, "we rent a flat in Headfort", attribute="home", value="flat in Headfort")
    claim(mem, "we live in Horsham now", attribute="residence", value="Horsham", replaces=flat)
    assert mem.get(flat).status == "superseded"


def test_a_value_that_is_back_and_names_what_it_replaces_is_no_question(mem: Credenda, clock: ManualClock) -> None:
    first_diet = claim(mem, "vegetarian since school", attribute="diet", value="vegetarian")
    clock.advance(timedelta(days=30))
    fish = claim(mem, "pescatarian then", attribute="diet", value="pescatarian", replaces=first_diet)
    clock.advance(timedelta(days=30))
    claim(mem, "vegetarian again", attribute="diet", value="vegetarian", replaces=fish)
    assert [(one.value, one.contested) for one in mem.list(attribute="diet").items] == [("vegetarian", False)]


def test_an_agent_may_name_a_thing_that_the_memory_knows(mem: Credenda) -> None:
    claim(mem, "first shift at Cafe Zimt", attribute="employer", value="Cafe Zimt")
    text = "the flour comes from Kottmann"
    (result,) = mem.remember(
        text, claims=[{"quote": text, "entity": "Cafe Zimt", "attribute": "supplier", "value": "Kottmann"}]
    ).claims
    assert result.understood == "Cafe Zimt supplier: Kottmann"


def test_where_somebody_no_longer_works_is_not_who_they_are(mem: Credenda) -> None:
    for sentence in ("I work at Lumen.", "I no longer work at Lumen."):
        mem.remember(sentence)
        mem.settle()
    assert "Lumen" not in mem.manage.core().text
