"""The memories nearest to new ones: candidates by sign bits, compared by their stored vectors, without a scan."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from credenda.index.quantize import decode_rows
from credenda.index.resident import STATE_CURRENT, STATE_PAST, ResidentIndex
from credenda.index.vector_reader import read_stored_vectors
from credenda.storage.store import Reader, Vector

__all__ = ["find_nearest_memories"]

_NOMINATED: Final = 64
_SHARE: Final = 400
"""Rows compared exactly: 64 and one in 400. A search, which needs the ten best in order, compares twice as many."""


def find_nearest_memories(
    index: ResidentIndex, reader: Reader, vectors: Sequence[Vector], k: int
) -> list[list[tuple[int, float]]]:
    """Return for each vector the k nearest memories of lower code as (code, cosine), nearest first.

    Candidates are the memories of the index that a search may return, now or in the past, and the given vectors
    themselves. The result has fewer than k if fewer exist.
    """
    if not vectors:
        return []
    codes = np.array([vector.code for vector in vectors], np.int64)
    matrix = np.concatenate([decode_rows([vector.data], vector.bits, vector.dims) for vector in vectors])
    usable = index.is_memory & ((index.state == STATE_CURRENT) | (index.state == STATE_PAST))
    usable &= ~np.isin(index.codes, codes)
    own = matrix @ matrix.T
    found: list[list[tuple[int, float]]] = []
    for place, code in enumerate(codes):
        held_codes, held = _compare_nearest(index, reader, matrix[place], usable & (index.codes < code))
        before = np.flatnonzero(codes < code)
        every = np.concatenate([held_codes, codes[before]])
        cosines = np.concatenate([held, own[place, before]])
        best = np.lexsort((every, -cosines))[:k]
        found.append([(int(every[at]), min(1.0, float(cosines[at]))) for at in best])
    return found


def _compare_nearest(
    index: ResidentIndex, reader: Reader, vector: NDArray[np.float32], usable: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Compare a vector with the rows of the index whose signs are nearest; return their codes and cosines."""
    if index.dims != len(vector):
        return np.zeros(0, np.int64), np.zeros(0, np.float32)
    rows = index.nearest(vector, _NOMINATED + len(index) // _SHARE, usable)
    rows, matrix = read_stored_vectors(index, reader, rows)
    return index.codes[rows], matrix @ vector
