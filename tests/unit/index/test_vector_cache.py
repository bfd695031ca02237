"""Vectors kept at hand are those of the store, or none."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from credenda.index.resident import ResidentIndex, VectorCache, read_stored_vectors

from .build import FakeStore, event, folded, vector

Rows = NDArray[np.int64]


def rows_of(*numbers: int) -> Rows:
    return np.array(numbers, np.int64)


def vectors_of(*numbers: int, dims: int = 4) -> NDArray[np.float32]:
    return np.repeat(np.array(numbers, np.float32)[:, np.newaxis], dims, axis=1)


def test_what_was_kept_is_held_and_nothing_else() -> None:
    hot = VectorCache()
    hot.keep(rows_of(3, 9), vectors_of(3, 9))
    matrix, held = hot.take(rows_of(9, 4, 3), 4)
    assert held.tolist() == [True, False, True]
    assert matrix[held].tolist() == vectors_of(9, 3).tolist()
    hot.forget(rows_of(3))
    assert hot.take(rows_of(3, 9), 4)[1].tolist() == [False, True]


def test_other_dimensions_are_another_matter() -> None:
    hot = VectorCache()
    hot.keep(rows_of(1), vectors_of(1))
    assert not hot.take(rows_of(1), 8)[1].any()
    hot.keep(rows_of(2), vectors_of(2, dims=8))
    assert hot.take(rows_of(1, 2), 8)[1].tolist() == [False, True]


def test_nothing_is_held_before_anything_was_kept() -> None:
    hot = VectorCache()
    hot.keep(rows_of(), vectors_of())
    hot.forget(rows_of(1))
    assert hot.nbytes == 0
    assert not hot.take(rows_of(0, 1), 4)[1].any()


def test_what_a_view_read_does_not_take_the_place_of_what_is_held() -> None:
    hot = VectorCache()
    hot.keep(rows_of(3), vectors_of(7))
    hot.fill(rows_of(3, 4), vectors_of(1, 4).astype(np.float16))
    assert hot.take(rows_of(3, 4), 4)[0].tolist() == vectors_of(7, 4).tolist()


def _from_an_image(store: FakeStore) -> ResidentIndex:
    built = folded(*store.documents, vectors=store.vectors)
    return ResidentIndex.from_blobs(built.to_blobs())


def test_the_second_search_reads_all_vectors_and_the_next_none() -> None:
    documents = [event(number, "tea") for number in range(1, 31)]
    store = FakeStore(documents, [vector(one.code) for one in documents])
    index = _from_an_image(store)
    read: list[int] = []
    for row in (4, 9, 20):
        before = store.vectors_read
        rows, found = read_stored_vectors(index, store.reader(), rows_of(row))
        assert rows.tolist() == [row]
        assert np.array_equal(found[0], np.frombuffer(store.vectors[row].data, np.float16))
        read.append(store.vectors_read - before)
    assert read == [1, 29, 0]


def test_a_large_index_is_never_read_whole() -> None:
    hot = VectorCache(rows_max=10)
    assert [hot.is_due(11) for _ in range(3)] == [False] * 3
    small = VectorCache(rows_max=10)
    assert [small.is_due(10) for _ in range(3)] == [False, True, False]


@given(st.lists(st.lists(st.integers(0, 5_000), min_size=1, max_size=40, unique=True), max_size=12))
def test_whatever_is_held_is_right_and_the_bound_holds(batches: list[list[int]]) -> None:
    hot = VectorCache(rows_max=1_500)
    for batch in batches:
        hot.keep(rows_of(*batch), vectors_of(*(number % 1_000 for number in batch)))
    everything = np.arange(5_001)
    matrix, held = hot.take(everything, 4)
    assert (matrix[held][:, 0] == everything[held] % 1_000).all()
    assert held.sum() <= 1_500
    assert hot.nbytes <= 1_500 * (8 + 4 * 2)
