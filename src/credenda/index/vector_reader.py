"""The vectors of some rows of an index: from the cache if compared recently, else from the store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from credenda.errors import Corrupt
from credenda.index.quantize import compute_divisor, decode_halves, decode_rows, widen_to_float32
from credenda.index.resident import ResidentIndex
from credenda.index.vector_cache import HOT_BITS
from credenda.storage.damage import IMPOSSIBLE, is_sound_vector, make_damage_error, name_document
from credenda.storage.store import Reader

_BULK: Final = 2_000
"""Vectors read in one step when all are read."""

Floats = NDArray[np.float32]
Integers = NDArray[np.int64]


def read_stored_vectors(index: ResidentIndex, reader: Reader, rows: Integers) -> tuple[Integers, Floats]:
    """Return the rows among these with a stored vector, and the vectors, (n, d), from the cache or the store.

    Vectors with few bits are scaled by `frqad.divisor`, so that a cosine with them counts for less: of two copies of a
    text the exact one comes first.
    """
    if index.hot.is_due(len(index)):
        _read_all(index, reader)
    return _read_vectors(index, reader, rows)


def _read_all(index: ResidentIndex, reader: Reader) -> None:
    """Read all vectors of an index into the cache; the last rows first, so that the space is allocated once."""
    rows = np.flatnonzero(index.has_vector)
    for stop in range(len(rows), 0, -_BULK):
        _read_vectors(index, reader, rows[max(0, stop - _BULK) : stop])


def _read_vectors(index: ResidentIndex, reader: Reader, rows: Integers) -> tuple[Integers, Floats]:
    matrix, held = index.hot.take(rows, index.dims)
    if held.all():
        return rows, widen_to_float32(matrix, finite=index.hot.finite)
    missing = np.flatnonzero(~held)
    missing = missing[np.argsort(index.codes[rows[missing]])]
    codes = index.codes[rows[missing]]
    stored = reader.vector_data(codes.tolist(), index.model_id or "")
    odd: list[tuple[Integers, Floats]] = []
    if stored:
        found, widths, data = zip(*stored, strict=True)
        places = missing[np.searchsorted(codes, found)]
        held[places] = True
        for bits in set(widths):
            at = places[np.equal(widths, bits)]
            blobs = [one for one, width in zip(data, widths, strict=True) if width == bits]
            try:
                if bits == HOT_BITS:
                    matrix[at] = fresh = decode_halves(b"".join(blobs)).reshape(len(at), -1)
                    index.hot.fill(rows[at], fresh)
                else:
                    odd.append((at, decode_rows(blobs, bits, index.dims) / np.float32(compute_divisor(bits))))
            except IMPOSSIBLE as error:
                raise _find_damaged(stored, index.dims) from error
    wide = widen_to_float32(matrix, finite=index.hot.finite)
    for at, values in odd:
        wide[at] = values
    return (rows, wide) if held.all() else (rows[held], wide[held])


def _find_damaged(stored: Sequence[tuple[int, int, bytes]], dims: int) -> Corrupt:
    """Build the error for the first vector with another length than its width gives."""
    wrong = (code for code, bits, data in stored if not is_sound_vector(code, "", dims, bits, 1.0, data, None))
    return make_damage_error("embeddings", name_document(next(wrong, -1)), repaired=True)
