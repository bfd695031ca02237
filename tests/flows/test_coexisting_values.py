"""What is said of other sides of one thing stands beside what was said before; what changes it takes its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from credenda import Credenda
from credenda.model.memory import Memory

BOTH_HOLD = (
    ("I'm a nurse.", "I'm a runner."),
    ("I'm a teacher.", "I'm a homeowner."),
    ("I'm a teacher.", "I'm a painter in my spare time."),
    ("I'm a lawyer.", "I'm a cancer survivor."),
    ("I'm a teacher.", "I'm a climate activist."),
    ("I'm a lawyer.", "I'm a grandparent."),
    ("I work at Siemens.", "I'm a citizen of Peru."),
    ("I work at Siemens.", "I work for two hours before breakfast."),
    ("I work at Siemens.", "I work at weekends sometimes."),
    ("I live in Graz.", "I live on the third floor."),
    ("I live in Graz.", "We live in a small flat."),
    ("I live in Graz.", "I live on Elm Street."),
    ("I live in Graz.", "I live in a small village."),
    ("My phone is a Pixel.", "My phone number is 0664 1234567."),
    ("My email is a@b.org.", "My work email is c@d.com."),
    ("I drive a Skoda.", "I drive my kids to school on Mondays."),
    ("I study biology.", "I study at night."),
    ("I'm from Chile.", "I'm from a big family."),
    ("Call me Max.", "Call me after six."),
    ("My wedding is in September.", "My sister's wedding is in May."),
    ("My brother's wedding is in May.", "My sister's wedding is in June."),
    ("My first child was born in 2010.", "My second child was born in 2013."),
    ("My shift starts at six.", "My shift ends at two."),
    ("The shop opens at 8.", "The shop opens at 10 on Saturdays."),
    ("My office is on the second floor.", "My office is next to the kitchen."),
    ("My desk is by the window.", "My desk is height-adjustable."),
    ("I take the bus to work.", "I take the train to my parents."),
)
REPLACED = (
    ("I'm a nurse.", "I'm a paramedic.", "nurse"),
    ("I'm a nurse.", "I'm an activist now.", "nurse"),
    ("I'm a nurse.", "I'm a farrier now.", "nurse"),
    ("I'm the founder of Acme.", "I'm a partner of Kepler Partners.", "Acme"),
    ("We live in a flat.", "We live in a house now.", "flat"),
    ("I live in Graz.", "I live in the Bronx.", "Graz"),
    ("I live on Elm Street.", "I live on Oak Road.", "Elm Street"),
    ("I live on the second floor.", "I live on the fifth floor now.", "the second floor"),
    ("I study biology.", "I'm studying law now.", "biology"),
    ("I drive my dad's old Volvo.", "I drive a Kia now.", "my dad's old Volvo"),
    ("My phone number is 555 1234.", "My new phone number is 555 9876.", "555 1234"),
    ("My shift ends at two.", "My shift ends at three now.", "two"),
)


def live(path: Path, *texts: str) -> list[Memory]:
    with Credenda.open(path, user="ana", embedder="none", workers=False) as mem:
        for text in texts:
            mem.remember(text)
            mem.settle()
        held = list(mem.list(limit=50).items)
    assert not any(one.contested for one in held)
    return held


@pytest.mark.requirement("R-074", "C-001")
@pytest.mark.parametrize(("first", "then"), BOTH_HOLD)
def test_another_side_of_it_replaces_nothing(tmp_path: Path, first: str, then: str) -> None:
    assert {first, then} <= {one.text for one in live(tmp_path / "m.db", first, then)}


@pytest.mark.requirement("R-074")
@pytest.mark.parametrize(("first", "then", "past"), REPLACED)
def test_the_same_side_of_it_is_replaced(tmp_path: Path, first: str, then: str, past: str) -> None:
    held = {one.value for one in live(tmp_path / "m.db", first, then)}
    assert past not in held
    assert held


@pytest.mark.requirement("R-074")
def test_what_is_of_the_family_is_told_apart_from_ones_own(tmp_path: Path) -> None:
    held = live(tmp_path / "m.db", "My exam is in May.", "My son's exam is in June.")
    assert {(one.entity, one.value) for one in held} == {("exam", "May"), ("user's son's exam", "June")}


@pytest.mark.requirement("R-035")
def test_what_one_was_long_ago_is_no_job_of_today(tmp_path: Path) -> None:
    held = live(tmp_path / "m.db", "I worked in a bar as a student.")
    assert [one.attribute for one in held] == ["former_work_field"]
