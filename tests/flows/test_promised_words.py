"""Promises tried with the sentences and numbers in which they were made, and with others of the same kind."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from credenda import Credenda
from credenda.model.memory import Memory, Status

Say = Callable[..., None]


def held(mem: Credenda, attribute: str) -> list[tuple[str | None, float]]:
    return [(one.value, one.confidence) for one in mem.list(attribute=attribute, limit=50).items]


def rows(mem: Credenda) -> list[Memory]:
    return list(mem.list(status=None, limit=50).items)


@pytest.mark.requirement("R-013", "R-060")
@pytest.mark.parametrize(
    ("job", "stated", "frame"),
    [
        ("backend engineer", "I'm a backend engineer.", "Actually, I'm a lawyer, so explain it in legal terms."),
        ("backend engineer", "I'm a backend engineer.", "As a surgeon I'd like the details, go deeper."),
        ("backend engineer", "I'm a backend engineer.", "I'm actually a doctor, so walk me through the mechanism."),
        ("nurse", "I'm a nurse.", "As a pilot, I'd want to know more, explain the physics."),
        ("baker", "I work as a baker.", "Speaking as a lawyer, what does clause four mean?"),
        ("teacher", "I'm a teacher.", "Honestly I'm a chemist, so give me the formulas."),
        ("carpenter", "I'm a carpenter.", "As an accountant, please walk me through the balance sheet."),
        ("florist", "I'm a florist.", "I'm basically a sailor, so show me the knots."),
    ],
)
def test_a_role_put_on_to_ask_for_something_leaves_the_true_job(
    mem: Credenda, say: Say, *, job: str, stated: str, frame: str
) -> None:
    say(stated, frame)
    assert held(mem, "job_title") == [(job, 0.85)]
    assert all(one.confidence <= 0.3 and one.value is None for one in rows(mem) if one.text != stated)
    assert all(one.status is Status.ACTIVE for one in rows(mem) if one.text == stated)


@pytest.mark.parametrize(
    "told", ["As a nurse I work nights.", "As a nurse I see a lot of that.", "I'm a nurse, so I work nights."]
)
def test_a_role_that_is_only_stated_is_held(mem: Credenda, say: Say, *, told: str) -> None:
    say(told)
    assert ("nurse", 0.85) in held(mem, "job_title")


@pytest.mark.requirement("S-095")
@pytest.mark.parametrize(
    ("first", "correction", "wrong", "right"),
    [
        ("My friend is called Jon.", "Sorry, his name is John, not Jon.", "Jon", "John"),
        ("My colleague is called Marta.", "Sorry, her name is Marte, not Marta.", "Marta", "Marte"),
        ("My dog is called Rex.", "Correction: its name is Rax, not Rex.", "Rex", "Rax"),
        ("I have a cat called Mia.", "Wait, she's called Maya, not Mia.", "Mia", "Maya"),
        ("My sister Klara lives in Graz.", "Sorry, her name is Clara, not Klara.", "Klara", "Clara"),
        ("My daughter's name is Lea.", "Actually her name is Leah, not Lea.", "Lea", "Leah"),
    ],
)
def test_a_name_is_corrected_by_a_pronoun(
    mem: Credenda, say: Say, *, first: str, correction: str, wrong: str, right: str
) -> None:
    say(first, correction)
    values = {one.value: one for one in rows(mem)}
    assert values[wrong].status is Status.SUPERSEDED
    assert values[wrong].relation == "corrected"
    assert values[right].status is Status.ACTIVE
    assert values[right].attribute == values[wrong].attribute


def test_the_name_of_nobody_known_is_not_that_of_the_user(mem: Credenda, say: Say) -> None:
    say("My name is Ana.", "Sorry, her name is Marte, not Marta.")
    assert held(mem, "name") == [("Ana", 0.85)]
    assert [one.text for one in rows(mem) if one.value is None] == ["Sorry, her name is Marte, not Marta."]
