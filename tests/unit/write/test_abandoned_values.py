"""What is named and given up, and what is done elsewhere than before: pure, on memories made by hand."""

from __future__ import annotations

import pytest

from credenda.model.memory import Memory
from credenda.write.succession.match import best, fitting
from credenda.write.succession.turning import turning

from .build import made

_FROM = 2.3

CHAT = made("Our team chats on Slack.", None, None)
CAR = made("I drive a Golf.", "car", "Golf")
GLASSES = made("I wear glasses.", "does", "wear glasses")
STRINGS = made("I string my guitar with tens.", None, None)
PROVIDER = made("My internet provider is Vodafone.", "internet_provider", "Vodafone")
PLUMBER = made("Dave is our plumber.", "plumber", "Dave")
SPANISH = made("I'm learning Spanish.", "learning", "Spanish")
GAS = made("We cook on gas.", "does", "cook on gas")
DESK = made("I work at the harbour office.", "does", "work at the harbour office")


def match(sentence: str, memory: Memory) -> tuple[str, str | None] | None:
    turn = turning(sentence)
    found = [] if turn is None else best(fitting(turn, [memory], _FROM))
    return (found[0].rule, found[0].into) if found else None


@pytest.mark.parametrize(
    ("sentence", "memory", "into"),
    [
        ("We've migrated from Slack to Mattermost.", CHAT, "Mattermost"),
        ("The company has abolished Slack, it's Teams for everyone.", CHAT, None),
        ("No more glasses for me, I have contact lenses.", GLASSES, None),
        ("I've moved up from tens to elevens on my guitar.", STRINGS, "elevens"),
        ("We've got Starlink in place of Vodafone.", PROVIDER, None),
        ("Dave's retired, so we call Marek for the plumbing.", PLUMBER, None),
        ("I dropped Spanish and took up Portuguese.", SPANISH, None),
        ("I traded the Golf in for a Mazda.", CAR, "Mazda"),
    ],
)
def test_what_is_named_and_given_up_has_ended_in_whatever_words_it_is_kept(
    sentence: str, memory: Memory, into: str | None
) -> None:
    """R-074, C-002."""
    assert match(sentence, memory) == ("left", into)


@pytest.mark.parametrize(
    ("sentence", "memory"),
    [
        ("Tom sold the Golf.", CAR),
        ("She sold her Golf.", CAR),
        ("I sold the Golf's roof rack.", CAR),
        ("I sold my Golf trophy.", CAR),
        ("I got rid of the Slack notifications.", CHAT),
        ("I dropped the Spanish book.", SPANISH),
        ("My brother gave up Spanish.", SPANISH),
        ("Should I trade the Golf in?", CAR),
        ("I might move from Slack to Teams.", CHAT),
    ],
)
def test_what_another_gives_up_a_part_or_a_thought_ends_nothing(sentence: str, memory: Memory) -> None:
    """R-074."""
    assert match(sentence, memory) is None


@pytest.mark.parametrize(
    ("sentence", "memory", "into"),
    [
        ("We had the hob taken out, we cook on induction now.", GAS, "induction"),
        ("They moved us, so I work at the airport office.", DESK, "airport office"),
    ],
)
def test_the_same_done_elsewhere_or_with_another_thing_takes_the_place(
    sentence: str, memory: Memory, into: str
) -> None:
    """R-074."""
    assert match(sentence, memory) == ("refilled", into)


@pytest.mark.parametrize("sentence", ["I cook on weekends now.", "He cooks on induction now.", "We cook for six now."])
def test_another_subject_or_preposition_is_another_matter(sentence: str) -> None:
    """R-074."""
    assert match(sentence, GAS) is None
