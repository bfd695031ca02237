"""Nominating by sign bits, against exact Hamming distances and against true neighbours."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from credenda.index.quantize import compute_distances, find_lowest, pack_signs, score_agreement
from credenda.index.resident import ResidentIndex
from credenda.storage.store import Delta, DocumentState, IndexPosition

from .build import event, folded, vector


def index_of(vectors: NDArray[np.float32]) -> ResidentIndex:
    stored = [vector(event(row + 1, "").code, values, 32) for row, values in enumerate(vectors)]
    return folded(*(event(row + 1, "") for row in range(len(vectors))), vectors=stored)


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 60), st.integers(1, 150), st.integers(0, 70), st.integers(0, 1_000))
def test_nearest_are_those_of_least_hamming_distance(count: int, dims: int, k: int, seed: int) -> None:
    draw = np.random.default_rng(seed)
    vectors = draw.standard_normal((count, dims)).astype(np.float32)
    query = draw.standard_normal(dims).astype(np.float32)
    mask = draw.random(count) < 0.7
    index = index_of(vectors)
    apart = ((vectors > 0) != (query > 0)).sum(axis=1)
    for usable, found in (
        (np.ones(count, np.bool_), index.nearest(query, k)),
        (mask, index.nearest(query, k, mask)),
    ):
        order = [row for row in np.lexsort((-index.codes, apart)).tolist() if usable[row]]
        assert found.tolist() == sorted(order[:k])


def test_distances_hold_across_blocks() -> None:
    draw = np.random.default_rng(1)
    vectors = draw.standard_normal((70_000, 65)).astype(np.float32)
    words = pack_signs(vectors)
    query = words[:, 69_999]
    found = compute_distances(words, query)
    assert found.dtype == np.uint16
    assert found.tolist() == ((vectors > 0) != (vectors[69_999] > 0)).sum(axis=1).tolist()
    assert find_lowest(found, 1, np.arange(70_000)).tolist() == [69_999]


def test_barred_columns_lie_beyond_the_farthest_of_the_others() -> None:
    draw = np.random.default_rng(3)
    words = pack_signs(draw.standard_normal((40_000, 130)).astype(np.float32))
    farthest = ~words[:, 0]  # as unlike as bits can be
    barred = draw.random(40_000) < 0.5
    plain, found = compute_distances(words, farthest), compute_distances(words, farthest, barred)
    assert plain.max() == 192
    assert np.array_equal(found[~barred], plain[~barred])
    assert found[barred].min() > 192


def test_true_neighbours_are_nominated() -> None:
    draw = np.random.default_rng(2)
    centres = draw.standard_normal((100, 384)).astype(np.float32)
    noise = draw.standard_normal((4_000, 384)).astype(np.float32)
    vectors = (centres[draw.integers(0, 100, 4_000)] + 0.8 * noise).astype(np.float32)
    index = index_of(vectors)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    kept: list[float] = []
    for _ in range(20):
        query = centres[draw.integers(0, 100)] + 0.8 * draw.standard_normal(384).astype(np.float32)
        best = np.argsort(-(unit @ query))[:10]
        kept.append(float(np.isin(best, index.nearest(query, 500)).mean()))
    assert np.mean(kept) >= 0.99


def test_rows_without_a_vector_and_gone_rows_are_never_nominated() -> None:
    index = folded(*(event(number, "tea") for number in range(1, 5)), vectors=[vector(event(2, "").code)])
    index.fold(Delta(heads=IndexPosition(4, 0, 1), vectors=(vector(event(4, "").code),)))
    index.fold(Delta(heads=IndexPosition(4, 1, 1), states=((event(2, "").code, DocumentState.GONE),)))
    assert index.nearest(np.ones(70, np.float32), 10).tolist() == [3]


def test_among_equals_the_newest_wins() -> None:
    same = np.tile(np.array([1, -1, 1, 1], np.float32), (9, 1))
    assert index_of(same).nearest(same[0], 3).tolist() == [6, 7, 8]


@pytest.mark.parametrize("k", [0, 1, 3, 9])
def test_lowest_gives_exactly_k(k: int) -> None:
    assert len(find_lowest(np.array([5, 5, 1, 5, 2, 5, 5], np.uint16), k, np.arange(7))) == min(k, 7)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 5_000), st.integers(1, 600), st.integers(1, 400), st.integers(0, 1_000))
def test_the_lowest_are_those_of_a_full_sort(count: int, k: int, spread: int, seed: int) -> None:
    draw = np.random.default_rng(seed)
    values = draw.integers(0, spread, count).astype(np.uint16)
    if seed % 2:  # a sample of every sixteenth guesses badly where low values stand together
        values.sort()
    tie_key = draw.permutation(count)
    expected = np.sort(np.lexsort((-tie_key, values))[:k])
    assert find_lowest(values, k, tie_key).tolist() == expected.tolist()


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 60), st.integers(1, 150), st.integers(1, 70), st.integers(0, 1_000))
def test_the_likeliest_are_those_whose_set_bits_add_up_to_most(count: int, dims: int, k: int, seed: int) -> None:
    draw = np.random.default_rng(seed)
    vectors = draw.standard_normal((count, dims)).astype(np.float32)
    query = draw.standard_normal(dims).astype(np.float32)
    sums = (vectors > 0) @ query
    assert np.allclose(score_agreement(pack_signs(vectors), query), sums, atol=1e-4)
    rows = np.flatnonzero(draw.random(count) < 0.7)
    found = index_of(vectors).likeliest(query, rows, k)
    assert found.tolist() == sorted(found.tolist())
    assert set(found.tolist()) <= set(rows.tolist())
    assert len(found) == min(k, len(rows))
    left = np.setdiff1d(rows, found)
    assert not len(left) or sums[left].max() <= sums[found].min() + 1e-4


def test_a_second_look_finds_more_of_the_true_neighbours() -> None:
    draw = np.random.default_rng(5)
    middles = draw.standard_normal((40, 96))
    vectors = (middles[draw.integers(0, 40, 2_000)] + 0.9 * draw.standard_normal((2_000, 96))).astype(np.float32)
    index, counted, weighed = index_of(vectors), 0, 0
    for query in (middles[:20] + 0.9 * draw.standard_normal((20, 96))).astype(np.float32):
        true = set(np.argsort(-(vectors @ query) / np.linalg.norm(vectors, axis=1))[:10].tolist())
        counted += len(true & set(index.nearest(query, 60).tolist()))
        weighed += len(true & set(index.likeliest(query, index.nearest(query, 400), 60).tolist()))
    assert weighed > counted
    assert weighed >= 180
