"""The memories nearest to new ones: candidates by sign bits, compared by their stored vectors, without a scan."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from credenda.current_call import check_deadline
from credenda.errors import IMPOSSIBLE, make_damage_error
from credenda.index.quantize import decode_rows
from credenda.index.resident import ResidentIndex, read_stored_vectors
from credenda.index.snapshot import STATE_CURRENT, STATE_PAST
from credenda.storage.rows import name_document
from credenda.storage.store import Reader, Vector, VectorCopies

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


# The nearest vectors of a tenant that no index in memory holds: from the index of its backend, or one by one.


Floats = NDArray[np.float32]

_PAGE: Final = 8_192
_COPIED: Final = 512
"""Vectors that are copied in one unit: pgvector takes about a millisecond for each."""


def find_nearest_codes(reader: Reader, model_id: str, vector: Floats, count: int) -> list[int]:
    """Return the codes of at most 2 · `count` documents, among them those of the `count` nearest vectors.

    Vectors of another length than the question's are passed over. Raises `Unavailable` when the call is over.
    """
    found, head = reader.by_vector.nearest(model_id, vector.tolist(), count)
    best, nearest = np.zeros(0, np.int64), np.zeros(0, np.float32)
    for codes, matrix in _read_pages(reader, model_id, head, len(vector)):
        check_deadline()
        best, nearest = np.concatenate([best, codes]), np.concatenate([nearest, matrix @ vector])
        if len(best) > count:
            kept = nearest.argpartition(len(nearest) - count)[len(nearest) - count :]
            best, nearest = best[kept], nearest[kept]
    return sorted({*found, *best.tolist()})


def _read_pages(reader: Reader, model_id: str, after: int, dims: int) -> Iterator[tuple[NDArray[np.int64], Floats]]:
    while page := reader.by_vector.page(model_id, after, _PAGE):
        after = page[-1][0]
        for bits in {row[3] for row in page}:
            rows = [row for row in page if row[2] == dims and row[3] == bits]
            if rows:
                yield np.array([row[1] for row in rows], np.int64), _decode(rows, bits, dims)


def _decode(rows: list[tuple[int, int, int, int, bytes]], bits: int, dims: int) -> Floats:
    try:
        return decode_rows([row[4] for row in rows], bits, dims)
    except IMPOSSIBLE as error:
        raise make_damage_error("embeddings", name_document(rows[0][1]), repaired=True) from error


def copy_vectors(reader: Reader, model_id: str) -> VectorCopies | None:
    """Read the next vectors that the backend's index does not know; None when it knows all, or there is none."""
    if not reader.by_vector.is_indexed:
        return None
    page = reader.by_vector.page(model_id, reader.by_vector.nearest(model_id, (), 0)[1], _COPIED)
    if not page:
        return None
    vectors = [(row[1], _decode([row], row[3], row[2])[0].tolist()) for row in page]
    return VectorCopies(model_id=model_id, head=page[-1][0], vectors=vectors)
