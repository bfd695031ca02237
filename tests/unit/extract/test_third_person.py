"""Notes on the user lead to the slots of the user's own words; talk of a program's user does not."""

import pytest

from credenda.model.claim import Claim, Turn
from credenda.model.event import Event, Role, Source
from credenda.write.extract.rules import RulesExtractor
from credenda.write.extract.third_person import as_own_words


def claims(text: str, source: Source = Source.HUMAN, role: Role = Role.USER) -> list[Claim]:
    speaker = "user" if role is Role.USER else "Ben"
    event = Event(text=text, role=role, speaker=speaker, occurred_us=0, id="e1-aaaaa1", recorded_us=0, source=source)
    return RulesExtractor().extract(Turn(event=event))


def slots(text: str, source: Source = Source.HUMAN) -> list[tuple[str | None, str | None, str | None]]:
    return [(claim.entity, claim.attribute, claim.value) for claim in claims(text, source)]


@pytest.mark.parametrize(
    ("noted", "said"),
    [
        ("The user lives in Linz.", "I live in Linz."),
        ("User is allergic to peanuts.", "I am allergic to peanuts."),
        ("The user's employer is Acme.", "My employer is Acme."),
        ("User\u2019s sister lives in Graz.", "My sister lives in Graz."),
        ("The user has two cats named Miso and Tofu.", "I have two cats named Miso and Tofu."),
        ("User prefers dark mode.", "I prefer dark mode."),
        ("The user moved to Berlin.", "I moved to Berlin."),
        ("User is a vegetarian.", "I am a vegetarian."),
        ("The user currently works at Acme.", "I currently work at Acme."),
    ],
)
def test_a_note_gives_what_the_user_would_have_said(noted: str, said: str) -> None:
    assert slots(noted) == slots(said)
    assert slots(noted)


@pytest.mark.parametrize(
    ("noted", "said"),
    [
        ("Lives in Porto", "I live in Porto"),
        ("Name is Alex", "My name is Alex"),
        ("Works as a nurse", "I work as a nurse"),
        ("Is allergic to shellfish", "I am allergic to shellfish"),
    ],
)
def test_another_memory_may_leave_the_subject_out(noted: str, said: str) -> None:
    assert slots(noted, Source.INGEST) == slots(said, Source.INGEST)
    assert slots(noted, Source.INGEST)
    assert [slot for slot in slots(noted) if slot[1]] == []


def test_the_words_and_their_place_stay_those_of_the_note() -> None:
    (claim,) = claims("The user lives in Linz.")
    assert claim.text == "The user lives in Linz."
    assert (claim.span.start, claim.span.stop) == (0, len(claim.text))


@pytest.mark.parametrize(
    "text",
    [
        "The user clicks the button and the form is saved.",
        "The user should be able to log in with a passkey.",
        "When the user lives in the EU, we show the banner.",
        "Our docs say the user is allergic to long forms.",
        "Users live all over the world.",
        "The user interface is in German.",
    ],
)
def test_the_user_of_a_program_is_somebody_else(text: str) -> None:
    assert [slot for slot in slots(text) if slot[0] == "user" and slot[1]] == []


def test_what_another_person_says_of_a_user_is_no_note() -> None:
    found = claims("The user lives in Linz.", role=Role.PERSON)
    assert [claim.attribute for claim in found if claim.speaker == "user" or claim.attribute == "residence"] == []


@pytest.mark.parametrize(
    ("sentence", "own"),
    [
        ("The user studies law and goes home.", "I study law and goes home."),
        ("User doesn't eat meat.", "I do not eat meat."),
        ("The user watches films with their sister.", "I watch films with my sister."),
        ("User was born in Rome.", "I was born in Rome."),
        ("She lives in Linz.", "She lives in Linz."),
        ("", ""),
    ],
)
def test_verbs_and_possessives_follow_the_new_subject(sentence: str, own: str) -> None:
    assert as_own_words(sentence, noted=False) == own
