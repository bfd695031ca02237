"""Claims of parsed sentences: whom a clause is about, what it says, and what it only asks, wishes or supposes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from credenda import Corrupt, Credenda, Invalid
from credenda.config import load_settings
from credenda.model.claim import Claim, Span, Turn, UpdateKind
from credenda.model.event import Event, Role
from credenda.model.memory import MemoryType, Stance
from credenda.providers.parse import spacy_english
from credenda.providers.parse.spacy_english import SpacyEnglish
from credenda.write.parse.extractor import ParsingExtractor

PARSER = SpacyEnglish()


class NoRules:
    """An extractor that finds nothing, so that a test sees the clauses alone."""

    def extract(self, turn: Turn) -> list[Claim]:
        del turn
        return []


def read(text: str, *, speaker: str | None = None) -> list[Claim]:
    role = Role.USER if speaker is None else Role.PERSON
    event = Event(text=text, role=role, speaker=speaker or "user", occurred_us=0, id="e1", recorded_us=0)
    return ParsingExtractor(PARSER, NoRules()).extract(Turn(event=event))


def slots(claims: Sequence[Claim]) -> set[tuple[str | None, str | None, str | None]]:
    return {(one.entity, one.attribute, one.value) for one in claims if one.stance is Stance.ASSERTED}


@pytest.mark.parametrize(
    ("text", "entity", "attribute", "value"),
    [
        ("I live in Graz and work for Siemens.", "user", "residence", "Graz"),
        ("I live in Graz and work for Siemens.", "user", "employer", "Siemens"),
        ("I'm a nurse at Mercy Hospital, can you help me plan my week?", "user", "job_title", "nurse"),
        ("I'm a nurse at Mercy Hospital, can you help me plan my week?", "user", "employer", "Mercy Hospital"),
        ("My sister Ana works at Bosch.", "Ana", "employer", "Bosch"),
        ("Is my sister Ana going to like this?", "user", "sister", "Ana"),
        ("I'm wondering if this helps, but I play the cello.", "user", "plays", "cello"),
        ("I am allergic to peanuts.", "user", "allergy", "peanuts"),
        ("My favorite movie has to be Alien.", "user", "favourite_movie", "Alien"),
        ("We decided to rent a van.", "user", "decision", "rent a van"),
        ("The endpoint has an average response time of 280ms.", "endpoint", "average_response_time", "280ms"),
        ("I adopted a dog called Rex last spring.", "user", "experience", "adopted a dog called Rex last spring"),
        ("I have a daughter named Mila.", "user", "daughter", "Mila"),
        ("My brother is 34 years old.", "brother", "age", "34"),
        ("One of my close friends works for Bosch.", "friend", "employer", "Bosch"),
        ("I come from Albania.", "user", "origin", "Albania"),
        ("I really enjoy rowing on the lake.", "user", "hobby", "rowing on the lake"),
        ("I've been fencing for about six years.", "user", "habit", "fencing for about six years"),
        ("I continue to stretch almost every day.", "user", "habit", "continue to stretch almost every day"),
        ("I always wake up early.", "user", "habit", "wake up early"),
        ("We've got a kitten and a parrot.", "user", "pet", "kitten"),
        ("I chose Kotlin to save time.", "user", "decision", "Kotlin"),
        ("I'm writing the tests by using Pytest 8.", "user", "uses", "Pytest 8"),
    ],
)
def test_a_clause_fills_the_slot_that_its_verb_names(text: str, entity: str, attribute: str, value: str) -> None:
    assert (entity, attribute, value) in slots(read(text))


@pytest.mark.parametrize(
    "text",
    [
        "Do you live in Graz?",
        "Where should I live in Graz?",
        "If I lived in Paris, I would eat out every day.",
        "I wish I worked at Google.",
        "I wonder whether I play the cello well.",
        "Please move the meeting to Friday.",
        "You work at Siemens.",
        "I want to make sure I'm using the right version.",
        "I don't think I work there.",
        "Could you tell me about Graz?",
        "It is a nice place.",
    ],
)
def test_questions_wishes_requests_and_suppositions_assert_nothing(text: str) -> None:
    assert slots(read(text)) == set()


@pytest.mark.parametrize(
    ("text", "attribute", "value", "stance"),
    [
        ("I'm going to visit Hawaii with friends.", "travel_plan", "visit Hawaii with friends", Stance.PLANNED),
        ("I'm thinking about moving to Oslo.", "considering", "moving to Oslo", Stance.CONSIDERED),
        ("I don't speak Danish.", "speaks", "Danish", Stance.NEGATED),
        ("My mother said I play the cello.", "plays", "cello", Stance.REPORTED),
        ("I used to play the cello.", "plays", "cello", Stance.NEGATED),
    ],
)
def test_each_clause_keeps_its_stance(text: str, attribute: str, value: str, stance: Stance) -> None:
    assert (attribute, value, stance) in {(one.attribute, one.value, one.stance) for one in read(text)}


def test_a_sentence_that_the_rules_only_copy_is_left_to_its_clauses() -> None:
    text = "I adopted a dog called Rex last spring."
    copy = Claim(text=text, type=MemoryType.FACT, span=Span("e1", 0, len(text)), confidence=0.5)

    class Copying:
        def extract(self, turn: Turn) -> list[Claim]:
            del turn
            return [copy]

    event = Event(text=text, role=Role.USER, speaker="user", occurred_us=0, id="e1", recorded_us=0)
    found = ParsingExtractor(PARSER, Copying()).extract(Turn(event=event))
    assert [one.attribute for one in found] == ["experience"]


def test_a_change_names_both_values() -> None:
    (found,) = [one for one in read("We increased the groceries budget from $500 to $550.") if one.prior]
    assert (found.attribute, found.value, found.prior, found.move) == (
        "budget",
        "$550",
        "$500",
        UpdateKind.CHANGE,
    )


def test_no_longer_ends_a_value() -> None:
    (found,) = read("I no longer play the cello.")
    assert (found.attribute, found.value, found.move) == ("plays", "cello", UpdateKind.END)


def test_a_pronoun_means_the_last_person_of_the_message_or_nobody() -> None:
    assert ("Ana", "plays", "cello") in slots(read("My sister Ana came over. She plays the cello."))
    assert slots(read("She plays the cello.")) == set()


def test_the_words_of_a_claim_are_those_of_its_clause() -> None:
    text = "I’m wondering if this helps, but I play the cello."
    (found,) = [one for one in read(text) if one.attribute == "plays"]
    assert text[found.span.start : found.span.stop] == found.text
    assert "wondering" not in found.text


def test_a_named_speaker_is_the_entity_of_their_own_clauses() -> None:
    assert ("Emi", "plays", "cello") in slots(read("I play the cello.", speaker="Emi"))


def test_an_assistant_says_nothing_about_the_user() -> None:
    event = Event(
        text="I play the cello.", role=Role.ASSISTANT, speaker="assistant", occurred_us=0, id="e1", recorded_us=0
    )
    assert ParsingExtractor(PARSER, NoRules()).extract(Turn(event=event)) == []


def test_a_memory_reads_with_the_parser_that_its_settings_name(tmp_path: Path) -> None:
    said = "I'm wondering if this helps, but I just joined the rowing club."
    for parser, expected in (("spacy", True), ("none", False)):
        path = tmp_path / f"{parser}.db"
        with Credenda.open(path, settings={"parser": parser}, embedder="none", workers=False) as memory:
            memory.remember(said)
            memory.settle(30)
            assert any(one.attribute == "joined" for one in memory.list().items) is expected


def test_a_parser_that_does_not_exist_is_refused() -> None:
    with pytest.raises(Invalid, match="parser"):
        load_settings({"parser": "stanza"})


def test_a_model_with_other_files_is_not_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spacy_english, "ENGLISH_SHA256", "0" * 64)
    with pytest.raises(Corrupt, match="another hash"):
        SpacyEnglish().parse("I live in Graz.")


@pytest.mark.parametrize(
    ("text", "attribute"),
    [
        ("I worked at Bosch.", "employer"),
        ("I was 17 then.", "age"),
        ("I'm not the best cook.", "job_title"),
        ("I don't like cooking.", "hobby"),
        ("I enjoy watching it.", "hobby"),
        ("I'm torn between using Kotlin or Swift.", "uses"),
        ("I'm studying different types of planes.", "degree"),
        ("We are preparing for next week.", "prepares_for"),
        ("I went hiking.", "visited"),
        ("I've been staring at this for hours.", "habit"),
        ("My app is on slow phones.", "app"),
        ("My own page to be ourselves.", "own_page"),
    ],
)
def test_what_a_slot_does_not_hold_stays_out_of_it(text: str, attribute: str) -> None:
    assert attribute not in {one.attribute for one in read(text) if one.stance is Stance.ASSERTED}
