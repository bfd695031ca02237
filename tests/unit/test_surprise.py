"""The formulas of surprise, at the published numbers and between them."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from credenda.model.memory import adjust_importance, compute_importance_change, compute_surprise

FRACTION = st.floats(0, 1)


@pytest.mark.requirement("E-045")
@pytest.mark.parametrize("apart", [0.0, 0.1, 0.35, 0.6, 0.9])
def test_surprise_is_a_logistic_of_the_mean_distance(apart: float) -> None:
    expected = 1 / (1 + math.exp(-10 * (apart - 0.35)))
    assert compute_surprise([1 - apart + 0.05, 1 - apart - 0.05]) == pytest.approx(expected, abs=6e-5)


@pytest.mark.requirement("E-046")
@pytest.mark.parametrize(
    ("stated", "score", "after"), [(0.5, 0.5, 0.5), (0.5, 0.9999, 0.7999), (0.9, 0.9, 1.0), (0.1, 0.0, 0.05)]
)
def test_importance_moves_by_at_most_three_tenths(stated: float, score: float, after: float) -> None:
    assert adjust_importance(stated, score) == pytest.approx(after, abs=1e-4)


@pytest.mark.requirement("E-047")
def test_the_first_memory_gains_fifteen_hundredths() -> None:
    assert compute_surprise([]) == 1.0
    assert compute_importance_change(compute_surprise([])) == 0.15
    assert compute_surprise([-1.0] * 5) < 1.0


@pytest.mark.requirement("E-044", "E-046")
@given(FRACTION, FRACTION)
def test_new_things_gain_and_repeated_ones_lose(stated: float, score: float) -> None:
    after = adjust_importance(stated, score)
    assert 0.05 <= after <= 1.0
    assert abs(compute_importance_change(score)) <= 0.3
    if 0.05 < after < 1.0:
        assert after == pytest.approx(stated + compute_importance_change(score), abs=1e-4)


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=5))
def test_nearer_neighbours_surprise_less(similarities: list[float]) -> None:
    assert compute_surprise(similarities) >= compute_surprise([min(1.0, one + 0.1) for one in similarities])
