"""Notes that an agent stores about its user, values inside noun phrases, and versions: read as they are told."""

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
        ("User lives in Aveiro.", ("user", "residence", "Aveiro")),
        ("The user works at Quillmark as a bookbinder.", ("user", "employer", "Quillmark")),
        ("User mentioned preferring Kotlin.", ("user", "prefers", "Kotlin")),
        ("User is allergic to sesame.", ("user", "allergy", "sesame")),
        ("User mentioned being vegan.", ("user", "diet", "vegan")),
    ],
)
def test_a_note_in_the_third_person_is_about_the_user(mem: Credenda, text: str, held: tuple[str, str, str]) -> None:
    assert held in read(mem, text)


@pytest.mark.parametrize(
    "text",
    [
        "User said the neighbours sold their car.",
        "User says Idris thinks they work at Quillmark.",
        "User mentioned that they would love to see Petra.",
        "Users said their app crashes.",
    ],
)
def test_what_a_note_tells_of_others_or_of_no_fact_is_not_held_of_the_user(mem: Credenda, text: str) -> None:
    assert not {(entity, value) for entity, _, value in read(mem, text) if entity == "user"}


@pytest.mark.parametrize(
    "text", ["I called Mara.", "Just called Mara.", "I met Mara at the station.", "met Mara in Oslo"]
)
def test_whom_one_called_or_met_is_neither_oneself_nor_a_partner(mem: Credenda, text: str) -> None:
    assert not {attribute for _, attribute, _ in read(mem, text)} & {"name", "preferred_name", "partner"}


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("Hello, Ines here.", ("user", "name", "Ines")),
        ("I'm seeing Mara.", ("user", "partner", "Mara")),
        ("I got engaged to Mara.", ("user", "partner", "Mara")),
    ],
)
def test_a_name_and_a_partner_are_held(mem: Credenda, text: str, held: tuple[str, str, str]) -> None:
    assert held in read(mem, text)


@pytest.mark.parametrize(
    "text", ["I have a cashew allergy.", "i've got a cashew allergy", "Severe cashew allergy here."]
)
def test_an_allergy_is_read_out_of_its_noun(mem: Credenda, text: str) -> None:
    assert ("user", "allergy", "cashew") in read(mem, text)


def test_versions_of_several_things_stand_side_by_side(mem: Credenda) -> None:
    held = read(mem, "We're on Django 5.1.2, Redis 7.4 and Python 3.12 for the shop.")
    versions = {(entity, value) for entity, attribute, value in held if attribute == "version"}
    assert ("Redis", "7.4") in versions
    assert not {entity for entity, value in versions if value == "5.1.2"} - {"Django"}
    assert not {entity for entity, value in versions if value == "3.12"} - {"Python"}


def test_a_past_occasion_ends_nothing_that_is_still_so(mem: Credenda) -> None:
    mem.remember("I play handball.")
    mem.remember("I also had handball today, so I'm tired.")
    mem.settle()
    assert ("user", "sport", "handball") in {(one.entity, one.attribute, one.value) for one in mem.list().items}
    assert mem.list(status="superseded").items == ()


def test_the_message_before_lends_no_allergy(mem: Credenda) -> None:
    for text in ("I'm allergic to peanuts.", "I live in Graz.", "Let's use ruff for linting, not flake8."):
        mem.remember(text, session="s")
    mem.settle()
    held = {(one.attribute, one.value) for one in mem.list().items}
    assert {value for attribute, value in held if attribute == "allergy"} == {"peanuts"}
    assert {value for attribute, value in held if attribute == "residence"} == {"Graz"}


@pytest.mark.parametrize(
    "text",
    [
        "I have a peanut allergy. Let's use ruff for linting, not flake8.",
        "I take metformin every morning. The build should use ninja, not make.",
        "I'm a vegetarian. Please book the Lisbon flight.",
    ],
)
def test_a_sentence_lends_the_next_one_nothing_that_can_hurt(mem: Credenda, text: str) -> None:
    held = read(mem, text)
    hurting = {(attribute, value) for _, attribute, value in held if attribute in {"allergy", "medication", "diet"}}
    assert len(hurting) == 1, held
    assert not any(word in str(hurting) for word in ("ruff", "flake8", "ninja", "make", "Lisbon"))


@pytest.mark.parametrize(
    ("before", "text", "value"),
    [
        ("My cousin loves thrillers and horror.", "In books I mostly like old westerns.", "old westerns"),
        ("I have been to Rome twice.", "My favorite place has to be Lisbon, Portugal!", "Lisbon"),
    ],
)
def test_a_plain_statement_is_read_whatever_stands_before(mem: Credenda, before: str, text: str, value: str) -> None:
    mem.remember([{"role": "user", "content": before}, {"role": "user", "content": text}], session="talk")
    mem.settle()
    assert value in {one.value for one in mem.list().items}


def test_what_follows_the_name_of_an_employer_is_no_part_of_it(mem: Credenda) -> None:
    held = read(mem, "I interned over the summer at Quillmark Press in book design.")
    assert any((attribute or "").endswith("employer") and value == "Quillmark Press" for _, attribute, value in held)
