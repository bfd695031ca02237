"""Claims that tell one thing at several times: the one told last comes first, whatever their attributes are called."""

from __future__ import annotations

import numpy as np
import pytest

from credenda.clock import parse_time
from credenda.model.memory import Memory, MemoryType, Stance
from credenda.read.candidates import Floats, Row, Signs
from credenda.read.plan import Interval
from credenda.read.versions import find_latest, find_then, find_versions, list_last_statements

DAY = {
    1: parse_time("2026-01-05T09:00:00Z"),
    2: parse_time("2026-03-05T09:00:00Z"),
    3: parse_time("2026-06-05T09:00:00Z"),
}


def claim(  # noqa: PLR0917 - a table's row
    name: str,
    attribute: str,
    value: str,
    day: int,
    answers: float,
    *,
    entity: str = "user",
    stance: Stance = Stance.ASSERTED,
) -> Row:
    memory = Memory(
        id=name,
        version=1,
        type=MemoryType.FACT,
        text=value,
        entity=entity,
        attribute=attribute,
        value=value,
        stance=stance,
        created_us=DAY[day],
        recorded_us=DAY[day],
    )
    return Row("memory", name, value, answers, Signs(claim=answers), memory=memory)


WAGE = claim("m1", "hourly_wage", "18.20", 1, 0.6)
PAY = claim("m2", "pay_rate", "19.10", 2, 0.55)
RAISE = claim("m3", "hourly_rate", "21", 3, 0.5)


def point(cosine: float) -> Floats:
    """A vector with a cosine to the first axis."""
    return np.array([cosine, np.sqrt(1 - cosine * cosine)], np.float32)


def latest(*rows: Row, alike: float = 0.8, asked: tuple[str, ...] = ()) -> dict[str, str]:
    vectors = {row.id: point(1.0 if at == 0 else alike) for at, row in enumerate(rows)}
    told = {row.id: row.memory.created_us for row in rows if row.memory}
    return find_latest(find_versions(rows, vectors, asked), asked, told)


def test_the_version_told_last_stands_before_the_others() -> None:
    assert latest(WAGE, PAY, RAISE) == {"m1": "m3", "m2": "m3"}
    assert latest(RAISE, PAY, WAGE) == {"m1": "m3", "m2": "m3"}


@pytest.mark.parametrize(
    "other",
    [
        claim("m9", "pay_rate", "19.10", 2, 0.55, entity="Greta"),
        claim("m9", "pay_rate", "19.10", 2, 0.55, stance=Stance.PLANNED),
        claim("m9", "pay_rate", "19.10", 1, 0.55),
        claim("m9", "pay_rate", "19.10", 2, -0.1),
        claim("m9", "pay_rate", "18.20 an hour", 2, 0.55),
    ],
    ids=["of another", "planned", "told in one breath", "no answer", "the same again"],
)
def test_what_is_no_version_keeps_its_place(other: Row) -> None:
    assert latest(WAGE, other) == {}


def test_likeness_decides_where_names_differ_and_the_name_where_they_are_equal() -> None:
    assert latest(WAGE, PAY, alike=0.4) == {}
    assert latest(WAGE, claim("m9", "hourly_wage", "19.10", 2, 0.5), alike=0.2) == {"m1": "m9"}


def test_a_question_that_names_a_value_is_about_it() -> None:
    assert latest(WAGE, PAY, asked=("18.20",)) == {}


def test_a_question_about_the_past_gets_the_version_before_or_of_then() -> None:
    rows = [RAISE, PAY, WAGE]
    versions = find_versions(rows, {row.id: point(1.0 if row is RAISE else 0.8) for row in rows}, ())
    assert find_then(versions, (), "what did I earn before the 21?") == {"m3": "m2", "m1": "m2"}
    then = Interval(DAY[1], DAY[2] - 1)
    assert find_then(versions, (then,), "what did I earn in February?") == {"m3": "m1", "m2": "m1"}
    assert find_then(versions[:1], (then,), "what did I earn in February?") == {}


def test_values_of_a_set_are_no_versions() -> None:
    assert latest(claim("m1", "allergy", "peanuts", 1, 0.6), claim("m2", "allergy", "shellfish", 2, 0.6)) == {}


def test_another_thing_than_the_question_names_is_no_version() -> None:
    passport, licence = claim("m1", "passport_expiry", "2031", 1, 0.6), claim("m2", "licence_expiry", "2029", 2, 0.5)
    assert latest(passport, licence, asked=("passport", "expir")) == {}
    assert latest(passport, licence, asked=("expir",)) == {"m1": "m2"}


def test_names_that_ask_for_one_attribute_are_equal() -> None:
    car, vehicle = claim("m1", "car", "2014 Outback", 1, 0.4), claim("m2", "vehicle", "2017 Transit", 2, 0.3)
    assert latest(car, vehicle, alike=0.26) == {"m1": "m2"}
    wage, rate = claim("m1", "hourly_wage", "18.20", 1, 0.4), claim("m2", "hourly_rate", "21.75", 2, 0.4)
    assert latest(wage, rate, alike=0.26) == {"m1": "m2"}
    assert latest(claim("m1", "hourly_pay", "18.20", 1, 0.4), rate, alike=0.26) == {"m1": "m2"}


def test_other_words_for_a_slot_are_no_other_thing() -> None:
    city = claim("m1", "city_where_he_lives", "Brisbane", 1, 0.6, entity="Craig")
    home = claim("m2", "home", "a flat in Fremantle", 2, 0.5, entity="Craig")
    assert latest(city, home, asked=("craig", "live")) == {"m1": "m2"}


def test_a_value_that_came_back_was_told_last() -> None:
    first, other = claim("m1", "code_editor", "neovim", 1, 0.7), claim("m2", "editor", "zed", 2, 0.6)
    again, elsewhere = claim("m3", "editor", "neovim", 3, 0.6), claim("m4", "shell", "neovim", 3, 0.5)
    assert list_last_statements([first, other], [first, other, elsewhere]) == {"m1": DAY[1], "m2": DAY[2]}
    told = list_last_statements([first, other], [first, other, again])
    assert find_latest([first, other], (), told) == {"m2": "m1"}


BOSSES = [
    claim("m1", "boss", "Tariq", 1, 0.6),
    claim("m2", "line_manager", "Noor", 2, 0.5),
    claim("m3", "boss", "Eck", 3, 0.5),
]


@pytest.mark.parametrize(
    ("question", "then"),
    [
        ("who had the job before Noor", "m1"),
        ("who was over me after Tariq", "m2"),
        ("who was my boss to begin with", "m1"),
        ("who did I answer to before", "m2"),
        ("who was I working under back in april", "m2"),
        ("who was I working under at the start of april", "m2"),
        ("who did I answer to in the end", None),
        ("who is my boss before the board meets", None),
        ("who do I answer to", None),
        ("who was I told to ask before bed", None),
        ("who was my boss before tax", None),
        ("when did I say I start with the boss", None),
        ("who was my boss before now", "m2"),
        ("what was my old boss called", "m2"),
    ],
)
def test_a_question_in_the_past_tense_gets_the_version_of_then(question: str, then: str | None) -> None:
    april = Interval(parse_time("2026-04-01T00:00:00Z"), parse_time("2026-05-01T00:00:00Z"))
    moved = find_then(BOSSES, [april] if "april" in question else [], question)
    assert set(moved.values()) == ({then} if then else set())
