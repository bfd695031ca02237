"""Things that a speaker makes are entities of their own: goals, work, tools and measures are told of them."""

from __future__ import annotations

import pytest

from credenda.model.memory import Cardinality, Stance

from .test_clauses import read, slots


@pytest.mark.parametrize(
    ("text", "entity", "attribute", "value"),
    [
        ("I've tested the login page.", "login page", "status", "tested the login page"),
        ("I'm using Redis 7.0 for rate limiting.", "rate limiting", "tool", "Redis 7.0"),
        ("I'm writing the import job, and I chose Kotlin.", "import job", "decision", "Kotlin"),
        ("I'm writing the import job. I'm using Redis too.", "import job", "tool", "Redis"),
        ("I'm tuning the import job, and I've reached 80% coverage.", "import job", "coverage", "80%"),
        ("I'm trying to run the import job on Python 3.11.", "user", "uses", "Python 3.11"),
    ],
)
def test_what_is_made_or_changed_is_an_entity(text: str, entity: str, attribute: str, value: str) -> None:
    assert (entity, attribute, value) in slots(read(text))


def test_a_goal_is_told_of_the_thing_that_it_changes() -> None:
    (goal,) = read("I'm trying to rewrite the parser tests and the lexer tests.")
    assert (goal.entity, goal.attribute, goal.stance) == ("parser tests", "goal", Stance.PLANNED)
    assert goal.value == "rewrite the parser tests and the lexer tests"


def test_among_persons_a_thing_has_its_owner() -> None:
    assert "Emi's history essay" in {one.entity for one in read("I'm writing my history essay.", speaker="Emi")}


@pytest.mark.parametrize(
    ("text", "attribute", "value"),
    [
        (
            "I'm trying to plan our summer wedding. I ran the Berlin Marathon last year.",
            "experience",
            "ran the Berlin Marathon last year",
        ),
        ("I'm trying to plan our summer wedding, and I decided to leave Bosch.", "decision", "leave Bosch"),
        ("My sister wants to fix the login page, and I use Garmin.", "uses", "Garmin"),
    ],
)
def test_what_has_nothing_to_do_with_the_topic_stays_with_the_speaker(text: str, attribute: str, value: str) -> None:
    assert ("user", attribute, value) in slots(read(text))


def test_a_thing_has_one_value_of_a_measure() -> None:
    (told,) = [one for one in read("The upload page response time is 300 ms.") if one.attribute == "response_time"]
    assert told.cardinality is Cardinality.SINGLE


@pytest.mark.parametrize(
    ("text", "attribute", "value"),
    [
        ("Cedar Falls, south of Boise, is my favorite.", "favourite", "Cedar Falls"),
        ("The Hollow by Ann Reed is a favorite of mine.", "favourite", "Hollow by Ann Reed"),
        ("I love rowing, it's my favorite sport.", "favourite_sport", "rowing"),
        ("I made some gnocchi. That happens to be my favorite dish.", "favourite_dish", "gnocchi"),
        ("The cooking class was fantastic.", "experience", "cooking class was fantastic"),
        ("I love hiking in the hills and rowing on the lake.", "hobby", "hiking in the hills and rowing on the lake"),
    ],
)
def test_a_clause_tells_a_favourite_an_event_or_a_whole_value(text: str, attribute: str, value: str) -> None:
    assert ("user", attribute, value) in slots(read(text))
