"""The arithmetic of fitting, on data whose answer is known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.locomo import compute_auroc
from benchmarks.logistic import (
    Sample,
    apply_logistic,
    build_design,
    compute_auroc_interval,
    compute_cell_weights,
    find_best_by_fold,
    fit_logistic,
    predict_held_out,
)


def sample(near: float, *, present: bool, fold: str = "a", cell: str = "c", share: float = 1.0) -> Sample:
    return Sample(signs={"near": near, "prior": 1.0}, present=present, fold=fold, cell=cell, share=share)


def test_the_fit_finds_the_coefficients_that_made_the_data() -> None:
    draw = np.random.default_rng(1)
    signs = draw.normal(0, 2, (20_000, 2))
    present = (draw.random(20_000) < apply_logistic(0.5 + signs @ np.array([1.5, -1.0]))).astype(np.float64)
    assert fit_logistic(signs, present, np.ones(20_000)) == pytest.approx([0.5, 1.5, -1.0], abs=0.1)


def test_signs_that_part_the_data_wholly_stay_finite() -> None:
    fitted = fit_logistic(np.array([[0.0], [1.0]]), np.array([0.0, 1]), np.ones(2))
    assert np.isfinite(fitted).all()


@given(st.lists(st.sampled_from(["x", "y"]), min_size=1, max_size=20))
def test_cells_of_a_share_weigh_alike_however_many_they_hold(cells: list[str]) -> None:
    samples = [sample(0, present=True, cell=cell) for cell in cells]
    weights = compute_cell_weights(samples)
    assert weights.sum() == pytest.approx(len(cells))
    of = {cell: sum(w for w, c in zip(weights, cells, strict=True) if c == cell) for cell in set(cells)}
    assert max(of.values()) == pytest.approx(min(of.values()))


def test_a_fold_is_judged_by_the_others_alone() -> None:
    """Fold b says the opposite of a and c: judged by them it is all wrong."""
    samples = [
        sample(near, present=(near > 0) != (fold == "b"), fold=fold) for fold in "abc" for near in (-1.0, 1.0) * 20
    ]
    logits = predict_held_out(samples, ["near"])
    wrong = [(logit > 0) != one.present for logit, one in zip(logits, samples, strict=True) if one.fold == "b"]
    assert all(wrong)


def test_the_design_has_a_column_for_each_name() -> None:
    assert build_design([sample(2, present=True)], ["prior", "near"]).tolist() == [[1.0, 2.0]]


def test_the_best_trial_of_a_fold_is_chosen_without_it() -> None:
    values = np.array([[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.6, 0.6]])
    assert find_best_by_fold(values, ["a", "a", "b", "b"]) == {"a": 1, "b": 0}


def test_an_interval_holds_the_area_and_is_narrower_for_more_questions() -> None:
    draw = np.random.default_rng(0)
    widths: list[float] = []
    for count in (20, 500):
        there, gone = draw.normal(1, 1, count).tolist(), draw.normal(0, 1, count).tolist()
        low, high = compute_auroc_interval(there, gone)
        assert low < (compute_auroc(there, gone) or 0) < high
        widths.append(high - low)
    assert widths[1] < widths[0] / 2
    assert compute_auroc_interval([], [0.1]) == (0.0, 1.0)
