"""A message that bounds its own time is past after it, a new number goes first, and a quotation answers no "I"."""

from __future__ import annotations

import pytest

from .build import World, names

TRIP = "I'm in Lisbon this week."


@pytest.fixture
def told(world: World) -> str:
    """A message of a Monday, read three weeks later beside a home."""
    trip = world.say(TRIP)
    world.hold("My home is in Ghent", entity="user", attribute="residence", value="Ghent", at=1)
    return trip


def test_a_message_of_a_week_that_has_passed_is_shown_as_past_below_what_is_true(world: World, told: str) -> None:
    found = world.search("Where am I this week, at home?", now=21)
    assert names(found)[0] != told
    assert [hit.flags for hit in found.hits if hit.id == told] == [{"stale"}]
    text = world.context("Am I in Lisbon?", now=21).text
    assert f"{TRIP} (5 Jan 2026; over since 12 Jan 2026)" in text.partition("No longer true:\n")[2]


def test_in_its_week_the_message_is_no_past_one(world: World) -> None:
    trip = world.say(TRIP)
    assert [hit.flags for hit in world.search("Am I in Lisbon?", now=2).hits if hit.id == trip] == [frozenset()]


def test_only_a_question_about_the_past_leaves_its_place_to_the_message(world: World) -> None:
    trip, party = world.say(TRIP), world.say("Lisbon has a party every week, and I'm in the band", at=1)
    assert [hit.id for hit in world.search("Am I in Lisbon this week?", now=60).hits] == [party, trip]
    assert world.search("Where was I in Lisbon this week?", now=60).hits[0].id == trip


@pytest.mark.parametrize(
    "text",
    [
        "I moved to Lisbon this week.",
        "I'm in Lisbon this week, and my sister lives in Porto.",
        "I'm in Lisbon.",
        "I bought a lamp today.",
    ],
)
def test_what_lasts_or_happened_is_not_over(world: World, text: str) -> None:
    said = world.say(text)
    assert [hit.flags for hit in world.search(text, now=60).hits if hit.id == said] == [frozenset()]


def test_others_words_answer_no_question_of_the_user_about_themselves(world: World) -> None:
    said = world.say("The tenant writes 'I live in Porto and I work at Volvo'.")
    assert world.search("Where do I live?").probability < 0.2
    found = world.search("Where does the tenant live?")
    assert (found.hits[0].id, found.probability > 0.5) == (said, True)


@pytest.mark.parametrize(
    ("old", "new", "question", "first"),
    [
        ("I open the kiosk at 9.", "I open at 8 now, it's cooler.", "When do I open the kiosk?", True),
        ("I pay Kim 12 pounds an hour.", "Kim gets 14 an hour now.", "What do I pay Kim?", True),
        ("I open the kiosk at 9.", "I leave the kiosk at 6 now.", "When do I open the kiosk?", False),
        ("I pay Kim 12 pounds an hour.", "Kim is 19 now.", "What do I pay Kim?", False),
    ],
)
def test_a_new_number_of_the_same_measure_goes_first(
    world: World, *, old: str, new: str, question: str, first: bool
) -> None:
    said = [world.say(old), world.say(new, at=5)]
    assert names(world.search(question)) == (said[::-1] if first else said)
