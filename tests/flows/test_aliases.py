"""Names and amounts that are the same in other words."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from credenda import Credenda

Say = Callable[..., None]


def held(mem: Credenda, attribute: str) -> list[tuple[str | None, int]]:
    return [(one.value, one.confirmations) for one in mem.list(attribute=attribute).items]


@pytest.mark.requirement("D-008")
@pytest.mark.parametrize(
    "told",
    [
        ("My manager is Robert, everyone calls him Bob.",),
        ("My manager is Robert.", "Bob is short for Robert."),
        ("Robert goes by Bob.", "My manager is Robert."),
    ],
)
def test_a_value_under_its_other_name_is_the_same(mem: Credenda, say: Say, told: tuple[str, ...]) -> None:
    say(*told, "My manager is Bob.")
    assert held(mem, "manager") == [("Robert", 1)]


def test_a_name_that_nobody_said_is_the_same_is_another(mem: Credenda, say: Say) -> None:
    say("My manager is Robert.", "My manager is Bob.")
    assert held(mem, "manager") == [("Bob", 0)]


def test_who_is_called_otherwise_keeps_one_slot(mem: Credenda, say: Say) -> None:
    say("Everyone calls Robert Bob.", "Robert lives in Linz.", "Bob lives in Linz.")
    found = [one for one in mem.list(limit=50).items if one.value == "Linz"]
    assert [(one.entity, one.confirmations) for one in found] == [("Robert", 1)]


@pytest.mark.requirement("D-008")
@pytest.mark.parametrize(("one", "other"), [("40k", "40,000"), ("40,000", "40000"), ("2 million", "2,000,000")])
def test_an_amount_written_otherwise_is_the_same(mem: Credenda, say: Say, one: str, other: str) -> None:
    say(f"My salary is {one}.", f"My salary is {other}.")
    assert held(mem, "salary") == [(one, 1)]


def test_another_amount_is_another(mem: Credenda, say: Say) -> None:
    say("My salary is 40k.", "My salary is 41k.")
    assert [value for value, _ in held(mem, "salary")] == ["41k"]
