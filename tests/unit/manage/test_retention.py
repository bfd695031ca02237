"""The forgetting curves against their published values, and the bounds that keep use from making anything immortal."""

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from credenda.manage.lifecycle import (
    CURVES,
    RetentionRules,
    UsageCounts,
    compute_curve,
    compute_half_life,
    compute_recall_decay,
    compute_retention,
)
from credenda.model.memory import Layer

AGES = st.floats(0, 5_000)
FADING = (Layer.WORKING, Layer.EPISODIC)


@pytest.mark.requirement("E-058")
@pytest.mark.parametrize(
    ("age", "l2", "linear", "elastic"),
    [(30, 0.5, 0.462, 0.5), (45, 0.354, 0.217, 0.323), (60, 0.25, 0.0, 0.175), (90, 0.125, 0.0, 0.088)],
)
def test_the_published_values_come_out(age: float, l2: float, linear: float, elastic: float) -> None:
    for mode, value in (("l2", l2), ("huber_linear", linear), ("elastic", elastic)):
        assert compute_curve(RetentionRules(mode=mode), age, 30.0) == pytest.approx(value, abs=6e-4), mode


@pytest.mark.requirement("E-050")
def test_l2_halves_at_each_half_life() -> None:
    rules = RetentionRules(mode="l2")
    assert [compute_curve(rules, 30.0 * n, 30.0) for n in range(4)] == pytest.approx([1, 0.5, 0.25, 0.125])


@pytest.mark.requirement("E-051")
def test_the_linear_tail_is_the_tangent_and_ends_at_zero() -> None:
    rules = RetentionRules(mode="huber_linear")
    bend = math.exp(-math.log(2) * 0.5)
    assert compute_curve(rules, 0.5, 1.0) == pytest.approx(bend)
    assert compute_curve(rules, 1.0, 1.0) == pytest.approx(bend * (1 - math.log(2) * 0.5))
    assert compute_curve(rules, 0.5 + 1 / math.log(2) + 0.001, 1.0) == 0


@pytest.mark.requirement("E-052")
def test_elastic_is_a_line_and_an_exponential() -> None:
    rules = RetentionRules(mode="elastic")
    assert compute_curve(rules, 1.0, 1.0) == pytest.approx(0.3 * 0.5 + 0.7 * 0.5)
    assert compute_curve(rules, 2.0, 1.0) == pytest.approx(0.7 * 0.25)


@pytest.mark.requirement("D-023", "E-049")
def test_the_default_curve_joins_smoothly_and_keeps_more_than_the_exponential() -> None:
    assert RetentionRules().mode == "huber"
    rules, step = RetentionRules(), 1e-6
    left = (compute_curve(rules, 0.5, 1.0) - compute_curve(rules, 0.5 - step, 1.0)) / step
    right = (compute_curve(rules, 0.5 + step, 1.0) - compute_curve(rules, 0.5, 1.0)) / step
    assert left == pytest.approx(right, rel=1e-4)
    bend = math.exp(-math.log(2) * 0.5)
    for age in (0.6, 1, 2, 5, 20):
        assert compute_curve(rules, age, 1.0) > compute_curve(RetentionRules(mode="l2"), age, 1.0)
        assert compute_curve(rules, age, 1.0) == pytest.approx(bend / (1 + math.log(2) * (age - 0.5)))


@pytest.mark.parametrize("mode", CURVES)
@given(ages=st.lists(AGES, min_size=2, max_size=20))
def test_no_curve_ever_rises_or_leaves_its_range(mode: str, ages: list[float]) -> None:
    values = [compute_curve(RetentionRules(mode=mode), age, 30.0) for age in sorted(ages)]
    assert all(0 <= value <= 1 for value in values)
    assert all(one >= other for one, other in pairwise(values))


@pytest.mark.requirement("E-054", "E-055")
def test_what_is_read_by_machine_fades_three_times_as_fast() -> None:
    rules = RetentionRules()
    assert compute_half_life(rules, 1.0) == 3 * compute_half_life(rules, 0.5)
    published = RetentionRules(kappa=2.0)
    lives = [compute_half_life(published, trust) for trust in (1.0, 0.7, 0.5, 0.0)]
    assert lives == [30.0, pytest.approx(30 / 1.6), 15.0, 10.0]


@pytest.mark.requirement("R-088", "R-091")
def test_recalls_curve_halves_in_thirty_five_days() -> None:
    assert compute_recall_decay(RetentionRules(), math.log(2) / 0.02, 0) == pytest.approx(0.5)


@pytest.mark.requirement("R-089", "R-090", "R-092", "R-215")
def test_recalls_accesses_protect_and_ten_of_them_for_ever() -> None:
    raw, boost = math.exp(-0.02 * 100), math.log(4) / math.log(11)
    assert compute_recall_decay(RetentionRules(), 100, 3) == pytest.approx(raw + (1 - raw) * boost)
    assert compute_recall_decay(RetentionRules(), 10_000, 10) == 1.0


@pytest.mark.requirement("E-053", "E-129", "D-009")
@given(age=AGES, accesses=st.integers(0, 10_000), trust=st.floats(0, 1))
def test_use_adds_at_most_three_tenths(age: float, accesses: int, trust: float) -> None:
    bare, used = (
        compute_retention(
            RetentionRules(), layer=Layer.EPISODIC, trust=trust, age_days=age, usage=UsageCounts(accesses=count)
        ).score
        for count in (0, accesses)
    )
    assert bare - 1e-6 <= used <= bare + 0.3 + 2e-6


@pytest.mark.requirement("E-002")
@pytest.mark.parametrize("layer", FADING)
def test_episodes_fade_with_a_half_life_of_thirty_days(layer: Layer) -> None:
    rules = RetentionRules(mode="l2")
    assert compute_retention(rules, layer=layer, trust=1.0, age_days=30, usage=UsageCounts()).score == 0.5


@pytest.mark.requirement("E-003", "E-004", "E-064", "C-010")
@pytest.mark.parametrize("layer", [layer for layer in Layer if layer not in FADING])
def test_lasting_layers_do_not_fade(layer: Layer) -> None:
    kept = compute_retention(RetentionRules(), layer=layer, trust=0.4, age_days=3_000, usage=UsageCounts())
    assert kept.score == 1.0
    assert math.isinf(kept.half_life_days)


@pytest.mark.requirement("C-010")
def test_in_profile_recall_every_layer_fades() -> None:
    rules = RetentionRules(profile="recall")
    assert all(
        compute_retention(rules, layer=layer, trust=1, age_days=60, usage=UsageCounts()).score < 0.4 for layer in Layer
    )


@pytest.mark.requirement("E-062")
def test_what_is_pinned_does_not_fade() -> None:
    kept = compute_retention(
        RetentionRules(), layer=Layer.EPISODIC, trust=0.5, age_days=900, usage=UsageCounts(), pinned=True
    )
    assert kept.score == 1.0


def test_what_was_no_help_is_retained_less_and_only_until_help_outweighs_it() -> None:
    scores = [
        compute_retention(
            RetentionRules(), layer=Layer.SEMANTIC, trust=1, age_days=1, usage=UsageCounts(judged=judged)
        ).score
        for judged in (-9, -2, -1, 0, 3)
    ]
    assert scores == [0.5, 0.7, 0.85, 1.0, 1.0]


@given(
    rules=st.sampled_from([RetentionRules(), RetentionRules(profile="recall"), RetentionRules(mode="elastic")]),
    usage=st.builds(UsageCounts, accesses=st.integers(0, 500), judged=st.integers(-20, 20)),
    layer=st.sampled_from(Layer),
    age=AGES,
)
def test_the_terms_of_a_score_add_up_to_it(rules: RetentionRules, usage: UsageCounts, layer: Layer, age: float) -> None:
    kept = compute_retention(rules, layer=layer, trust=0.7, age_days=age, usage=usage)
    assert kept.score == pytest.approx(min(1.0, max(0.0, sum(kept.terms.values()))), abs=1e-6)
    assert 0 <= kept.score <= 1


@pytest.mark.requirement("C-012", "R-091", "E-002")
def test_each_profile_has_its_published_half_life() -> None:
    layered = compute_retention(RetentionRules(), layer=Layer.EPISODIC, trust=1.0, age_days=30, usage=UsageCounts())
    recall = compute_retention(
        RetentionRules(profile="recall"), layer=Layer.EPISODIC, trust=0.3, age_days=30, usage=UsageCounts()
    )
    assert layered.half_life_days == 30.0
    assert recall.half_life_days == pytest.approx(34.66, abs=0.01)
