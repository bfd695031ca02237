"""One value in the place of another, both named: the slot is that of whatever holds the old one."""

import pytest

from credenda.model.claim import UpdateKind

from .build import hear, only

EXCHANGES = [
    ("I gave up on Italian and took up Greek.", "Italian", "Greek"),
    ("Firefox has replaced Chrome for me.", "Chrome", "Firefox"),
    ("Traded the Golf in for a Zoe.", "Golf", "Zoe"),
    ("My doctor switched me from ramipril to losartan.", "ramipril", "losartan"),
    ("Theo moved out, Mila lives with me now.", "Theo", "Mila"),
    ("My Dell broke so I bought a Framework.", "Dell", "Framework"),
]


@pytest.mark.requirement("R-037")
@pytest.mark.parametrize(("text", "prior", "value"), EXCHANGES)
def test_both_values_are_named(text: str, prior: str, value: str) -> None:
    claim = only(text)
    assert (claim.prior, claim.value, claim.move) == (prior, value, UpdateKind.CHANGE)


@pytest.mark.requirement("R-037")
def test_a_slip_of_the_tongue_is_corrected() -> None:
    claim = only("I said Linz earlier, I meant Lienz.")
    assert (claim.prior, claim.value, claim.move) == ("Linz", "Lienz", UpdateKind.CORRECT)


@pytest.mark.parametrize(
    "text", ["I quit smoking in May.", "I left the house at nine.", "I finished the soup and went to bed."]
)
def test_what_only_looks_like_an_exchange_is_none(text: str) -> None:
    assert all(claim.prior is None for claim in hear(text))


@pytest.mark.requirement("R-035")
@pytest.mark.parametrize(
    ("text", "attribute", "value"),
    [
        ("Since the reorg I report to Marek.", "manager", "Marek"),
        ("The rent went up to 920.", "rent", "920"),
        ("I've got a new trainer, her name is Bea.", "trainer", "Bea"),
        ("J'ai quitté Orange, je suis chez Free maintenant.", "employer", "Free"),
    ],
)
def test_a_change_told_sideways_fills_its_slot(text: str, attribute: str, value: str) -> None:
    claim = next(claim for claim in hear(text) if claim.attribute == attribute)
    assert value in (claim.value or "")
    assert claim.move is UpdateKind.CHANGE
