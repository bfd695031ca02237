"""Feedback: use against display moves rank and retention, within bounds, and says so."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from credenda import Credenda, MemoryUnit
from credenda.manage.lifecycle import RetentionRules, UsageCounts, compute_retention
from credenda.model.evaluation import FeedbackCounts
from credenda.model.memory import Layer
from credenda.read.score import score_usefulness
from credenda.testing import ManualClock

NOTES = tuple(f"The garage code is on the {colour} note." for colour in ("blue", "grey", "mauve"))
COUNTS = st.integers(0, 10_000)


@pytest.fixture
def notes(mem: Credenda) -> list[str]:
    """The ids of three memories that fit one question equally well, in their present order."""
    for note in NOTES:
        mem.store(MemoryUnit(text=note))
    return order(mem)


def order(mem: Credenda) -> list[str]:
    return [hit.id for hit in mem.search("Where is the garage code?", kinds=("memory",), record_access=False).hits]


def term(mem: Credenda, memory_id: str) -> float:
    found = mem.search("Where is the garage code?", kinds=("memory",), record_access=False, explain=True)
    (hit,) = [hit for hit in found.hits if hit.id == memory_id]
    return hit.terms.get("feedback", 0.0)


@pytest.mark.requirement("C-009")
def test_what_was_of_use_rises_and_what_was_not_falls(mem: Credenda, notes: list[str]) -> None:
    first, second, third = notes
    mem.feedback(third, useful=True)
    assert order(mem) == [third, first, second]
    mem.feedback(first, useful=False)
    assert order(mem) == [third, second, first]
    assert term(mem, third) == pytest.approx(0.1)
    assert term(mem, first) == pytest.approx(-0.1)
    assert term(mem, second) == 0.0


@pytest.mark.requirement("C-009")
def test_display_without_use_makes_use_worth_less(mem: Credenda, notes: list[str], clock: ManualClock) -> None:
    *_, second, third = notes
    for _ in range(12):
        clock.advance(timedelta(days=1))
        mem.search("grey note" if second == _id(mem, "grey") else "mauve note", limit=1, kinds=("memory",))
    mem.settle()
    shown = max((second, third), key=lambda name: mem.get(name).access_count)
    spared = third if shown == second else second
    mem.feedback(shown, useful=True)
    mem.feedback(spared, useful=True)
    assert 0 < term(mem, shown) < term(mem, spared)
    assert order(mem).index(spared) < order(mem).index(shown)


def _id(mem: Credenda, colour: str) -> str:
    (found,) = [one.id for one in mem.list().items if colour in one.text]
    return found


@pytest.mark.requirement("C-009")
def test_what_is_shown_beside_something_useful_and_not_used_loses_a_little(
    mem: Credenda, notes: list[str], clock: ManualClock
) -> None:
    first, second, third = notes
    for _ in range(4):
        mem.search("Where is the garage code?", kinds=("memory",), limit=2)
        mem.feedback(second, useful=True)
        clock.advance(timedelta(days=1))
    mem.manage.decay()
    assert mem.get(first).decay_score == pytest.approx(0.8)
    assert mem.get(second).decay_score == 1.0
    assert mem.get(third).decay_score == 1.0
    assert order(mem) == [second, third, first]


def test_without_any_feedback_display_costs_nothing(mem: Credenda, notes: list[str], clock: ManualClock) -> None:
    for _ in range(6):
        mem.search("Where is the garage code?", kinds=("memory",), limit=2)
        clock.advance(timedelta(days=1))
    mem.manage.decay()
    assert order(mem) == notes
    assert {mem.get(name).decay_score for name in notes} == {1.0}


@given(useful=COUNTS, useless=COUNTS, silent=COUNTS)
def test_the_term_of_ranking_is_bounded(useful: int, useless: int, silent: int) -> None:
    assert -1 < score_usefulness(FeedbackCounts(useful, useless, silent)) < 1
    assert score_usefulness(FeedbackCounts(useful + 1, useless, silent)) > score_usefulness(
        FeedbackCounts(useful, useless + 1, silent)
    )


@pytest.mark.requirement("C-009")
@given(useful=COUNTS, useless=COUNTS, passed=COUNTS, age=st.floats(0, 4_000))
def test_no_judgement_makes_anything_immortal_or_vanish(useful: int, useless: int, passed: int, age: float) -> None:
    def score(usage: UsageCounts) -> float:
        return compute_retention(RetentionRules(), layer=Layer.EPISODIC, trust=1.0, age_days=age, usage=usage).score

    bare = score(UsageCounts())
    judged = score(UsageCounts(accesses=useful + useless, judged=useful - useless, passed=passed))
    assert bare / 2 - 1e-6 <= judged <= bare + 0.3 + 1e-6


def test_rank_and_retention_come_back_when_the_word_is_taken_back(mem: Credenda, notes: list[str]) -> None:
    for useful in (False, True, False):
        mem.feedback(notes[0], useful=useful)
    assert mem.get(notes[0]).decay_score == pytest.approx(0.85)
    mem.feedback(notes[0], useful=True)
    assert mem.get(notes[0]).decay_score == 1.0
    assert order(mem)[0] == notes[0]
