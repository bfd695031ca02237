"""A message that asks in words to forget a slot or somebody: nothing more than it says is forgotten."""

from __future__ import annotations

import pytest

from credenda import Credenda

PHONE = {"entity": "user", "attribute": "phone_number", "value": "0477 112233"}
ALLERGIES = [
    ("I'm allergic to nuts.", {"entity": "user", "attribute": "allergy", "value": "nuts"}),
    ("I'm allergic to cats.", {"entity": "user", "attribute": "allergy", "value": "cats"}),
]
BRUNO = [
    ("My brother is Bruno.", {"entity": "user", "attribute": "brother", "value": "Bruno"}),
    (
        "My brother Bruno lives in Porto.",
        {"entity": "user's brother Bruno", "attribute": "residence", "value": "Porto"},
    ),
    ("Bruno works at Halden.", {"entity": "user's brother Bruno", "attribute": "employer", "value": "Halden"}),
    ("I work at Halden.", {"entity": "user", "attribute": "employer", "value": "Halden"}),
]
BOSS = ("My boss Bruno lives in Lyon.", {"entity": "user's boss Bruno", "attribute": "residence", "value": "Lyon"})
Told = list[tuple[str, dict[str, str]]]


def tell(mem: Credenda, told: Told) -> None:
    for text, claim in told:
        mem.remember(text, session="s", claims=[{"quote": text.rstrip("."), **claim}])
    mem.settle()


def ask(mem: Credenda, text: str) -> set[str | None]:
    """Say something in another session, and return the values that are held afterwards."""
    mem.remember(text, session="t")
    mem.settle()
    return {one.value for one in mem.list().items}


@pytest.mark.parametrize(
    "text",
    [
        "Forget my phone number.",
        "Please delete my phone number!",
        "Can you forget my phone number, please?",
        "Erase my phone number from memory.",
    ],
)
def test_a_slot_that_is_named_is_forgotten_with_what_it_held_before_and_comes_back(mem: Credenda, text: str) -> None:
    tell(mem, [("My phone number is 0477 998877.", PHONE | {"value": "0477 998877"})])
    tell(mem, [("My phone number is 0477 112233 now.", PHONE), ALLERGIES[0]])
    held = {one.value for one in mem.list().items}
    assert ask(mem, text) == held - {"0477 112233"}
    shown = mem.context("What is my phone number?").text
    assert "112233" not in shown
    assert "998877" not in shown
    mem.manage.undo_where(session="t")
    assert "112233" in mem.context("What is my phone number?").text


@pytest.mark.parametrize(
    "text",
    [
        "I forgot my phone number.",
        "Don't forget my phone number.",
        "Forget my phone number, here is the new one.",
        "My mother told me: forget my phone number.",
        "Forget my salary.",
        "Forget everything about me.",
        "Forget about it.",
    ],
)
def test_words_that_ask_for_something_else_forget_nothing(mem: Credenda, text: str) -> None:
    tell(mem, [("My phone number is 0477 112233.", PHONE)])
    assert "0477 112233" in ask(mem, text)


@pytest.mark.parametrize(
    ("text", "left"), [("Forget my allergies.", set[str]()), ("Forget my allergy.", {"nuts", "cats"})]
)
def test_of_several_values_one_that_is_not_named_stays(mem: Credenda, text: str, left: set[str]) -> None:
    tell(mem, ALLERGIES)
    assert ask(mem, text) == left


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Forget everything about Bruno.", {"Halden"}),
        ("Please forget everything you know about my brother.", {"Halden"}),
        ("Forget what I've told you about Bruno.", {"Halden"}),
        ("Can you forget what we said about my brother?", {"Halden"}),
        ("Forget everything about Nina.", {"Bruno", "Porto", "Halden"}),
    ],
)
def test_all_of_somebody_is_forgotten_and_nobody_else(mem: Credenda, text: str, left: set[str]) -> None:
    tell(mem, BRUNO)
    assert ask(mem, text) == left
    assert ("user", "Halden") in {(one.entity, one.value) for one in mem.list().items}


def test_of_two_people_with_one_name_none_is_forgotten(mem: Credenda) -> None:
    tell(mem, [*BRUNO, BOSS])
    assert ask(mem, "Forget everything about Bruno.") == {"Bruno", "Porto", "Halden", "Lyon"}
    assert ask(mem, "Forget everything about my boss Bruno.") == {"Bruno", "Porto", "Halden"}


@pytest.mark.parametrize("ask_for", ["Please forget that I live in Linz.", "Can you forget that I live in Linz?"])
def test_a_fact_that_is_asked_to_be_forgotten_is_not_told_again(mem: Credenda, ask_for: str) -> None:
    mem.remember("I live in Linz. My sister is called Ana.")
    mem.settle()
    assert "Linz" in {one.value for one in mem.list().items}
    held = ask(mem, ask_for)
    assert "Linz" not in held
    assert "Ana" in held


def test_not_to_forget_something_keeps_it(mem: Credenda) -> None:
    mem.remember("I live in Linz.")
    mem.settle()
    assert "Linz" in ask(mem, "Don't forget that I live in Linz.")


def test_the_words_that_ask_to_forget_answer_no_question(mem: Credenda) -> None:
    tell(mem, [("My phone number is 0477 112233.", PHONE)])
    mem.remember("Forget my phone number.", session="t")
    mem.settle()
    found = mem.search("What is my phone number?")
    assert found.probability < 0.2
    assert [hit.text for hit in found.hits] == ["Forget my phone number."]
    assert mem.search("Forget my phone number.").probability > 0.5, "quoted, it is what was said"
