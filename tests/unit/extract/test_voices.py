"""Whose words a message holds: only own prose speaks for its author."""

from itertools import pairwise

import pytest

from credenda.model.claim import Turn
from credenda.model.event import Role
from credenda.write.extract.voices import VOICE_CHARACTERS, Voice, is_playing, split_voices

from .build import event


def voices(text: str) -> list[tuple[Voice, str]]:
    return [
        (one.voice, text[one.start : one.stop].strip())
        for one in split_voices(text)
        if text[one.start : one.stop].strip()
    ]


OWN = [
    "I live in Porto. I work at Initech, and my boss is called Ana.",
    'I love "The Lord of the Rings" and my cat is called "Mr. Whiskers".',
    "About me:\n1. I live in Porto\n2. I work at Initech\n3. I'm allergic to nuts",
    "Name: Sam\nJob: nurse\nAllergies: peanuts\nCity: Leeds",
    "Today I translated a book: it took me all of May.",
    "My mother's garden isn't 'just a garden' to me, it's where I grew up.",
]


@pytest.mark.parametrize("text", OWN)
def test_own_prose_and_lists_of_ones_own_facts_are_own(text: str) -> None:
    assert {one.voice for one in split_voices(text)} == {Voice.OWN}


OTHERS = [
    ("I'm Lea.\n```\nname = 'I live in Rome'\n```\nI like tea.", Voice.CODE, "```"),
    ("He wrote this.\n> I live in Rome.\nI like tea.", Voice.QUOTED, "> I live"),
    ("My boss said “I am moving to Berlin next month” and left.", Voice.QUOTED, "“I am"),
    ("I'm Lea. Please translate this to French: I live in Rome.", Voice.TASK, "Please translate"),
    ("I'm Lea. Proofread the following:\n\nI live in Rome.\nI hate tea.", Voice.TASK, "Proofread"),
    ("Write a cover letter: I am Tom, I live in Rome.", Voice.TASK, "Write a cover"),
    ("Can you proofread this email? Hi Mr. Smith, I live in flat 3.", Voice.TASK, "Can you proofread"),
    ("I'm Lea. Can you check my English? Yesterday I have went to Rome.", Voice.TASK, "Yesterday"),
    ("Write a story where I live in Paris.", Voice.TASK, "Write a story"),
    ("Here is my essay:\n\nI was born in Kenya.", Voice.PASTED, "Here is"),
    ("Look.\n\nDear Ana,\nI live in Rome.\nBest regards,\nTom", Voice.PASTED, "Dear Ana"),
    ("FYI\nFrom: Tom\nSubject: moving\n\nI live in Rome.", Voice.PASTED, "From: Tom"),
    ("Ana: I live in Rome\nBen: I live in Oslo\nAna: nice", Voice.PASTED, "Ana: I live"),
    ("My hero.\nName: Thorin\nClass: Fighter\nRace: Dwarf\nHP: 40", Voice.TEMPLATE, "Name: Thorin"),
    ("I am [Your Name], and I work at Acme.", Voice.TEMPLATE, "I am"),
    ("Pretend you are a pirate. I live on a ship.", Voice.ROLE_PLAY, "Pretend"),
]


@pytest.mark.parametrize(("text", "voice", "begins"), OTHERS)
def test_other_text_has_its_voice(text: str, voice: Voice, begins: str) -> None:
    assert any(one == voice and said.startswith(begins) for one, said in voices(text)), voices(text)


@pytest.mark.parametrize("text", ["", " ", "\n", *(text for text, _, _ in OTHERS), *OWN, "x" * (VOICE_CHARACTERS + 9)])
def test_passages_cover_the_message(text: str) -> None:
    passages = split_voices(text)
    assert "".join(text[one.start : one.stop] for one in passages) == text
    assert all(one.voice is not other.voice for one, other in pairwise(passages))


def test_a_mark_that_opens_nothing_takes_no_words_away() -> None:
    text = 'My screen is 27" wide. I live in Porto. The other one is 24" wide, and I work at Initech.'
    assert {one.voice for one in split_voices(text)} == {Voice.OWN}


def test_by_the_way_the_author_speaks_again() -> None:
    text = "Pretend you are a pirate. I live on a ship. By the way, I work at Initech."
    assert voices(text) == [
        (Voice.ROLE_PLAY, "Pretend you are a pirate. I live on a ship."),
        (Voice.OWN, "By the way, I work at Initech."),
    ]


def test_a_role_for_the_assistant_alone_ends_with_its_message() -> None:
    opener = event("Pretend you are a pirate. I live on a ship.")
    reply = event("Arr!", Role.ASSISTANT, "assistant")
    later = Turn(event=event("I live in Hamburg."), before=(opener, reply))
    assert not is_playing(later)
    both = event("Let's role-play: you are my landlord and I'm a tenant.")
    assert is_playing(Turn(event=event("I live in Hamburg."), before=(both, reply)))


def test_code_that_a_sentence_mentions_leaves_it_prose() -> None:
    text = "I'm testing the `fetchWeather()` function with Jest, and I moved to Graz."
    assert [one.voice for one in split_voices(text)] == [Voice.OWN]
    assert [one.voice for one in split_voices("`x => y();`")] == [Voice.CODE]
    assert [one.voice for one in split_voices("name == 'I live in Rome' && done();")] == [Voice.CODE]
