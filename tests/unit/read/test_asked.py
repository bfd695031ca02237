"""Questions ask for a slot by other words than its name."""

from __future__ import annotations

import pytest

from credenda.model.attributes import load_asked, load_attributes
from credenda.read.asked import find_asked

WAYS = [(name, phrase) for name in load_attributes() for phrase in load_asked()[name] if phrase != "when"]


@pytest.mark.parametrize("name", load_attributes())
def test_every_attribute_has_three_ways_of_asking(name: str) -> None:
    assert len(set(load_asked()[name])) >= 3


@pytest.mark.parametrize(("name", "phrase"), WAYS)
def test_each_way_of_asking_leads_to_the_attribute(name: str, phrase: str) -> None:
    asked = find_asked(f"Tell me, my {phrase}?")
    assert asked is not None
    assert name in asked.attributes
    assert asked.entities == ("user",)


@pytest.mark.parametrize(
    ("question", "attribute", "entity"),
    [
        ("How much do I earn?", "salary", "user"),
        ("What do I get paid?", "salary", "user"),
        ("Who is my boss?", "manager", "user"),
        ("Where does my sister live?", "residence", "user's sister"),
        ("How old is Bea?", "age", "bea"),
        ("Who is my cousin's boss?", "manager", "user's cousin"),
        ("Which company do I work for now?", "employer", "user"),
    ],
)
def test_a_question_names_the_entity_of_its_slot(question: str, attribute: str, entity: str) -> None:
    asked = find_asked(question)
    assert asked is not None
    assert attribute in asked.attributes
    assert entity in asked.entities


@pytest.mark.parametrize("question", ["Why?", "Where did I go?", "Could you tell me?"])
def test_small_words_alone_ask_for_no_slot(question: str) -> None:
    assert find_asked(question) is None


def test_words_that_nothing_explains_name_another_thing() -> None:
    asked = find_asked("How old is the bridge in Passau?")
    assert asked is not None
    assert "user" not in asked.entities


def test_a_question_about_the_past_asks_for_what_somebody_was_or_did_before() -> None:
    asked = find_asked("What did I study?")
    assert asked is not None
    assert {"field_of_study", "former_field_of_study"} <= asked.attributes
    asked = find_asked("What do I study?")
    assert asked is not None
    assert "former_field_of_study" not in asked.attributes
