"""Read by the model that ships: corrections that name the right value and the wrong one, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from credenda import Credenda


@pytest.fixture
def mem(tmp_path: Path) -> Iterator[Credenda]:
    with Credenda.open(tmp_path / "memory.db", user="ana", workers=False, settings={"reader": "learned"}) as memory:
        yield memory


def tell(mem: Credenda, *texts: str) -> list[tuple[str | None, str | None, str | None]]:
    """Say each text by itself, and return what is held."""
    for text in texts:
        mem.remember(text)
        mem.settle()
    return sorted((one.entity, one.attribute, one.value) for one in mem.list(limit=50).items if one.attribute)


@pytest.mark.parametrize(
    ("said", "correction", "slot", "value"),
    [
        ("I'm allergic to penicillin", "sorry, I meant amoxicillin, not penicillin", "allergy", "amoxicillin"),
        ("I'm allergic to walnuts", "Not walnuts, it's hazelnuts", "allergy", "hazelnuts"),
        ("I take ramipril", "oops, I meant rosuvastatin not ramipril", "medication", "rosuvastatin"),
        ("my email is leo.k@example.com", "Not leo.k, it's leo.kern@example.com", "email", "leo.kern@example.com"),
        ("I live in Graz", "I meant Linz, not Graz", "residence", "Linz"),
        ("I work at Shell", "sorry, I meant Shelter, not Shell", "employer", "Shelter"),
        ("My dog is called Rex", "Not Rex, Max", "dog", "Max"),
        ("My phone number is 555 1234", "sorry, 555 1243, not 555 1234", "phone_number", "555 1243"),
        ("My boss is Henrike", "no, it's Henriette, not Henrike", "boss", "Henriette"),
        ("My sister is called Ana", "I mean Anna, not Ana", "sister", "Anna"),
    ],
)
def test_a_correction_takes_the_slot_of_the_wrong_value(
    mem: Credenda, said: str, *, correction: str, slot: str, value: str
) -> None:
    assert len(tell(mem, said)) == 1
    assert tell(mem, correction) == [("user", slot, value)]


def test_a_correction_finds_the_one_slot_that_holds_the_wrong_word(mem: Credenda) -> None:
    tell(mem, "My boss is Henrike", "I like jazz", "I have two cats")
    assert ("user", "boss", "Henriette") in tell(mem, "Not Henrike, it's Henriette")


def test_what_is_held_of_somebody_follows_the_correction_of_the_name(mem: Credenda) -> None:
    told = tell(mem, "my brother Tim lives in Hamburg with his girlfriend Sara", "actually it's Timo, not Tim")
    assert told == [("Timo", "lives_with", "Sara"), ("Timo", "residence", "Hamburg"), ("user", "brother", "Timo")]
    assert "Timo's residence: Hamburg" in mem.context("Where does Timo live?").text


def test_a_relative_and_a_pet_keep_what_is_held_of_them_under_the_right_name(mem: Credenda) -> None:
    told = tell(mem, "My sister Ana works at Bosch", "I mean Anna, not Ana", "My dog Rex is 3", "Not Rex, Max")
    assert ("user's sister Anna", "employer", "Bosch") in told
    assert ("user's dog Max", "age", "3") in told
    assert len(told) == 4


def test_somebody_else_of_the_name_keeps_it(mem: Credenda) -> None:
    told = tell(
        mem, "My colleague Tim is nice. Tim lives in Kiel", "My brother Tim lives in Hamburg", "it's Timo, not Tim"
    )
    assert ("user", "colleague", "Tim") in told
    assert ("Tim", "residence", "Kiel") in told
    assert ("user's brother Timo", "residence", "Hamburg") in told


@pytest.mark.parametrize(
    "said",
    [
        "not Tim, I mean the weather",
        "Not Tim, but thanks",
        "not Tim, that is for sure",
        "It's cold in Kiel, not in Rome",
        "I meant the other day, not Sunday",
        "Not bad, it's fine",
    ],
)
def test_words_like_those_of_a_correction_correct_nothing(mem: Credenda, said: str) -> None:
    before = tell(mem, "my brother Tim lives in Hamburg")
    assert set(before) <= set(tell(mem, said))


def test_somebody_who_switched_has_another_employer_and_is_not_in_doubt(mem: Credenda) -> None:
    told = tell(mem, "My wife Jana works at Charité", "Jana switched to Vivantes this month")
    assert told == [("user", "wife", "Jana"), ("user's wife Jana", "employer", "Vivantes")]
    assert "In doubt" not in mem.context("Where does Jana work?").text


@pytest.mark.parametrize("said", ["Jana switched to Vattenfall", "Jana switched to decaf"])
def test_a_switch_without_a_known_employer_names_none(mem: Credenda, said: str) -> None:
    before = tell(mem, "My wife Jana is a nurse")
    assert tell(mem, said) == before
    assert "In doubt" not in mem.context("Where does Jana work?").text
