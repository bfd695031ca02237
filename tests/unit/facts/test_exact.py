"""The forms of words that mean exactly one thing, whatever the sentence is about."""

from __future__ import annotations

import pytest

from credenda.model.claim import Turn, UpdateKind
from credenda.model.event import Event, Role
from credenda.write.facts.exact import find_exact_forms

US = 1_772_355_600_000_000
OFFERS = [
    "Nice! Want me to draft your CV?",
    "Shall I set a reminder for that?",
    "I can look up flights for you, if you like.",
    "Great. I'll draft a letter to them now.",
    "Let me know if you want a list of dentists.",
    "Should I tell your team about it? I could also mail them.",
    "Happy to compare two insurers for you.",
    "Oh no. Do you have pain right now?",
    "Say the word and the booking is done.",
    "Congratulations! What will you call her?",
    "If you'd like, we go through the contract together.",
]
ANSWERS = ["Noted.", "Got it, I'll remember that.", "Congratulations!", "I can imagine that.", "That is a fine school."]
DECLINES = ["never mind", "Nvm.", "no, forget it", "scratch that", "oh never mind that", "ignore that please"]
TAKES_BACK = ["forget what I just said", "I take that back", "don't save that", "delete that", "ignore my last message"]


def takes_back(text: str, heard: str | None, role: Role = Role.ASSISTANT) -> bool:
    def say(said: str, by: Role, number: int) -> Event:
        name = "assistant" if by is Role.ASSISTANT else "user"
        return Event(text=said, role=by, speaker=name, occurred_us=US, id=f"e{number}-aaaaaa", recorded_us=US)

    told = say("I graduated from TU Berlin in physics.", Role.USER, 1)
    before = (told,) if heard is None else (told, say(heard, role, 2))
    found = find_exact_forms(Turn(event=say(text, Role.USER, 3), before=before)).claims
    return any(one.move is UpdateKind.RETRACT for one in found)


@pytest.mark.parametrize("heard", OFFERS)
@pytest.mark.parametrize("text", DECLINES)
def test_never_mind_declines_what_the_assistant_offers_or_asks(text: str, heard: str) -> None:
    assert not takes_back(text, heard)


@pytest.mark.parametrize("heard", [None, *ANSWERS])
@pytest.mark.parametrize("text", DECLINES)
def test_never_mind_takes_back_what_was_said_last(text: str, heard: str | None) -> None:
    assert takes_back(text, heard)


@pytest.mark.parametrize("heard", [None, ANSWERS[0], OFFERS[0]])
@pytest.mark.parametrize("text", TAKES_BACK)
def test_words_about_the_own_message_take_it_back_whatever_was_offered(text: str, heard: str | None) -> None:
    assert takes_back(text, heard)
