"""The measures of retrieval, against examples worked out by hand."""

import math

import pytest

from benchmarks.locomo import MEASURES, average, compute_auroc, compute_bootstrap_intervals, measure_ranking


def test_one_gold_turn_at_rank_three() -> None:
    found = measure_ranking(["a", "b", "gold", "c"], {"gold"})
    assert (found["any@1"], found["any@5"], found["all@5"]) == (0, 1, 1)
    assert found["mrr"] == pytest.approx(1 / 3)
    assert found["recall@10"] == 1
    assert found["ndcg@10"] == pytest.approx(1 / math.log2(4))


def test_two_gold_turns_of_which_one_is_late() -> None:
    ranked = ["one", *(f"x{place}" for place in range(10)), "two"]
    found = measure_ranking(ranked, {"one", "two"})
    assert (found["any@1"], found["all@10"], found["all@20"]) == (1, 0, 1)
    assert found["recall@10"] == 0.5
    assert found["mrr"] == 1
    # gain 1/log2(2) = 1, against the ideal 1/log2(2) + 1/log2(3)
    assert found["ndcg@10"] == pytest.approx(1 / (1 + 1 / math.log2(3)))


def test_nothing_found_measures_zero_everywhere() -> None:
    assert set(measure_ranking(["a", "b"], {"c"}).values()) == {0}
    assert set(measure_ranking([], {"c"}).values()) == {0}


def test_more_than_ten_gold_turns_are_ideal_when_the_first_ten_are_gold() -> None:
    gold = [f"g{place}" for place in range(12)]
    found = measure_ranking(gold, gold)
    assert found["ndcg@10"] == pytest.approx(1)
    assert found["recall@10"] == pytest.approx(10 / 12)


def test_a_question_without_gold_is_refused() -> None:
    with pytest.raises(ValueError, match="gold"):
        measure_ranking(["a"], [])


def test_means_are_plain_averages_over_questions() -> None:
    found = average([measure_ranking(["a"], {"a"}), measure_ranking(["b", "a"], {"a"})])
    assert found["any@1"] == 0.5
    assert found["mrr"] == 0.75
    assert [*found] == [*MEASURES]


def test_means_of_nothing_are_zero() -> None:
    assert set(average([]).values()) == {0}


def test_an_interval_is_repeatable_and_holds_the_mean() -> None:
    judged = [measure_ranking(["a"], {"a"})] * 30 + [measure_ranking(["b"], {"a"})] * 10
    one, other = compute_bootstrap_intervals(judged, seed=4), compute_bootstrap_intervals(judged, seed=4)
    assert one == other
    low, high = one["any@1"]
    assert low < 0.75 < high
    # three standard errors of a share of .75 among 40 are .21
    assert high - low < 0.42


def test_an_interval_without_spread_is_a_point() -> None:
    assert compute_bootstrap_intervals([measure_ranking(["a"], {"a"})] * 5)["mrr"] == (1, 1)
    assert compute_bootstrap_intervals([])["mrr"] == (0, 0)


def test_auroc_counts_pairs_and_halves_ties() -> None:
    # of six pairs .9 wins both, .5 ties one and wins one, .1 loses both
    assert compute_auroc([0.9, 0.5, 0.1], [0.5, 0.2]) == pytest.approx(3.5 / 6, abs=1e-4)
    assert compute_auroc([1.0], [0.0]) == 1
    assert compute_auroc([], [0.5]) is None
    assert compute_auroc([0.5], []) is None
