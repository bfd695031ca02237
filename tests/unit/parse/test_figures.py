"""Days and amounts of noun phrases, journeys, outcomes and plans with a day: each is told of its thing."""

from __future__ import annotations

import pytest

from credenda.model.claim import Claim, Turn
from credenda.model.event import Event, Role
from credenda.model.memory import Cardinality, Stance
from credenda.write.parse.extractor import ParsingExtractor

from .test_clauses import PARSER, NoRules, read, slots


@pytest.mark.parametrize(
    ("text", "entity", "attribute", "value"),
    [
        ("How do I prepare for my driving test on May 20?", "driving test", "date", "May 20"),
        ("Is the loan application due June 1 hard to fill in?", "loan application", "deadline", "June 1"),
        ("Will I meet the April 15 deadline for the pilot phase?", "pilot phase", "deadline", "April 15"),
        ("I have a call with Ana on March 22 at 3 PM.", "call with Ana", "date", "March 22 at 3 PM"),
        ("I got the evening job starting June 3.", "evening job", "start_date", "June 3"),
        ("Can I get the $150 application fee back?", "application", "fee", "$150"),
        ("I received a $2,000 repair grant.", "repair grant", "amount", "$2,000"),
        ("I have allocated $900 for garden tools.", "garden tools", "budget", "$900"),
        ("I've completed 75% of my packing list.", "packing list", "progress", "75%"),
        ("I rehearse my 5-minute wedding speech.", "wedding speech", "duration", "5-minute"),
        ("The dentist visit is on May 20 at 2:00 PM.", "dentist visit", "date", "May 20 at 2:00 PM"),
        ("I had to reschedule my piano lesson from May 6 to May 8.", "piano lesson", "date", "May 8"),
    ],
)
def test_a_figure_belongs_to_its_thing(text: str, entity: str, attribute: str, value: str) -> None:
    assert (entity, attribute, value) in slots(read(text))


@pytest.mark.parametrize(
    ("text", "attribute"),
    [
        ("I would love a trip in May.", "date"),
        ("My partner Tom, on June 12, laughed.", "date"),
        ("I read your long letter on Monday.", "date"),
        ("Would a $500 budget be enough?", "budget"),
        ("I want to spend $500 on a laptop.", "spent"),
        ("I need 85% test coverage.", "test_coverage"),
        ("I have not completed 80% of my packing list.", "progress"),
        ("I would book a call with Ana on March 22.", "date"),
    ],
)
def test_a_figure_of_nothing_known_fills_no_slot(text: str, attribute: str) -> None:
    assert attribute not in {one.attribute for one in read(text)}


def test_days_of_one_thing_stand_side_by_side() -> None:
    (one,) = [claim for claim in read("I fear my driving test on May 20.") if claim.attribute == "date"]
    assert one.cardinality is Cardinality.SET


@pytest.mark.parametrize(
    ("text", "attribute", "value"),
    [
        ("We got an idea on our trip to Norway.", "visited", "Norway"),
        ("I met Ivo last week.", "met", "Ivo"),
        ("I bought a red kayak.", "bought", "red kayak"),
        ("I've tried baking bread.", "tried", "baking bread"),
        ("We participated in a charity run.", "took_part_in", "charity run"),
        ("I earn about $900 a month.", "income", "about $900 a month"),
        ("I've decided to go with a paper calendar for the kitchen.", "decision", "paper calendar for the kitchen"),
        ("We love playing volleyball.", "hobby", "playing volleyball"),
    ],
)
def test_a_verb_names_what_the_speaker_has_done(text: str, attribute: str, value: str) -> None:
    assert ("user", attribute, value) in slots(read(text))


@pytest.mark.parametrize(
    "text", ["I tried to stay calm.", "I tried my best.", "I buy them at the market.", "I will meet Ivo."]
)
def test_what_is_not_done_or_names_nothing_is_no_deed(text: str) -> None:
    assert {"tried", "bought", "met"}.isdisjoint(one.attribute for one in read(text))


@pytest.mark.parametrize(
    ("text", "entity", "value"),
    [
        ("I applied for a garden permit.", "garden permit", "applied for a garden permit"),
        ("I passed the spelling exam on Friday.", "spelling exam", "passed the spelling exam on Friday"),
        ("I accepted the evening job.", "evening job", "accepted the evening job"),
    ],
)
def test_an_outcome_is_told_of_the_thing(text: str, entity: str, value: str) -> None:
    assert (entity, "status", value) in slots(read(text))


@pytest.mark.parametrize(
    ("text", "entity", "attribute", "value"),
    [
        ("I met Ivo, a retired pilot who's 81.", "Ivo", "age", "81"),
        ("I talked to Julia, a young lawyer.", "Julia", "job_title", "young lawyer"),
    ],
)
def test_an_apposition_tells_of_the_person(text: str, entity: str, attribute: str, value: str) -> None:
    assert (entity, attribute, value) in slots(read(text))


def say_on(text: str) -> list[Claim]:
    """Read a sentence that was said on 15 June 2025."""
    event = Event(text=text, role=Role.USER, speaker="user", occurred_us=1_750_000_000_000_000, id="e1", recorded_us=0)
    return ParsingExtractor(PARSER, NoRules()).extract(Turn(event=event))


@pytest.mark.parametrize(
    ("text", "attribute", "value"),
    [
        ("I'm moving to Graz next month.", "residence", "Graz"),
        ("Next week I start at Siemens.", "employer", "Siemens"),
        ("We are going to Norway in August.", "travel_plan", "going to Norway in August"),
    ],
)
def test_what_happens_on_a_coming_day_is_planned(text: str, attribute: str, value: str) -> None:
    assert (attribute, value, Stance.PLANNED) in {(one.attribute, one.value, one.stance) for one in say_on(text)}


@pytest.mark.parametrize("text", ["I'm moving to Graz.", "I'm working on the second draft, which is due next month."])
def test_what_goes_on_without_a_coming_day_is_no_plan(text: str) -> None:
    (told,) = [one for one in say_on(text) if one.attribute in {"residence", "working_on"}]
    assert told.stance is Stance.ASSERTED


@pytest.mark.parametrize(
    "text", ["We're allocating 3 chapters per month for proofreading.", "I went from 60 to 70 km a week."]
)
def test_no_thing_is_named_by_a_number_or_a_preposition(text: str) -> None:
    assert not [one.entity for one in read(text) if (one.entity or "")[:2] in {"3 ", "to"}]
