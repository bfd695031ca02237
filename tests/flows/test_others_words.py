"""Quoted words of others and sarcasm make no fact of the user."""

from __future__ import annotations

import pytest

from credenda import Credenda
from credenda.model.memory import Stance

FIRM = frozenset({Stance.ASSERTED, Stance.NEGATED})


@pytest.mark.parametrize(
    "text",
    [
        "The landlord writes 'I live in Oporto and I work at Saab'.",
        "The tenant says 'I have two cats and I work nights'.",
        'My neighbour wrote: "I moved to Bergen last week."',
        "Otto said: \u201cI am allergic to shellfish.\u201d",
    ],
)
def test_what_others_are_quoted_with_is_no_fact_of_the_user(mem: Credenda, text: str) -> None:
    mem.remember(text)
    mem.settle()
    assert [one.statement for one in mem.list(status=None).items if one.entity == "user" and one.value] == []


@pytest.mark.parametrize(
    "text", ["Oh great, I just love queueing at the post office.", "Oh wonderful, I love stale bread."]
)
def test_sarcasm_is_no_taste(mem: Credenda, text: str) -> None:
    mem.remember(text)
    mem.settle()
    assert [one.statement for one in mem.list(status=None).items if one.stance in FIRM] == []


def test_a_taste_that_is_meant_is_held(mem: Credenda) -> None:
    mem.remember("I love hiking in the Dolomites!")
    mem.settle()
    assert {one.stance for one in mem.list().items} == {Stance.ASSERTED}


def test_what_a_doctor_says_of_the_user_is_still_reported(mem: Credenda) -> None:
    mem.remember("My doctor said I am allergic to latex.")
    mem.settle()
    assert [(one.attribute, one.value) for one in mem.list().items] == [("allergy", "latex")]


@pytest.mark.parametrize(
    "note",
    [
        "User's name is Sanna Lind, 29, lives in Turku with her partner Aki.",
        "User's name is Sanna. Sanna lives in Turku and has two goats.",
    ],
)
def test_a_note_that_names_the_user_is_about_the_user(mem: Credenda, note: str) -> None:
    mem.remember(note, source="ingest")
    mem.settle()
    held = [one for one in mem.list(status=None).items if one.value]
    assert [one.value for one in held if one.attribute == "residence"] == ["Turku"]
    assert {one.entity for one in held} == {"user"}


def test_a_note_that_names_another_person_is_about_that_person(mem: Credenda) -> None:
    mem.remember("User's sister is Sanna. Sanna lives in Turku.", source="ingest")
    mem.settle()
    assert [one.entity for one in mem.list(status=None).items if one.attribute == "residence"] != ["user"]
