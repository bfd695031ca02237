"""Slots that parsed clauses fill beside the frames of their verbs: favourites, tools, days, measures and changes."""

from __future__ import annotations

import pytest

from credenda.model.claim import Turn, UpdateKind
from credenda.model.event import Event, Role
from credenda.model.memory import Cardinality, Stance
from credenda.write.extract.rules import RulesExtractor
from credenda.write.parse.extractor import ParsingExtractor
from credenda.write.parse.measures import split_measure

from .test_clauses import PARSER, read, slots


@pytest.mark.parametrize(
    ("text", "attribute", "value"),
    [
        ("Halloween is my absolute favorite.", "favourite", "Halloween"),
        ("Lisbon is one of my favorite cities.", "favourite", "Lisbon"),
        ("One of my favorite books is called Middlemarch.", "favourite", "Middlemarch"),
        ("My favorites are kiwi and mango.", "favourite", "mango"),
        ("Darcy has to be my favorite character.", "favourite_character", "Darcy"),
        ("I am a huge rugby fan.", "sport", "rugby"),
        ("I have been to Norway and Iceland.", "visited", "Iceland"),
        ("Went to Bergen with my brother Tom.", "visited", "Bergen"),
        ("As a nurse, I need a quiet bedroom.", "job_title", "nurse"),
        ("I've chosen MariaDB as our database.", "database", "MariaDB"),
        ("my cat Pickles is staying with Dee", "cat", "Pickles"),
        ("my dog Rex loves snow", "dog", "Rex"),
        ("Is my dog Rex too old?", "dog", "Rex"),
    ],
)
def test_a_clause_names_a_slot_of_its_speaker(text: str, attribute: str, value: str) -> None:
    assert ("user", attribute, value) in slots(read(text))


@pytest.mark.requirement("R-035")
@pytest.mark.parametrize(
    ("text", "attribute"),
    [
        ("I was a nurse.", "job_title"),
        ("My mum was a teacher.", "job_title"),
        ("I was allergic to eggs as a kid.", "allergy"),
        ("I had asthma as a child.", "condition"),
        ("When I was a student I had a cat.", "pet"),
        ("I was a huge rugby fan.", "sport"),
        ("I loved chess as a child.", "game"),
        ("I was 12 when we moved to Leeds.", "residence"),
    ],
)
def test_what_somebody_was_is_not_told_of_today(text: str, attribute: str) -> None:
    assert attribute not in [one.attribute for one in read(text)]


def test_a_former_job_of_the_rules_stands() -> None:
    event = Event(text="I was a nurse.", role=Role.USER, speaker="user", occurred_us=0, id="e1", recorded_us=0)
    found = ParsingExtractor(PARSER, RulesExtractor()).extract(Turn(event=event))
    assert slots(found) == {("user", "former_job_title", "nurse")}


@pytest.mark.parametrize(
    ("text", "entity", "attribute", "value"),
    [
        ("The first sprint ends on March 29.", "first sprint", "deadline", "March 29"),
        ("The upload timeout is 30 seconds.", "upload", "timeout", "30 seconds"),
        ("I have completed the login module.", "login module", "status", "completed"),
        ("The first sprint now targets completion by March 31.", "first sprint", "deadline", "March 31"),
        ("I've reached 85% test coverage on my parser module.", "parser module", "test_coverage", "85%"),
        ("I track the test coverage for my importer, which has improved to 78%.", "importer", "test_coverage", "78%"),
        ("I measured the page response time, and I've managed to cut it to 300ms.", "page", "response_time", "300ms"),
    ],
)
def test_a_thing_has_slots_of_its_own(text: str, entity: str, attribute: str, value: str) -> None:
    assert (entity, attribute, value) in slots(read(text))


def test_several_favourites_stand_side_by_side() -> None:
    (one,) = [claim for claim in read("Lisbon is one of my favorite cities.") if claim.attribute == "favourite"]
    assert one.cardinality is Cardinality.SET


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        ("We raised the budget from $500 to $650.", "$500", "$650"),
        ("I switched to the rye bread from the wheat rolls.", "wheat rolls", "rye bread"),
    ],
)
def test_from_one_value_to_another_tells_both(text: str, old: str, new: str) -> None:
    told = [(one.value, one.move, one.prior) for one in read(text)]
    assert told == [(new, UpdateKind.CHANGE, old), (old, UpdateKind.STATE, None)]
    assert [one.valid_until_us is not None for one in read(text)] == [False, True]


@pytest.mark.parametrize("name", ["Ivo", "Marek Yansol", "Ana Berg"])
def test_whoever_lives_somewhere_is_a_person(name: str) -> None:
    assert [(one.entity, one.attribute, one.value) for one in read(f"{name} lives in Lugano.")] == [
        (name, "residence", "Lugano")
    ]


@pytest.mark.parametrize(
    "text",
    [
        "I don't want to miss the talks in Lisbon.",
        "I don't want to leave Bosch.",
    ],
)
def test_what_is_not_wanted_is_no_goal(text: str) -> None:
    told = [one for one in read(text) if one.attribute in {"goal", "plan"}]
    assert told
    assert all(one.stance is Stance.NEGATED for one in told)


@pytest.mark.parametrize(
    "text",
    [
        "I'd love to hear about your trip.",
        "I might watch a movie or read a book.",
        "My partner beat me in that game.",
        "I want to fix this.",
        "I had a busy day.",
        "Can you show me how I can import it?",
        "I love this show.",
        "Yeah I'm the latter.",
    ],
)
def test_nothing_wished_pointed_at_or_passing_fills_a_slot(text: str) -> None:
    assert all(one.attribute is None or one.stance is not Stance.ASSERTED for one in read(text))


def test_a_necessity_of_the_past_is_no_plan() -> None:
    (told,) = read("I had to decline a freelance offer on July 14.")
    assert (told.attribute, told.stance) == ("experience", Stance.ASSERTED)


def test_an_amount_gives_way_to_an_amount_only() -> None:
    told = read("I've managed to reduce the Time to Interactive (TTI) from 3.5s to 2.1s.")
    assert all(one.move is UpdateKind.STATE or one.value == "2.1s" for one in told)


@pytest.mark.parametrize(
    ("text", "attribute"),
    [
        ("We played games and ate good food.", "plays"),
        ("I visit Norway every summer.", "visited"),
        ("Later I am going to a restaurant.", "visited"),
        ("My friends came over.", "friend"),
        ("Kandinsky uses colors to show feelings.", "uses"),
        ("Giulia Ferrari's dress was a standout choice.", "dress"),
        ("The beach was my favorite part.", "favourite_part"),
        ("The number of mentees I work with has increased to 7.", "phone_number"),
        ("I wrote 900 words on March 3, which is 72% of my target.", "amount"),
        ("I can always adjust the timing.", "habit"),
    ],
)
def test_a_clause_that_tells_no_lasting_fact_fills_no_slot(text: str, attribute: str) -> None:
    assert attribute not in {one.attribute for one in read(text) if one.stance is Stance.ASSERTED}


def test_a_value_ends_before_a_verb() -> None:
    values = [one.value or "" for one in read("I work as a teacher assistant on campus and that brings experience.")]
    assert all("brings" not in value for value in values)


def test_a_number_that_is_only_wanted_is_no_measure() -> None:
    for text in ("I want to reach 100% test coverage.", "We got a 201 status.", "I never had 5% latency."):
        assert not {one.attribute for one in read(text)} & {"test_coverage", "status", "latency"}, text


def test_one_measure_does_not_replace_another_of_the_same_noun() -> None:
    assert split_measure("daily call limit") != split_measure("monthly call limit")


def test_a_journey_and_a_hobby_come_before_what_the_rules_call_a_plan_or_a_liking() -> None:
    event = Event(
        text="I'm thinking of going to Norway.", role=Role.USER, speaker="user", occurred_us=0, id="e1", recorded_us=0
    )
    found = ParsingExtractor(PARSER, RulesExtractor()).extract(Turn(event=event))
    assert [(one.attribute, one.value) for one in found] == [("travel_plan", "going to Norway")]
