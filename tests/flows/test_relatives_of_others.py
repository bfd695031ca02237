"""Relatives: those of others are not the user's, and a pronoun after "my sister is Lea" is Lea."""

from __future__ import annotations

import pytest

from credenda import Credenda


def read(mem: Credenda, text: str) -> set[tuple[str | None, str | None, str | None]]:
    mem.remember(text)
    mem.settle()
    return {(one.entity, one.attribute, one.value) for one in mem.list().items}


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("Ana Roth works in Graz. Her sister Maria is a nurse.", ("Maria", "job_title", "nurse")),
        ("My friend Carla lives in Bern. Her brother Max works at Siemens.", ("Max", "employer", "Siemens")),
        ("Ana Roth works in Graz. Her sister is a nurse.", ("Ana Roth", "residence", "Graz")),
    ],
)
def test_a_relative_of_somebody_else_is_none_of_the_user(mem: Credenda, text: str, held: tuple[str, str, str]) -> None:
    found = read(mem, text)
    assert held in found
    assert not [entity for entity, _, _ in found if entity and entity.startswith(("user's sister", "user's brother"))]


def test_in_a_note_about_the_user_her_sister_is_the_users(mem: Credenda) -> None:
    found = read(mem, "User is called Ana. Her sister Maria is a nurse.")
    assert ("user's sister Maria", "job_title", "nurse") in found


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("My sister is Lea. She lives in Bonn and is allergic to bees.", ("user's sister Lea", "residence", "Bonn")),
        ("Our son is called Emil. He plays the cello.", ("user's son Emil", "instrument", "cello")),
    ],
)
def test_a_pronoun_after_a_relative_with_a_name_is_that_relative(
    mem: Credenda, text: str, held: tuple[str, str, str]
) -> None:
    assert held in read(mem, text)
    assert ("user", held[1], held[2]) not in {(one.entity, one.attribute, one.value) for one in mem.list().items}


def test_where_somebody_lives_is_found_by_their_name(mem: Credenda) -> None:
    read(mem, "My sister is Lea. She lives in Bonn and is allergic to bees.")
    assert "Bonn" in mem.search("Where does Lea live?").hits[0].text


def test_a_part_of_a_name_is_no_property_of_it(mem: Credenda) -> None:
    found = read(mem, "remember that my lego bubble passkey is 7741")
    assert ("user", "lego_bubble_passkey", "7741") in found


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("My neighbour has two parrots.", ("user's neighbour", "pet", "two parrots")),
        ("My boss has a cat named Tom.", ("user's boss", "cat", "Tom")),
        ("My mother takes ramipril.", ("user's mother", "medication", "ramipril")),
    ],
)
def test_what_somebody_has_is_not_the_users(mem: Credenda, text: str, held: tuple[str, str, str]) -> None:
    found = read(mem, text)
    assert held in found
    assert not [value for entity, _, value in found if entity == "user" and value == held[2]]


def test_another_dog_takes_no_dogs_place(mem: Credenda) -> None:
    read(mem, "I have a dog called Pepper.")
    found = read(mem, "I have a dog called Mabel.")
    assert {("user", "dog", "Pepper"), ("user", "dog", "Mabel")} <= found
