"""Sentences that lean on the one before: "it" means the only fitting thing, and an answer stands for its question."""

from __future__ import annotations

from dataclasses import replace

import pytest

from credenda.model.claim import Claim, Turn
from credenda.model.event import DENIED, Event, Role
from credenda.write.parse.extractor import ParsingExtractor

from .test_clauses import PARSER, NoRules, read, slots


def answer(question: str, text: str, *, asker: str = "Bob", role: Role = Role.PERSON) -> list[Claim]:
    asked = Event(text=question, role=role, speaker=asker, occurred_us=0, id="e1", recorded_us=0)
    event = Event(text=text, role=Role.PERSON, speaker="Ana", occurred_us=0, id="e2", recorded_us=0)
    return ParsingExtractor(PARSER, NoRules()).extract(Turn(event=event, before=(asked,)))


@pytest.mark.parametrize(
    ("question", "text", "slot"),
    [
        ("Hey! Have you ever been to Lisbon?", "Yeah, twice.", ("Ana", "visited", "Lisbon")),
        ("Do you play the cello?", "Hi Bob! Yes, since May.", ("Ana", "plays", "cello")),
        ("How did your interview go?", "It went really well.", ("Ana", "experience", "interview went really well")),
        ("What are you studying?", "Law.", ("Ana", "degree", "Law")),
        ("When is your driving test?", "Next Friday.", ("driving test", "date", "Next Friday")),
    ],
)
def test_an_answer_is_read_with_its_question(question: str, text: str, slot: tuple[str, str, str]) -> None:
    found = answer(question, text)
    assert slot in slots(found)
    assert all(one.span.event_id == "e2" and one.text in text for one in found)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Have you ever been to Lisbon?", "Yes, but only in a dream."),
        ("Do you play the cello or the flute?", "Yes!"),
        ("Do you have any plans?", "Yeah!"),
        ("What are your plans?", "Thanks!"),
        ("What are your thoughts?", "Oh, absolutely!"),
        ("Are you allergic to nuts?", "Yes."),
        ("Do you play the cello?", "Not really."),
    ],
)
def test_a_vague_answer_and_a_slot_that_can_hurt_stay_open(question: str, text: str) -> None:
    assert slots(answer(question, text)) == set()


def test_an_event_answers_only_one_of_somebody_else_that_is_not_denied() -> None:
    asked = Event(text="Do you play the cello?", role=Role.PERSON, speaker="Bob", occurred_us=0, id="e1", recorded_us=0)
    event = replace(asked, text="Yes!", speaker="Ana", id="e2")
    assert Turn(event=event, before=(asked,)).addressed == asked
    assert Turn(event=event, before=(asked, replace(event, id="e3"))).addressed is None
    assert Turn(event=event, before=(replace(asked, flags=(DENIED,)),)).addressed is None
    assert Turn(event=event).addressed is None


def test_nobody_answers_their_own_question() -> None:
    assert slots(answer("Do you play the cello?", "Yes, since May.", asker="Ana")) == set()


@pytest.mark.parametrize(
    ("text", "entity", "attribute", "value"),
    [
        ("I have a dentist visit on March 2. It's moved to March 3.", "dentist visit", "date", "March 3"),
        ("I took a pottery class and it was fun.", "user", "experience", "pottery class was fun"),
        (
            "I like the team meeting, can you remind me that it's moved to May 4?",
            "team meeting",
            "date",
            "May 4",
        ),
        ("I updated my budget plan after it was submitted.", "budget plan", "status", "submitted"),
    ],
)
def test_it_means_the_only_thing_of_its_kind(text: str, entity: str, attribute: str, value: str) -> None:
    assert (entity, attribute, value) in slots(read(text))


@pytest.mark.parametrize(
    "text",
    [
        "I have a team meeting and a dance class. It's moved to March 3.",
        "I have a team meeting on Monday. It's always fun to meet people.",
        "I could cancel it if my flight is late.",
    ],
)
def test_it_means_nothing_where_two_things_fit_or_nothing_happened(text: str) -> None:
    found = {(one.attribute, one.value) for one in read(text) if one.attribute in {"date", "status"}}
    assert found <= {("date", "Monday")}


def test_what_was_done_to_a_thing_or_what_somebody_got_to_do_is_told() -> None:
    assert ("loan application", "status", "approved") in slots(read("My loan application was approved."))
    assert ("user", "joined", "chess club") in slots(read("I ended up joining the chess club."))


@pytest.mark.parametrize("text", ["I wait for my loan to be approved.", "I gotta finish my essay plan."])
def test_what_is_awaited_or_must_be_done_has_no_status(text: str) -> None:
    assert all(one.attribute != "status" for one in read(text))
