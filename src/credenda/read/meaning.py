"""Cosines of the question to stored vectors: nominated by sign bits, rescored exactly, shared between neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from credenda import limits
from credenda.read.tables import weights
from credenda.storage.store import Reader
from credenda.vectors.hot import HOT_BITS
from credenda.vectors.quantize import decode, halves
from credenda.vectors.resident import ResidentIndex

__all__ = ["Meaning", "nothing_meant", "rows_of", "similar"]

Floats = NDArray[np.float32]
Integers = NDArray[np.int64]


_RESCORED_LEAST: Final = 128
_RESCORED_A_HIT: Final = 4
_RESCORED_SHARE: Final = 400
"""Rows rescored: 4 for each hit asked for and at least 128, more for large tenants, up to `limits.VECTOR_CANDIDATES`.
128 of 4,768 MiniLM vectors hold .992 of the exact ten nearest (measured). Reading a vector costs more than all else
that is done with it."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """`rows` (m,) that were compared; `cosine` (n,) of every row, NaN where not compared; `spread` (n,) in context."""

    rows: NDArray[np.int64]
    cosine: Floats
    spread: Floats


def rows_of(count: int, *parts: Integers) -> Integers:
    """Return the rows that are in any of the parts, each once and ascending, of an index of so many rows."""
    marks = np.zeros(count, np.bool_)
    for part in parts:
        marks[part] = True
    return np.flatnonzero(marks)


def nothing_meant(index: ResidentIndex) -> Meaning:
    """Return the meaning of a search by words alone."""
    cosine = np.full(len(index), np.nan, np.float32)
    return Meaning(np.zeros(0, np.int64), cosine, np.zeros(len(index), np.float32))


def similar(
    index: ResidentIndex, reader: Reader, vector: Floats, mask: NDArray[np.bool_], *, limit: int, also: Integers
) -> Meaning:
    """Compare the question with the rows of the mask whose signs are nearest, and with those of `also`.

    What was not compared is no nearer than what was, so the least cosine found is the zero from which turns share with
    their neighbours. Vectors of neighbours are never rewritten: scores are linear, so scores are what is shared.
    """
    meant = nothing_meant(index)
    if index.model_id is None or index.dims != len(vector):
        return meant
    count = max(_RESCORED_LEAST, _RESCORED_A_HIT * limit) + len(index) // _RESCORED_SHARE
    nearest = index.nearest(vector, min(count, limits.VECTOR_CANDIDATES), mask)
    if len(also):
        nearest = rows_of(len(index), nearest, also[index.has_vector[also]])
    rows, matrix = _vectors(index, reader, nearest)
    if not len(rows):
        return meant
    meant.cosine[rows] = near = matrix @ vector
    tuned = weights().relevance
    above = meant.spread
    above[rows] = near - near.min()
    return Meaning(rows, meant.cosine, index.spread(above, back=tuned.back, ahead=tuned.ahead))


def _vectors(index: ResidentIndex, reader: Reader, rows: Integers) -> tuple[Integers, Floats]:
    """Return those of the rows that have a stored vector, and the vectors, (n, d): from memory, else from the store."""
    matrix, held = index.hot.take(rows, index.dims)
    if held.all():
        return rows, matrix
    missing = np.flatnonzero(~held)
    missing = missing[np.argsort(index.codes[rows[missing]])]
    codes = index.codes[rows[missing]]
    stored = reader.vector_data(codes.tolist(), index.model_id or "")
    if stored:
        found, widths, data = zip(*stored, strict=True)
        places = missing[np.searchsorted(codes, found)]
        held[places] = True
        for bits in set(widths):
            at = places[np.equal(widths, bits)]
            flat = b"".join([one for one, width in zip(data, widths, strict=True) if width == bits])
            matrix[at] = decode(flat, bits).reshape(len(at), -1)
            if bits == HOT_BITS:
                index.hot.keep(rows[at], halves(flat).reshape(len(at), -1))
    return (rows, matrix) if held.all() else (rows[held], matrix[held])
