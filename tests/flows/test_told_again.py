"""A value that is told again is newer than the one told in between, and a doubted value is not held true."""

from __future__ import annotations

import pytest

from credenda import Credenda

STATES = (
    ("The kiln is cracked.", "cracked"),
    ("The kiln is sound now.", "sound"),
    ("The kiln is cracked again.", "cracked"),
)


@pytest.mark.parametrize("question", ["Is the kiln sound?", "Is the kiln cracked?", "How is the kiln?"])
def test_the_state_told_last_comes_first_and_the_other_is_not_shown(mem: Credenda, question: str) -> None:
    for day, (text, value) in enumerate(STATES, 1):
        claim = {"quote": text, "entity": "kiln", "attribute": "state", "value": value}
        mem.remember(text, occurred_at=f"2026-02-{day:02}T09:00:00Z", claims=[claim])
    assert mem.search(question).hits[0].text.startswith("user: kiln's state: cracked")
    shown = mem.context(question).text
    assert "state: cracked" in shown
    assert "state: sound" not in shown


def test_a_value_that_a_newer_one_may_replace_is_not_held_true(mem: Credenda) -> None:
    for day, place in enumerate(("under the stairs", "behind the stove"), 1):
        text = f"The toolbox is {place}."
        claim = {"quote": text, "entity": "toolbox", "attribute": "spot", "value": place}
        mem.remember(text, occurred_at=f"2026-02-{day:02}T09:00:00Z", claims=[claim])
    held, _, doubted = mem.context("Where is the toolbox?").text.partition("In doubt:")
    assert "behind the stove" in held
    assert "under the stairs" not in held
    assert "under the stairs" in doubted


def test_the_end_of_one_allergy_says_nothing_of_the_others(mem: Credenda) -> None:
    claims = (("I'm allergic to hazelnuts.", "hazelnuts", "asserted"), ("I'm allergic to dogs.", "dogs", "asserted"))
    over = ("I'm no longer allergic to hazelnuts.", "hazelnuts", "negated")
    for day, (text, value, stance) in enumerate((*claims, over), 1):
        claim = {"quote": text, "attribute": "allergy", "value": value, "stance": stance}
        mem.remember(text, occurred_at=f"2026-02-{day:02}T09:00:00Z", claims=[claim])
    (line,) = [one for one in mem.context("What am I allergic to?").text.splitlines() if "dogs" in one]
    assert "replaced" not in line
    assert "In doubt" not in mem.context("What am I allergic to?").text
