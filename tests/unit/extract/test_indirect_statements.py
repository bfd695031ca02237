"""What is said in other ways than plainly: by its effect, in foreign order, without a verb, from the other side."""

import pytest

from credenda.model.claim import UpdateKind
from credenda.model.memory import Stance

from .build import NOON, hear, only, slots

SIDEWAYS = [
    ("I am working since three years at Bosch.", "employer", "Bosch"),
    ("It's been three years since I moved to Oslo.", "residence", "Oslo"),
    ("Bosch let me go.", "employer", "Bosch"),
    ("I report to Ulrike now.", "manager", "Ulrike"),
    ("Firefox is my browser now.", "browser", "Firefox"),
    ("My budget is 2000 euros.", "budget", "2000 euros"),
    ("Meds: metformin, twice a day", "medication", "metformin"),
    ("Seit Mai arbeite ich bei Lidl.", "employer", "Lidl"),
]


@pytest.mark.requirement("R-045")
@pytest.mark.parametrize(("text", "attribute", "value"), SIDEWAYS)
def test_what_is_told_sideways_fills_the_same_slot(text: str, attribute: str, value: str) -> None:
    assert slots(hear(text)) == [("user", attribute, value)]


@pytest.mark.requirement("R-045")
@pytest.mark.parametrize("text", ["Spicy food is not for me."])
def test_a_dislike_told_by_its_effect_is_no_liking(text: str) -> None:
    claim = only(text)
    assert (claim.attribute, claim.value, claim.stance) == ("likes", "Spicy food", Stance.NEGATED)


@pytest.mark.requirement("R-045")
@pytest.mark.parametrize(
    "text", ["I work at Acme since May.", "Since May I work at Acme.", "I work at Acme since August."]
)
def test_what_holds_since_a_month_began_in_a_past_one(text: str) -> None:
    claim = only(text)
    assert claim.value == "Acme"
    assert claim.valid_from_us is not None
    assert claim.valid_from_us < NOON


@pytest.mark.requirement("R-040")
@pytest.mark.parametrize(
    "text", ["I've half a mind to quit.", "I'm this close to selling the car.", "The plan is to retire at 60."]
)
def test_a_plan_told_sideways_is_still_a_plan(text: str) -> None:
    assert only(text).confidence <= 0.5


@pytest.mark.requirement("R-037")
def test_what_was_left_for_another_names_both() -> None:
    claim = only("I left Ghent for Antwerp.")
    assert (claim.value, claim.prior, claim.move) == ("Antwerp", "Ghent", UpdateKind.CHANGE)
