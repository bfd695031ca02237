"""Vectors as bytes to store and as sign bits to search. Pure."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["WORD_BITS", "decode", "encode", "sign_words"]

WORD_BITS: Final = 64
_FLOATS: Final = {32: np.dtype("<f4"), 16: np.dtype("<f2")}


def encode(vector: NDArray[np.float32], bits: int) -> bytes:
    """Write one vector, little-endian, at 32 (exact) or 16 bits a dimension.

    At 16 bits a unit vector keeps a cosine above 0.999999 to itself. Raises `ValueError` for another width.
    """
    return vector.astype(_dtype(bits)).tobytes()


def decode(data: bytes, bits: int) -> NDArray[np.float32]:
    """Read what `encode` wrote, or several such vectors end to end, as one flat float32 array.

    Raises `ValueError` for another width or when the bytes are no whole number of values.
    """
    return np.frombuffer(data, _dtype(bits)).astype(np.float32)


def _dtype(bits: int) -> np.dtype[np.floating]:
    if bits not in _FLOATS:
        raise ValueError(f"vectors are kept at {sorted(_FLOATS)} bits a dimension, not {bits}")
    return _FLOATS[bits]


def sign_words(vectors: NDArray[np.float32]) -> NDArray[np.uint64]:
    """Pack the signs of (n, d) vectors into (ceil(d / 64), n) words, a column a vector; set means above zero.

    Unused bits are clear, so the Hamming distance of two columns counts dimensions of unlike sign.
    """
    count, dims = vectors.shape
    packed = np.zeros((count, -(-dims // WORD_BITS) * 8), np.uint8)
    signs = np.packbits(vectors > 0, axis=1)
    packed[:, : signs.shape[1]] = signs
    return np.ascontiguousarray(packed.view("<u8").T)
