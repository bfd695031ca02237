"""What an event or a memory is found by."""

import pytest

from credenda.clock import parse_time
from credenda.text.passages import compose_event_text, compose_memory_text

MAY = parse_time("2023-05-08T23:59:59Z")


@pytest.mark.parametrize(
    ("speaker", "role", "text"),
    [
        ("Caroline", "person", "[8 May 2023] Caroline: I went hiking."),
        ("user", "user", "[8 May 2023] I went hiking."),
        ("assistant", "assistant", "[8 May 2023] I went hiking."),
        ("notes.md", "document", "[8 May 2023] I went hiking."),
        ("", "person", "[8 May 2023] I went hiking."),
    ],
)
def test_an_event_carries_its_day_and_the_name_of_a_person(speaker: str, role: str, text: str) -> None:
    assert compose_event_text(speaker=speaker, role=role, occurred_us=MAY, text="I went hiking.") == text


def test_days_before_1970_are_days_too() -> None:
    moment = parse_time("1969-07-20T20:17:00Z")
    assert compose_event_text(speaker="", role="user", occurred_us=moment, text="x") == "[20 July 1969] x"


@pytest.mark.parametrize(
    ("slot", "text"),
    [
        (("user", "residence", "Linz"), "I live in Linz (residence)"),
        (("user", "home_town", "Linz"), "I live in Linz (home town)"),
        (("Bob", "lives", "linz"), "I live in Linz (Bob)"),
        (("user", "city", "Linz, Austria"), "I live in Linz (city Austria)"),
        (("acme_project", None, "acme"), "I live in Linz (acme project)"),
        ((None, None, None), "I live in Linz"),
        (("user", None, "Linz"), "I live in Linz"),
    ],
)
def test_a_memory_carries_the_words_of_its_slot_that_it_lacks(
    slot: tuple[str | None, str | None, str | None], text: str
) -> None:
    entity, attribute, value = slot
    assert compose_memory_text("I live in Linz", entity=entity, attribute=attribute, value=value) == text
