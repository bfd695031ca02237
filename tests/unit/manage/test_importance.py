"""Nine factors, their weights, and that nothing is fed back."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from credenda.manage.lifecycle import WEIGHTS, UsageRecord, compute_activation, compute_importance
from credenda.model.memory import Layer
from credenda.text.sentiment import score_valence

PLAIN = UsageRecord(base=0.5, layer=Layer.EPISODIC, trust=1.0, age_days=100.0)
UNIT = st.floats(0, 1)


@pytest.mark.requirement("D-022", "E-033")
def test_there_are_nine_factors_whose_weights_sum_to_one() -> None:
    assert len(WEIGHTS) == 9
    assert math.fsum(WEIGHTS.values()) == pytest.approx(1.0)
    assert set(compute_importance(PLAIN).factors) == set(WEIGHTS)
    published = {"base": 0.25, "access": 0.12, "recency": 0.12, "emotion": 0.08, "stability": 0.08}
    published |= {"layer": 0.15, "trust": 0.10, "confirmation": 0.10}
    assert {name: WEIGHTS[name] / 0.9 for name in published} == pytest.approx(published)


@pytest.mark.parametrize(
    ("factor", "less", "more"),
    [
        pytest.param("base", PLAIN, replace(PLAIN, base=0.9), marks=pytest.mark.requirement("E-024")),
        pytest.param(
            "access",
            replace(PLAIN, uses=(5.0,)),
            replace(PLAIN, uses=(5.0, 6.0, 7.0)),
            marks=pytest.mark.requirement("E-025"),
        ),
        pytest.param(
            "recency", replace(PLAIN, uses=(50.0,)), replace(PLAIN, uses=(5.0,)), marks=pytest.mark.requirement("E-026")
        ),
        pytest.param("recency", replace(PLAIN, trust=0.5), PLAIN, marks=pytest.mark.requirement("E-026")),
        pytest.param("emotion", PLAIN, replace(PLAIN, valence=-0.8), marks=pytest.mark.requirement("E-027")),
        pytest.param(
            "stability",
            replace(PLAIN, uses=(1.0, 1.2, 1.4, 1.6)),
            replace(PLAIN, uses=(1.0, 25.0, 50.0, 75.0)),
            marks=pytest.mark.requirement("E-028"),
        ),
        pytest.param("layer", PLAIN, replace(PLAIN, layer=Layer.SEMANTIC), marks=pytest.mark.requirement("E-029")),
        pytest.param("trust", replace(PLAIN, trust=0.5), PLAIN, marks=pytest.mark.requirement("E-030")),
        pytest.param("confirmation", PLAIN, replace(PLAIN, confirmations=3), marks=pytest.mark.requirement("E-031")),
        pytest.param(
            "activation",
            replace(PLAIN, uses=(90.0,)),
            replace(PLAIN, uses=(90.0, 1.0)),
            marks=pytest.mark.requirement("E-032"),
        ),
    ],
)
def test_each_factor_lifts_the_score(factor: str, less: UsageRecord, more: UsageRecord) -> None:
    one, other = compute_importance(less), compute_importance(more)
    assert one.factors[factor] < other.factors[factor]
    assert one.terms[factor] < other.terms[factor]


@pytest.mark.requirement("E-036", "E-038")
def test_feeling_and_layers_weigh_in_the_published_proportions() -> None:
    """Published are .3 of the valence, and 0, .1, .3, .2 and 0 of the layers; a factor reaches one."""
    for valence in (-1.0, -0.4, 0.0, 0.7):
        assert compute_importance(replace(PLAIN, valence=valence)).factors["emotion"] * 0.3 == pytest.approx(
            0.3 * abs(valence)
        )
    found = {layer.value: compute_importance(replace(PLAIN, layer=layer)).factors["layer"] * 0.3 for layer in Layer}
    published = {"working": 0.0, "episodic": 0.1, "semantic": 0.3, "procedural": 0.2, "codebase": 0.0}
    assert found == pytest.approx(published)


@pytest.mark.requirement("E-032")
def test_activation_is_the_logarithm_of_summed_powers() -> None:
    assert compute_activation([1.0, 4.0, 16.0]) == pytest.approx(math.log(1 + 0.5 + 0.25))
    assert compute_activation([]) == -math.inf
    assert compute_importance(PLAIN).factors["activation"] == 0.0


@pytest.mark.requirement("D-021")
def test_computing_it_again_changes_nothing() -> None:
    record = replace(PLAIN, base=0.9)
    scores = {compute_importance(record).score for _ in range(5)}
    assert len(scores) == 1


@given(base=UNIT, trust=UNIT, age=st.floats(0, 4_000), uses=st.lists(st.floats(0, 4_000), max_size=40))
def test_every_factor_lies_between_nought_and_one(base: float, trust: float, age: float, uses: list[float]) -> None:
    record = UsageRecord(base=base, layer=Layer.SEMANTIC, trust=trust, age_days=age, uses=tuple(uses), valence=-1.0)
    found = compute_importance(record)
    assert all(0 <= value <= 1 for value in found.factors.values())
    assert found.score == pytest.approx(sum(found.terms.values()))


@pytest.mark.requirement("E-027")
@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("We got married in June and it was the best day.", 0.6, 1),
        ("My father died last week.", -1, -0.6),
        ("I'm not happy with the flat.", -0.6, -0.1),
        ("I am very happy here.", 0.7, 1),
        ("The API uses JWT tokens on hardware that is likely slow.", 0, 0),
        ("", 0, 0),
    ],
)
def test_feeling_is_heard_in_words(text: str, low: float, high: float) -> None:
    assert low <= score_valence(text) <= high
