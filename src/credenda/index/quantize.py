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

__all__ = [
    "WIDTHS",
    "WORD_BITS",
    "decode",
    "decode_halves",
    "decode_rows",
    "encode",
    "is_all_finite",
    "pack_signs",
    "widen_to_float32",
]

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
    return _encode_rough(vector, bits) if bits in _ROUGH else vector.astype(_get_dtype(bits)).tobytes()


def _encode_rough(vector: NDArray[np.float32], bits: int) -> bytes:
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
