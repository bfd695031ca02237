"""What is kept of a clause: its slot, its words alone, or nothing."""

from __future__ import annotations

import pytest

from credenda.write.parse.keeping import WEIGHED, load_weights

from .test_clauses import read


def open_slots(text: str, *, speaker: str | None = None) -> set[tuple[str | None, str | None]]:
    """Return the attributes and values that are told of anything, whatever their stance."""
    return {(one.attribute, one.value) for one in read(text, speaker=speaker) if one.attribute is not None}


@pytest.mark.parametrize(
    "text",
    [
        "Ohh I'll try the cafe out after I finish the series.",
        "If I fail as a leader, I will step down willingly.",
        "I was going to visit the roller rink with friends.",
        "I'm looking forward to our future conversations.",
        "I'm trying to understand.",
        "That is something I hope to do in the future!",
        "There is a beautiful trail I've been wanting to explore.",
        "I consider my cousin and her family as mine.",
        "I considered the perspectives of the authors.",
        "I'm going to head to bed.",
        "I'm looking for ways to save money.",
        "They never mentioned my parents.",
        "I tested the form and got a response within 250ms latency.",
        "I found ImageOptim, which reduced the sizes from 300KB to 180KB.",
        "I'm thinking about how her feedback might help me.",
    ],
)
def test_a_clause_that_tells_nothing_lasting_fills_no_slot_that_misleads(text: str) -> None:
    told = {attribute for attribute, _ in open_slots(text)}
    assert told <= {"experience"}, open_slots(text)


@pytest.mark.parametrize("text", ["I'm visiting my aunt.", "My mom bakes bread."])
def test_a_relative_that_everybody_has_is_no_fact_without_a_name(text: str) -> None:
    assert {"aunt", "mother"}.isdisjoint(attribute or "" for attribute, _ in open_slots(text))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("I loved every moment.", "moment"),
        ("I really enjoyed our chat!", "chat"),
        ("I'm relaxing at home now.", "relaxing at home now"),
        ("I'm a great source of comfort.", "great source of comfort"),
        ("I'm eating rice with it.", "eating rice with it"),
    ],
)
def test_what_passes_or_points_at_something_fills_no_slot(text: str, value: str) -> None:
    assert value not in {said for _, said in open_slots(text, speaker="Emi")}


@pytest.mark.parametrize(
    ("text", "attribute", "value"),
    [
        (
            "I want to raise my essay grade from 82% on the outline to 90% on the final draft per her rubric.",
            "goal",
            "raise my essay grade from 82% on the outline to 90% on the final draft per her rubric",
        ),
        ("One of my favorite series is The Office.", "favourite_series", "The Office"),
        ("I'm trying to decide where to work on my essay.", "goal", "decide where to work on my essay"),
        ("I wanna learn the violin.", "goal", "learn the violin"),
        (
            "The cover letter, which I submitted to Island Media on April 23, is short.",
            "experience",
            "submitted cover letter to Island Media on April 23",
        ),
    ],
)
def test_a_value_is_whole(text: str, attribute: str, value: str) -> None:
    assert (attribute, value) in open_slots(text)


def test_a_pet_without_a_name_is_told_by_its_kind() -> None:
    assert ("pet", "cat") in open_slots("My cat wanted to say hi.")


@pytest.mark.parametrize(
    ("text", "attribute"),
    [
        ("I am allergic to peanuts.", "allergy"),
        ("My name is Ana Berg.", "name"),
        ("I live in Lugano.", "residence"),
        ("I have a daughter named Mila.", "daughter"),
        ("I used to play the cello.", "plays"),
    ],
)
def test_an_attribute_that_names_its_value_needs_no_weight(text: str, attribute: str) -> None:
    assert attribute not in WEIGHED
    assert attribute in {name for name, _ in open_slots(text)}


def test_each_weighed_attribute_that_was_judged_has_a_weight_or_none_that_matters() -> None:
    for table in load_weights().values():
        assert {sign.removeprefix("is_") for sign in table if sign.startswith("is_")} <= WEIGHED
