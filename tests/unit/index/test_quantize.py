"""Vectors as bytes and as sign bits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from credenda.index.quantize import decode, encode, pack_signs, widen_to_float32

NUMBERS = np.random.default_rng(7)


@pytest.mark.requirement("E-082")
def test_32_bits_keep_a_vector_exactly() -> None:
    vector = NUMBERS.standard_normal(384).astype(np.float32)
    data = encode(vector, 32)
    assert len(data) == 1536
    assert np.array_equal(decode(data, 32), vector)


def test_16_bits_keep_the_direction() -> None:
    for _ in range(20):
        vector = NUMBERS.standard_normal(384).astype(np.float32)
        vector /= np.linalg.norm(vector)
        again = decode(encode(vector, 16), 16)
        assert again.dtype == np.float32
        assert float(again @ vector) / float(np.linalg.norm(again)) > 0.999999


def test_every_half_is_widened_to_the_float_that_numpy_gives() -> None:
    halves = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    finite = halves[np.isfinite(halves)]
    for some in (finite, halves):
        assert widen_to_float32(some).tobytes() == some.astype(np.float32).tobytes()


def test_bytes_are_little_endian_everywhere() -> None:
    assert encode(np.array([1.0, -2.0], np.float32), 32).hex() == "0000803f000000c0"
    assert encode(np.array([1.0, -2.0], np.float32), 16).hex() == "003c00c0"


@pytest.mark.parametrize("bits", [2, 8])
def test_rough_vectors_are_not_read_as_floats(bits: int) -> None:
    with pytest.raises(ValueError, match="bits a dimension"):
        decode(bytes(8), bits)


@pytest.mark.parametrize("bits", [0, 7, 64])
def test_other_widths_are_refused(bits: int) -> None:
    with pytest.raises(ValueError, match="bits a dimension"):
        encode(np.zeros(4, np.float32), bits)
    with pytest.raises(ValueError, match="bits a dimension"):
        decode(bytes(8), bits)


def test_a_torn_vector_is_refused() -> None:
    with pytest.raises(ValueError, match="multiple"):
        decode(bytes(5), 16)


@given(st.integers(1, 200), st.integers(1, 5))
def test_words_count_unlike_signs(dims: int, count: int) -> None:
    vectors = np.random.default_rng(dims * 10 + count).standard_normal((count, dims)).astype(np.float32)
    words = pack_signs(vectors)
    assert words.shape == (-(-dims // 64), count)
    assert words.dtype == np.uint64
    for one in range(count):
        for other in range(count):
            unlike = int(np.bitwise_count(words[:, one] ^ words[:, other]).sum())
            assert unlike == int(((vectors[one] > 0) != (vectors[other] > 0)).sum())
