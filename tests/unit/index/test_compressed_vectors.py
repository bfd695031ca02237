"""Vectors at few bits: their sizes, what they keep, and that the exact copy comes first."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from credenda.index.quantize import (
    compute_distance,
    compute_divisor,
    compute_fisher_rao,
    compute_spread,
    decode_rows,
    encode,
    to_similarity,
)


def units(count: int, dims: int, seed: int = 1) -> NDArray[np.float32]:
    drawn = np.random.default_rng(seed).standard_normal((count, dims)).astype(np.float32)
    return drawn / np.linalg.norm(drawn, axis=1, keepdims=True)


def copies(vectors: NDArray[np.float32], bits: int) -> NDArray[np.float32]:
    return decode_rows([encode(one, bits) for one in vectors], bits, vectors.shape[1])


@pytest.mark.requirement("E-082", "E-083", "E-084", "E-085", "E-087")
@pytest.mark.parametrize(("bits", "size"), [(32, 1536), (8, 392), (4, 201), (2, 105)])
def test_sizes_are_the_published_ones(bits: int, size: int) -> None:
    assert len(encode(units(1, 384)[0], bits)) == size


@pytest.mark.requirement("E-088", "E-083", "E-084", "E-085")
@pytest.mark.parametrize(("bits", "least"), [(32, 1.0), (16, 0.999999), (8, 0.9999), (4, 0.99), (2, 0.86)])
def test_rounding_keeps_more_than_was_published(bits: int, least: float) -> None:
    vectors = units(200, 384)
    kept = np.sum(vectors * copies(vectors, bits), axis=1)
    assert float(kept.mean()) >= least - 1e-6


@pytest.mark.requirement("D-025")
@given(st.integers(1, 41), st.sampled_from([8, 4, 2]), st.integers(0, 99))
def test_no_number_of_dimensions_loses_its_end(dims: int, bits: int, seed: int) -> None:
    vectors = units(3, dims, seed)
    back = copies(vectors, bits)
    assert back.shape == vectors.shape
    assert np.isfinite(back).all()
    for one, found in zip(vectors.astype(float), back, strict=True):
        low, steps = one.min(), (1 << bits) - 1
        step = (one.max() - low) / steps
        slow = np.array([low + round((number - low) / step) * step if step else low for number in one])
        assert np.abs(slow - one).max() <= step / 2 + 1e-6
        assert np.abs(found * np.linalg.norm(slow) - one).max() <= step * 0.51 + 1e-5


@pytest.mark.requirement("D-025")
def test_a_rough_vector_is_never_read_as_another() -> None:
    rough = encode(units(1, 384)[0], 4)
    with pytest.raises(ValueError, match=r"dim|shape"):
        decode_rows([rough], 4, 383)
    for bits, dims in ((2, 384), (8, 384), (16, 384), (32, 384)):
        with pytest.raises(ValueError):  # noqa: PT011 - numpy says it in several ways
            decode_rows([rough], bits, dims)
    with pytest.raises(ValueError, match="not 7"):
        encode(units(1, 8)[0], 7)


def test_a_vector_of_equal_numbers_and_of_none_is_kept() -> None:
    even = np.full(8, 8**-0.5, np.float32)
    for bits in (8, 4, 2):
        assert copies(even[np.newaxis], bits)[0] == pytest.approx(even)


@pytest.mark.requirement("E-090")
def test_the_divisors_are_the_published_ones() -> None:
    assert [round(compute_divisor(32, bits), 3) for bits in (8, 4, 2)] == [1.07, 1.216, 1.63]
    assert compute_distance(1.0, 32, 32) == 0.0
    assert compute_distance(1.0, 32, 2) == pytest.approx(1 - 1 / 1.63)


@pytest.mark.requirement("E-091")
def test_at_equal_width_it_is_the_plain_fisher_rao_distance() -> None:
    one, other = np.array([0.2], np.float32), np.array([0.5], np.float32)
    sigma = compute_spread(32)
    plain = np.sqrt(2) * np.arccosh(1 + (0.3**2) / (4 * sigma**2))
    assert compute_fisher_rao(one, other) == pytest.approx(float(plain), rel=1e-5)
    assert compute_fisher_rao(one, one) == 0.0
    assert [to_similarity(distance) for distance in (0.0, 15.0)] == pytest.approx([1.0, np.exp(-1)])
    assert [compute_spread(bits, 1.0) for bits in (32, 8, 2)] == pytest.approx([1.0, 2.0, 4.0])  # κ is a half
    assert (compute_spread(32, 1e-9), compute_spread(2, 100.0)) == (0.05, 10.0)


@pytest.mark.requirement("E-092")
@pytest.mark.parametrize("bits", [8, 4, 2])
def test_the_exact_copy_always_beats_its_rough_copies(bits: int) -> None:
    vectors = units(300, 384, seed=bits)
    questions = vectors + 0.3 * units(300, 384, seed=99)
    questions /= np.linalg.norm(questions, axis=1, keepdims=True)
    for asked in (vectors, questions):
        for question, exact, rough in zip(asked, vectors, copies(vectors, bits), strict=True):
            near = compute_distance(float(question @ exact), 32, 32)
            assert near < compute_distance(float(question @ rough), 32, bits)
            assert compute_fisher_rao(question, exact) < compute_fisher_rao(question, rough, (32, bits))
