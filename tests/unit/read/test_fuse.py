"""Fusing signs into one relevance, against plain reckonings."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from credenda.read.candidates import Floats
from credenda.read.score import compute_reciprocal_ranks, compute_z_scores, fuse_ranks, fuse_scores, pick_best_of_owner
from credenda.read.weights import load_weights

from .build import candidates

MINILM = load_weights().engine("minilm")
SCORES = npst.arrays(np.float32, st.integers(1, 30), elements=st.floats(0, 50, width=32))


def floats(*values: float) -> Floats:
    return np.array(values, np.float32)


@given(SCORES)
def test_z_scores_have_no_mean_and_unit_spread_or_are_all_zero(values: Floats) -> None:
    z = compute_z_scores(values)
    if values.std() > 1e-3:
        assert abs(float(z.mean())) < 1e-2
        assert abs(float(z.std()) - 1) < 1e-2
    assert np.isfinite(z).all()


def test_what_is_not_known_counts_as_average() -> None:
    z = compute_z_scores(floats(1, 2, 99), np.array([True, True, False]))
    assert z.tolist() == [-1, 1, 0]


def test_the_default_adds_weighted_standard_scores() -> None:
    tuned = load_weights().relevance
    found = candidates(2, words=floats(3, 1), length=floats(100, 0), slot=np.array([False, True]))
    fused = fuse_scores(found, load_weights(), MINILM)
    expected = [tuned.words + tuned.length, -tuned.words + tuned.slot]
    assert fused.relevance == pytest.approx(expected)
    assert {"words", "session", "length", "speaker", "slot", "time"} <= fused.terms.keys()


def test_every_summand_is_named() -> None:
    found = candidates(3, words=floats(1, 2, 3), cosine=floats(0.1, 0.2, 0.3), meaning=floats(1, 0, 2))
    fused = fuse_scores(found, load_weights(), MINILM)
    assert sum(fused.terms.values()) == pytest.approx(fused.relevance)


def test_the_speaker_prior_is_as_large_as_the_speaker_fits() -> None:
    by_named = np.array([True, False])
    blind = fuse_scores(candidates(2, by_named=by_named, speaker_fit=1.0), load_weights(), MINILM).relevance
    unfit = fuse_scores(candidates(2, by_named=by_named, speaker_fit=0.0), load_weights(), MINILM).relevance
    assert blind[0] - blind[1] == pytest.approx(load_weights().relevance.speaker)
    assert unfit[0] == unfit[1]


def test_the_best_of_many_passages_is_taken_down_for_its_luck() -> None:
    fused = fuse_scores(candidates(3, owners=np.array([7, 7, 8])), load_weights(), MINILM)
    assert fused.relevance[0] - fused.relevance[2] == pytest.approx(-load_weights().relevance.passages * np.log(2))


@pytest.mark.requirement("X-004", "R-117")
@given(SCORES)
def test_reciprocal_ranks_match_a_plain_reckoning(scores: Floats) -> None:
    listed = scores > 0
    ranks = compute_reciprocal_ranks(scores, listed, 60)
    order = sorted(np.flatnonzero(listed).tolist(), key=lambda at: (-scores[at], at))
    expected = np.zeros(len(scores))
    for rank, at in enumerate(order, 1):
        expected[at] = 1 / (60 + rank)
    assert ranks == pytest.approx(expected)


@pytest.mark.requirement("D-001", "X-004")
def test_the_first_of_every_list_fuses_to_one() -> None:
    both = candidates(2, own_words=floats(2, 1), cosine=floats(0.9, 0.8))
    assert fuse_ranks(both, load_weights()).relevance[0] == pytest.approx(1)
    words = candidates(2, own_words=floats(2, 0))
    assert fuse_ranks(words, load_weights()).relevance.tolist() == pytest.approx([1, 0])


@pytest.mark.requirement("D-002", "R-120")
def test_a_document_on_no_list_gets_nothing() -> None:
    found = candidates(3, own_words=floats(2, 0, 0), cosine=floats(0.9, 0.8, 0.1))
    relevance = fuse_ranks(found, load_weights()).relevance
    assert relevance[1] > 0
    assert relevance[2] == 0


def test_an_event_stands_with_its_best_passage() -> None:
    found = candidates(3, owners=np.array([5, 5, 6]))
    assert pick_best_of_owner(found, floats(1, 3, 2)).tolist() == [1, 2]


def test_a_tie_goes_to_the_newer_document() -> None:
    assert pick_best_of_owner(candidates(2), floats(1, 1)).tolist() == [1, 0]


def test_no_candidates_fuse_to_nothing() -> None:
    empty = candidates(0)
    assert (
        len(fuse_scores(empty, load_weights(), MINILM).relevance)
        == len(fuse_ranks(empty, load_weights()).relevance)
        == 0
    )


def test_speech_without_vectors_has_no_share_of_meaning() -> None:
    assert "meaning" not in fuse_scores(candidates(2), load_weights(), MINILM).terms
    assert "meaning" in fuse_scores(candidates(2, cosine=floats(0, 1)), load_weights(), MINILM).terms
