"""Cosines of the question to stored vectors: nominated by sign bits, rescored exactly, shared between neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from typing import Final

import numpy as np
from numpy.typing import NDArray

from credenda import limits
from credenda.read.tables import weights
from credenda.storage.store import Reader, Vector
from credenda.vectors.quantize import decode
from credenda.vectors.resident import ResidentIndex

__all__ = ["Meaning", "cosines", "nothing_meant", "similar"]

Floats = NDArray[np.float32]

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


def nothing_meant(index: ResidentIndex) -> Meaning:
    """Return the meaning of a search by words alone."""
    cosine = np.full(len(index), np.nan, np.float32)
    return Meaning(np.zeros(0, np.int64), cosine, np.zeros(len(index), np.float32))


def similar(index: ResidentIndex, reader: Reader, vector: Floats, mask: NDArray[np.bool_], *, limit: int) -> Meaning:
    """Compare the question with the rows of the mask whose signs are nearest.

    What was not compared is no nearer than what was, so the least cosine found is the zero from which turns share with
    their neighbours. Vectors of neighbours are never rewritten: scores are linear, so scores are what is shared.
    """
    meant = nothing_meant(index)
    if index.model_id is None or index.dims != len(vector):
        return meant
    count = max(_RESCORED_LEAST, _RESCORED_A_HIT * limit) + len(index) // _RESCORED_SHARE
    rows = index.nearest(vector, min(count, limits.VECTOR_CANDIDATES), mask)
    codes = index.codes[rows]
    order = np.argsort(codes)
    stored = reader.vectors(codes[order].tolist(), index.model_id)
    if not stored:
        return meant
    found = np.fromiter((one.code for one in stored), np.int64, len(stored))
    rows = rows[order][np.searchsorted(codes[order], found)]
    meant.cosine[rows] = near = cosines(stored, vector)
    tuned = weights().relevance
    above = meant.spread
    above[rows] = near - near.min()
    return Meaning(rows, meant.cosine, index.spread(above, back=tuned.back, ahead=tuned.ahead))


def cosines(stored: Sequence[Vector], vector: Floats) -> Floats:
    """Return the dot product of each stored vector with a unit vector; precisions may be mixed."""
    if len({one.bits for one in stored}) == 1:
        matrix = decode(b"".join([one.data for one in stored]), stored[0].bits).reshape(len(stored), -1)
        return matrix @ vector
    out = np.empty(len(stored), np.float32)
    at = 0
    for bits, group in groupby(stored, attrgetter("bits")):
        same = list(group)
        matrix = decode(b"".join(one.data for one in same), bits).reshape(len(same), -1)
        out[at : at + len(same)] = matrix @ vector
        at += len(same)
    return out
