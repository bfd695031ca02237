"""What is only material for a task, only felt, claimed or laughed at is faint; what things have has a slot."""

import pytest

from credenda.model.memory import Cardinality

from .build import hear, only

FAINT = [
    "Translate this: I am a vegetarian and live in Rome.",
    "Correct this sentence: I has two dogs.",
    "Write me a cover letter saying that I have ten years of experience at Google.",
    "Here's a sample bio: I'm Lea, a nurse from Bern.",
    "In the demo data, my address is 1 Main Street.",
    "I feel like I'm 80.",
    "I'm 200 years old, ha ha.",
    "I'm the queen of England and I demand tea.",
    "I'm totally a morning person, said no one ever.",
    "I may have left the stove on.",
    "If the bank agrees, we buy the house.",
]


@pytest.mark.requirement("R-040", "R-041", "R-042")
@pytest.mark.parametrize("text", FAINT)
def test_what_is_not_meant_is_never_held_firmly(text: str) -> None:
    assert all(one.confidence <= 0.3 for one in hear(text))


@pytest.mark.requirement("R-040")
@pytest.mark.parametrize("text", ["The shop supposedly belongs to Tom.", "My boss allegedly owns a castle."])
def test_what_is_only_said_to_be_so_is_hedged(text: str) -> None:
    assert all(one.confidence <= 0.5 for one in hear(text))


@pytest.mark.requirement("R-040")
@pytest.mark.parametrize(
    "text",
    [
        "Tom told me: I am allergic to nuts.",
        "He told me: I'm quitting my job at Bosch.",
        "My boss wrote to me: we are moving the office to Linz.",
    ],
)
def test_what_another_says_of_himself_is_not_the_speakers(text: str) -> None:
    assert not [one for one in hear(text) if one.attribute is not None]


SLOTS = [
    ("The colour of my car is red.", "car", "colour", "red"),
    ("The size of our team is six.", "team", "size", "six"),
    ("The price of the course is 200 euros.", "course", "price", "200 euros"),
    ("I'm married to a woman called Amara.", "user", "spouse", "Amara"),
    ("I live on the third floor.", "user", "home_floor", "the third floor"),
    ("I live on Elm Street.", "user", "address", "Elm Street"),
    ("We live in a small flat.", "user", "home", "small flat"),
    ("I'm a citizen of Peru.", "user", "nationality", "Peru"),
    ("My brother rides a Yamaha on weekends.", "user's brother", "rides", "Yamaha on weekends"),
    ("My shift ends at two.", "shift", "ends", "two"),
]


@pytest.mark.requirement("R-045")
@pytest.mark.parametrize(("text", "entity", "attribute", "value"), SLOTS)
def test_each_side_of_a_thing_has_a_slot_of_its_own(text: str, entity: str, attribute: str, value: str) -> None:
    claim = only(text)
    assert (claim.entity, claim.attribute, claim.value) == (entity, attribute, value)


@pytest.mark.requirement("R-045")
@pytest.mark.parametrize(
    ("text", "cardinality"),
    [
        ("I'm a nurse.", Cardinality.SINGLE),
        ("I'm a climate activist.", Cardinality.SET),
        ("I'm a climate activist now.", Cardinality.SINGLE),
    ],
)
def test_one_has_one_living_and_may_be_more_besides(text: str, cardinality: Cardinality) -> None:
    claim = only(text)
    assert (claim.attribute, claim.cardinality) == ("job_title", cardinality)


@pytest.mark.requirement("R-045")
def test_an_hour_holds_on_the_days_it_is_said_of() -> None:
    claim = only("The shop opens at 10 on Saturdays.")
    assert (claim.attribute, claim.value, claim.scope) == ("opens", "10", "saturdays")
