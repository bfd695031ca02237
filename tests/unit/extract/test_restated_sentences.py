"""What is told from the other side, announced, or added: read as the plain sentence that means the same."""

import pytest

from credenda.model.claim import UpdateKind
from credenda.model.memory import Cardinality, MemoryType, Stance

from .build import hear, only

SLOTS = [
    ("Home is Tallinn for me, I live there.", "user", "residence", "Tallinn"),
    ("1949 is the year I was born.", "user", "birth_year", "1949"),
    ("I was born in 1949.", "user", "birth_year", "1949"),
    ("2019 is the year we moved to Bonn.", "user", "residence", "Bonn"),
    ("The woman I'm married to works as a midwife.", "user's wife", "job_title", "midwife"),
    ("The man I'm married to is a baker.", "user's husband", "job_title", "baker"),
    ("Ladders frighten me, too.", "user", "dislikes", "Ladders"),
    ("My mother lives with us.", "user's mother", "lives_with", "the user"),
    ("My brother moved in with us.", "user's brother", "lives_with", "the user"),
    ("Mum has moved out and into a care home.", "user's mother", "lives_with", "moved out"),
    ("I go jogging on Sundays.", "user", "does", "go jogging on Sundays"),
]


@pytest.mark.requirement("R-045")
@pytest.mark.parametrize(("text", "entity", "attribute", "value"), SLOTS)
def test_the_slot_is_found_in_other_words(text: str, entity: str, attribute: str, value: str) -> None:
    claim = only(text)
    assert (claim.entity, claim.attribute, claim.value) == (entity, attribute, value)
    assert claim.stance is Stance.ASSERTED


ANNOUNCED = [
    ("Change of venue: the party is at Marco's.", "Marco's"),
    ("New hours: the shop opens at seven.", "seven"),
    ("I changed my routine, my gym day is Thursday.", "Thursday"),
]


@pytest.mark.requirement("R-074")
@pytest.mark.parametrize(("text", "value"), ANNOUNCED)
def test_what_is_announced_as_new_is_a_change(text: str, value: str) -> None:
    claim = only(text)
    assert (claim.move, claim.value) == (UpdateKind.CHANGE, value)


@pytest.mark.requirement("R-074")
@pytest.mark.parametrize(
    "text", ["I've let my subscription to Le Monde lapse.", "I let my Le Monde subscription expire."]
)
def test_what_was_let_lapse_has_ended(text: str) -> None:
    claim = only(text)
    assert (claim.move, claim.value) == (UpdateKind.END, "Le Monde")


@pytest.mark.requirement("R-076")
@pytest.mark.parametrize(
    "text", ["I'm also a certified diver.", "I'm a certified diver too.", "I now also work at Globex."]
)
def test_what_is_so_as_well_stands_beside(text: str) -> None:
    claim = only(text)
    assert (claim.cardinality, claim.move) == (Cardinality.SET, UpdateKind.STATE)


@pytest.mark.requirement("R-076")
@pytest.mark.parametrize("text", ["Also, my phone is an iPhone now.", "I also moved to Linz."])
def test_what_moved_stands_alone_all_the_same(text: str) -> None:
    assert only(text).cardinality is Cardinality.SINGLE


@pytest.mark.requirement("R-041")
@pytest.mark.parametrize("text", ["We're getting married in April.", "My sister is getting married next year."])
def test_who_is_getting_married_is_not_married_yet(text: str) -> None:
    assert all((claim.attribute, claim.value) != ("marital_status", "married") for claim in hear(text))


@pytest.mark.requirement("R-034")
@pytest.mark.parametrize("text", ["Always indent with four spaces.", "Never squash before the review."])
def test_an_order_for_all_times_is_kept_whatever_its_verb(text: str) -> None:
    assert only(text).type is MemoryType.PROCEDURE


@pytest.mark.requirement("R-034")
@pytest.mark.parametrize("text", ["Always happy to help.", "Never better, thanks.", "Always the same story."])
def test_a_remark_with_always_is_no_order(text: str) -> None:
    assert all(claim.type is not MemoryType.PROCEDURE for claim in hear(text))


@pytest.mark.requirement("R-034")
@pytest.mark.parametrize(
    "text", ["It's final, we sell the upper pasture.", "The decision was that we keep the old piano."]
)
def test_what_is_called_final_is_a_decision(text: str) -> None:
    assert only(text).type is MemoryType.DECISION


@pytest.mark.requirement("R-034")
@pytest.mark.parametrize(
    "text",
    ["Ugh, my phone's at two percent.", "My battery is at four percent.", "Well, aren't we lucky, rain on a Sunday."],
)
def test_what_passes_in_an_hour_is_not_kept(text: str) -> None:
    assert hear(text) == []


@pytest.mark.requirement("R-034")
def test_what_lies_above_a_town_is_not_the_text_above() -> None:
    assert hear("I keep forty beehives above Bled.")
    assert hear("Fix the function above.") == []


@pytest.mark.requirement("R-034")
def test_what_was_shown_with_a_turn_is_nobodys_fact() -> None:
    assert hear("[image: a cat]") == []
    assert [claim.value for claim in hear("I bought a bike. [image: a red bicycle]")] == ["buy a bike"]
