"""Encoding of vectors as bytes for storage and as sign bits for search. Pure.

At 32 and 16 bits per dimension the encoding is floats. At 8, 4 and 2 bits (E-083…E-087) it is the minimum and maximum
as float32, and for each dimension the nearest of 2^b steps between them. Engram takes the step below, which costs
fidelity: of random unit vectors it keeps .654 at 2 bits where rounding keeps .873 (E-088). Below 8 bits several
dimensions share a byte, and one more byte has the width and the number of unused places of the last byte, so that any
number of dimensions is restored exactly (D-025).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

WORD_BITS: Final = 64
_FLOATS: Final = {32: np.dtype("<f4"), 16: np.dtype("<f2")}
_HALF_BITS: Final = 16
_ROUGH: Final = (8, 4, 2)
WIDTHS: Final = (32, 16, *_ROUGH)
"""Supported bits per dimension, from exact to rough."""
_BYTE: Final = 8
_RANGE: Final = np.dtype("<f4")
_RANGE_BYTES: Final = 2 * _RANGE.itemsize
_HALF_EXPONENT: Final = np.int16(0x7C00)
_PLACED: Final = np.uint32(0x8FFFE000).astype(np.int32)
"""Positions of sign, exponent and fraction of a half in a float after a shift by 13 bits."""
_BIAS: Final = np.float32(2.0**112)
"""The exponent bias of a float is 127, that of a half 15."""


def encode(vector: NDArray[np.float32], bits: int) -> bytes:
    """Encode one vector, little-endian, at 32 (exact), 16, 8, 4 or 2 bits per dimension.

    The cosine of a unit vector to its encoding is above 0.999999 at 16 bits, about .9999 at 8, .99 at 4 and .87 at 2
    (E-088). Raises `ValueError` for another width.
    """
    if bits in _ROUGH:
        low, high = vector.min(), vector.max()
        steps = (1 << bits) - 1
        placed = (vector - low) * (steps / (high - low)) if high > low else np.zeros_like(vector)
        levels = np.rint(placed).astype(np.uint8)
        head = np.array([low, high], _RANGE).tobytes()
        if bits == _BYTE:
            return head + levels.tobytes()
        together = _BYTE // bits
        empty = -len(levels) % together
        packed = np.zeros((len(levels) + empty) // together, np.uint8)
        for place in range(together):
            shifted = np.pad(levels, (0, empty))[place::together] << (place * bits)
            packed |= shifted.astype(np.uint8)
        return head + bytes((bits << 4 | empty,)) + packed.tobytes()
    return vector.astype(_get_dtype(bits)).tobytes()


def decode_rows(blobs: Sequence[bytes], bits: int, dims: int) -> NDArray[np.float32]:
    """Decode vectors of one width to (n, dims) float32; rough ones are scaled to unit length, which they had.

    Raises `ValueError` for another width, and for bytes that are not such vectors of so many dimensions.
    """
    if bits not in _ROUGH:
        return decode(b"".join(blobs), bits).reshape(len(blobs), dims)
    together = _BYTE // bits
    begins = _RANGE_BYTES + (bits != _BYTE)
    raw = np.frombuffer(b"".join(blobs), np.uint8).reshape(len(blobs), begins + -(-dims // together))
    if bits != _BYTE and (raw[:, _RANGE_BYTES] != (bits << 4 | -dims % together)).any():
        raise ValueError("the head of a vector names another width or number of dimensions")
    ranges = np.ascontiguousarray(raw[:, :_RANGE_BYTES]).view(_RANGE)
    packed, steps = raw[:, begins:], (1 << bits) - 1
    levels = np.stack([packed >> (place * bits) & steps for place in range(together)], axis=2)
    placed = levels.reshape(len(blobs), -1)[:, :dims].astype(np.float32)
    wide = ranges[:, :1] + placed * ((ranges[:, 1:] - ranges[:, :1]) / np.float32(steps))
    length = np.linalg.norm(wide, axis=1, keepdims=True)
    length[length == 0] = 1.0
    return (wide / length).astype(np.float32)


def decode(data: bytes, bits: int) -> NDArray[np.float32]:
    """Decode floats from `encode`, one or several vectors end to end, as one flat float32 array.

    Raises `ValueError` for another width or for bytes with an incomplete value.
    """
    return (
        widen_to_float32(decode_halves(data))
        if bits == _HALF_BITS
        else np.frombuffer(data, _get_dtype(bits)).astype(np.float32)
    )


def decode_halves(data: bytes) -> NDArray[np.float16]:
    """Read 16-bit vectors as a flat view of the bytes, which must not be written."""
    return np.frombuffer(data, np.dtype("<f2"))


def widen_to_float32(numbers: NDArray[np.float16], *, finite: bool = False) -> NDArray[np.float32]:
    """Convert to float32, bit for bit as `astype` does and six times as fast.

    Numpy converts one number after the other. Here the bits of a half are moved to their positions in a float, and a
    multiplication corrects the exponent, exactly, also for subnormal numbers. `finite` means that all are known to be
    finite, which skips the check.
    """
    if not finite and not is_all_finite(numbers):
        return numbers.astype(np.float32)
    wide = numbers.view(np.int16).astype(np.int32)
    wide <<= 13
    wide &= _PLACED
    floats = wide.view(np.float32)
    floats *= _BIAS
    return floats


def is_all_finite(numbers: NDArray[np.float16]) -> bool:
    """Return whether all values are finite numbers."""
    return not ((numbers.view(np.int16) & _HALF_EXPONENT) == _HALF_EXPONENT).any()


def _get_dtype(bits: int) -> np.dtype[np.floating]:
    if bits not in _FLOATS:
        raise ValueError(f"vectors are kept at {sorted(WIDTHS)} bits a dimension, not {bits}")
    return _FLOATS[bits]


def pack_signs(vectors: NDArray[np.float32]) -> NDArray[np.uint64]:
    """Pack the signs of (n, d) vectors into (ceil(d / 64), n) words, one column per vector; set means above zero.

    Unused bits are clear, so the Hamming distance of two columns counts dimensions of unlike sign.
    """
    count, dims = vectors.shape
    packed = np.zeros((count, -(-dims // WORD_BITS) * 8), np.uint8)
    signs = np.packbits(vectors > 0, axis=1)
    packed[:, : signs.shape[1]] = signs
    return np.ascontiguousarray(packed.view("<u8").T)


# Nearest sign patterns: Hamming distances to all vectors, then sums of the query's values for a few of them.


_BLOCK: Final = 32_768
"""Columns compared at once: the block's words and counts stay in the processor's cache."""
_BYTE_WORDS: Final = 3
"""Words whose counts add up in a byte, at most 3 × 64: numpy adds bytes much faster than wider numbers."""
_SAMPLED: Final = 16
"""Sampling rate for the estimate of the bound below which the lowest values lie."""
_SPARE: Final = 8
_VALUES: Final = 1 << _BYTE
_PATTERNS: Final = np.unpackbits(np.arange(_VALUES, dtype=np.uint8)[np.newaxis], axis=0).astype(np.float32)
"""The bits of every byte, (8, 256), the highest first, as `sign_words` packs them."""


def compute_distances(
    bits: NDArray[np.uint64], query: NDArray[np.uint64], barred: NDArray[np.bool_] | None = None
) -> NDArray[np.uint16]:
    """Return the Hamming distance of each column of (w, n) `bits` to the (w,) query; barred columns come last.

    Vectors may have 32,000 dimensions.
    """
    words, count = bits.shape
    out = np.zeros(count, np.uint16) if barred is None else barred.astype(np.uint16)
    if barred is not None:
        np.multiply(out, words * WORD_BITS + 1, out=out)
    width = min(count, _BLOCK)
    unlike, ones, sums = np.empty(width, np.uint64), np.empty(width, np.uint8), np.empty(width, np.uint8)
    for start in range(0, count, _BLOCK):
        block = out[start : start + _BLOCK]
        part = slice(0, len(block))
        for first in range(0, words, _BYTE_WORDS):
            for word in range(first, min(words, first + _BYTE_WORDS)):
                np.bitwise_xor(bits[word, start : start + _BLOCK], query[word], out=unlike[part])
                np.bitwise_count(unlike[part], out=(sums if word == first else ones)[part])
                if word > first:
                    np.add(sums[part], ones[part], out=sums[part])
            np.add(block, sums[part], out=block)
    return out


def find_lowest(values: NDArray[np.uint16], k: int, tie_key: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the positions of the k lowest values, ascending by position; among equals the highest `tie_key` wins."""
    if k >= len(values):
        return np.arange(len(values))
    low = _find_candidates(values, k)
    lows = values.take(low)
    threshold = int(np.bincount(lows).cumsum().searchsorted(k))
    chosen = low[lows <= threshold]
    surplus = len(chosen) - k
    if surplus:
        ties = (values.take(chosen) == threshold).nonzero()[0]
        keep = np.ones(len(chosen), np.bool_)
        keep[ties[np.argsort(tie_key[chosen[ties]], kind="stable")[:surplus]]] = False
        chosen = chosen[keep]
    return chosen


def _find_candidates(values: NDArray[np.uint16], k: int) -> NDArray[np.int64]:
    """Return the positions of at least the k lowest values and all values equal to them, about 2 k by a sample."""
    sample = values[::_SAMPLED]
    rank = 2 * k // _SAMPLED + _SPARE
    if rank < len(sample):
        bound = int(np.bincount(sample).cumsum().searchsorted(rank))
        low = (values <= bound).nonzero()[0]
        if len(low) >= k:
            return low
    return np.arange(len(values))


def score_agreement(words: NDArray[np.uint64], vector: NDArray[np.float32]) -> NDArray[np.float32]:
    """Add up the vector's values where each of (w, n) sign patterns is set: higher is nearer.

    This approximates the cosine with signs in place of the stored values, where a Hamming distance uses signs for both
    vectors: of the ten nearest of 18,800 MiniLM vectors it finds .995 among its first 100, a Hamming distance among its
    first 283. A table has the sums of eight bits at a time.
    """
    count = words.shape[1]
    packed = np.ascontiguousarray(words.T).view(np.uint8).reshape(count, -1)
    padded = np.zeros(packed.shape[1] * _BYTE, np.float32)
    padded[: len(vector)] = vector
    sums = padded.reshape(-1, _BYTE) @ _PATTERNS
    at = packed + np.arange(0, sums.size, _VALUES, dtype=np.intp)
    looked_up: NDArray[np.float32] = sums.take(at, mode="wrap")  # "wrap" skips the bounds check
    ones = np.ones(len(sums), np.float32)
    return looked_up @ ones  # a product adds up rows faster than a reduction does


# Distances between vectors of different precision, in which the exact copy of a text comes first. Pure.


_EXACT: Final = 32
_FULL: Final = 16
"""From this width on a vector counts as exact: it keeps a cosine of .999999."""
_PENALTY_POWER: Final = 1.5
_PENALTY: Final = 0.01
_SPREAD_POWER: Final = 0.5
_SPREAD_LEAST, _SPREAD_MOST = 0.05, 10.0
_SPREAD: Final = 0.3
"""Sigma of an exact number: above half the range of a unit vector's numbers, so that roughness decides, not chance."""
_REACH: Final = 15.0


def compute_divisor(*bits: int) -> float:
    """Return the divisor of a cosine of such vectors: 1 + .01 · (P − 1), P = max (32 / bits)^1.5 (E-090).

    From 16 bits on nothing is lost that a search could notice, and nothing is divided.

    >>> [round(compute_divisor(32, width), 3) for width in (32, 16, 8, 4, 2)]
    [1.0, 1.0, 1.07, 1.216, 1.63]
    """
    least = min(bits)
    if least >= _FULL:
        return 1.0
    return 1.0 + _PENALTY * ((_EXACT / least) ** _PENALTY_POWER - 1.0)


def compute_distance(cosine: float, *bits: int) -> float:
    """Return engram's distance: 1 less the divided cosine, in [0, 2] (E-090)."""
    return 1.0 - min(1.0, max(-1.0, cosine / compute_divisor(*bits)))


def compute_spread(bits: int, spread: float = _SPREAD) -> float:
    """Return sigma of a number stored with so many bits: sigma · (32 / bits)^½, within [.05, 10] (E-091).

    >>> [round(compute_spread(width), 3) for width in (32, 8, 2)]
    [0.3, 0.6, 1.2]
    """
    return min(_SPREAD_MOST, max(_SPREAD_LEAST, spread * (_EXACT / bits) ** _SPREAD_POWER))


def compute_fisher_rao(
    one: NDArray[np.float32],
    other: NDArray[np.float32],
    bits: tuple[int, int] = (_EXACT, _EXACT),
    spread: float = _SPREAD,
) -> float:
    """Return the Fisher–Rao distance of two vectors as products of normal distributions (E-091).

    d² = Σ 2·arcosh²(1 + ((μ₁ − μ₂)² + 2(σ₁ − σ₂)²) / (4·σ₁·σ₂)); at equal widths it is the plain distance.
    """
    first, second = (compute_spread(width, spread) for width in bits)
    apart = (one.astype(np.float64) - other) ** 2 + 2.0 * (first - second) ** 2
    steps = np.arccosh(1.0 + apart / (4.0 * first * second))
    return float(np.sqrt(2.0 * np.sum(steps**2)))


def to_similarity(apart: float) -> float:
    """Convert a Fisher–Rao distance to a similarity in (0, 1]: e^(−d / 15) (E-091)."""
    return float(np.exp(-apart / _REACH))


# The precision of a memory's vector in bits, by the memory's retention (E-082…E-086).


EXACT: Final = 32
"""Unchanged, at the width of the setting `vector_bits`."""
FORGOTTEN: Final = 0
"""Retention so low that conversion is not worth the work: left unchanged, and not deleted (E-086)."""
TIERS: Final = ((0.8, EXACT), (0.5, 8), (0.2, 4), (0.05, 2))
"""Lower bounds of retention, with the bits from there on."""


def choose_bits(retention: float) -> int:
    """Return the bits of a tier, `FORGOTTEN` below all of them.

    >>> [choose_bits(retention) for retention in (1.0, 0.8, 0.5, 0.2, 0.05)]
    [32, 8, 4, 2, 0]
    """
    return next((bits for above, bits in TIERS if retention > above), FORGOTTEN)
