"""Cosines between the question and stored vectors: preselect by sign bits, rescore exactly, add neighbours."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from credenda import limits
from credenda.index.resident import ResidentIndex, read_stored_vectors
from credenda.read.plan import Plan
from credenda.read.weights import load_weights
from credenda.storage.store import Reader

Floats = NDArray[np.float32]
Integers = NDArray[np.int64]


_FLAT: Final = 1e-6
_NOMINATED_LEAST: Final = 400
_NOMINATED_SHARE: Final = 400
"""Rows preselected by sign bits: 400 plus 1 in 400 of the index, up to `limits.VECTOR_NOMINEES`."""
_RESCORED_LEAST: Final = 128
_RESCORED_A_HIT: Final = 4
_RESCORED_SHARE: Final = 4_000
"""Preselected rows that are rescored: 4 for each requested hit and at least 128, plus 1 in 4,000 rows of the index, up
to `limits.VECTOR_CANDIDATES`. Reading the vectors is the largest cost. Measured with MiniLM on 18,800 texts and 300
questions: .998 of the exact ten nearest are among the first 400 by Hamming distance, and .997 among the best 128 of
these by their signs weighted with the question's values. The number needed grows with the fifth root of the rows."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """`rows` (m,): compared rows; `cosine` (n,): NaN if not compared; `spread` (n,): with the neighbours' share."""

    rows: NDArray[np.int64]
    cosine: Floats
    spread: Floats


def embed_question(embed: Callable[[Sequence[str]], Floats], text: str, made: Plan) -> Floats:
    """Return the vector of a question; if it names a person, the mean with the question addressed to that person.

    People seldom say their own names. "What does Ana paint?" is close to any text about Ana, and "What do you paint?"
    to a text about anyone's painting. The mean of the two is close to Ana's texts about her painting.
    """
    if not made.addressed:
        return embed([text])[0]
    both = np.add.reduce(embed([text, made.addressed]))
    return both / max(float(np.linalg.norm(both)), _FLAT)


def collect_rows(count: int, *parts: Integers) -> Integers:
    """Return the rows that are in any of the parts, unique and ascending, of an index with `count` rows."""
    marks = np.zeros(count, np.bool_)
    for part in parts:
        marks[part] = True
    return marks.nonzero()[0]


def make_empty_meaning(index: ResidentIndex) -> Meaning:
    """Return the result of a search that compares no vectors."""
    cosine = np.full(len(index), np.nan, np.float32)
    return Meaning(np.zeros(0, np.int64), cosine, np.zeros(len(index), np.float32))


def find_similar(
    index: ResidentIndex, reader: Reader, vector: Floats, mask: NDArray[np.bool_], *, limit: int, also: Integers
) -> Meaning:
    """Compare the question with the rows of the mask that have the nearest sign bits, and with the rows of `also`.

    Rows that were not compared are taken to be no nearer than the compared ones, so neighbours receive a share of the
    cosine above the lowest one found. Sharing scores is equivalent to sharing vectors, because scores are linear.
    """
    meant = make_empty_meaning(index)
    if index.model_id is None or index.dims != len(vector):
        return meant
    nominated = index.nearest(
        vector, min(_NOMINATED_LEAST + len(index) // _NOMINATED_SHARE, limits.VECTOR_NOMINEES), mask
    )
    nearest = index.likeliest(vector, nominated, _choose_rescored_count(len(index), limit))
    if len(also):
        nearest = collect_rows(len(index), nearest, also[index.has_vector[also]])
    rows, matrix = read_stored_vectors(index, reader, nearest)
    if not len(rows):
        return meant
    meant.cosine[rows] = near = matrix @ vector
    tuned = load_weights().relevance
    above = meant.spread
    above[rows] = near - np.minimum.reduce(near)
    return Meaning(rows, meant.cosine, index.spread_few(above, rows, back=tuned.back, ahead=tuned.ahead))


def compare_claims(
    index: ResidentIndex, reader: Reader, vector: Floats, mask: NDArray[np.bool_], *, limit: int
) -> Floats:
    """Return the cosines (n,) of a question asked of claims with the nearest memories of a mask; NaN for other rows."""
    cosine = np.full(len(index), np.nan, np.float32)
    if index.model_id is None or index.dims != len(vector):
        return cosine
    count = _choose_rescored_count(len(index), limit)
    nominated = index.nearest(vector, max(count, _NOMINATED_LEAST), mask & index.is_memory)
    rows, matrix = read_stored_vectors(index, reader, index.likeliest(vector, nominated, count))
    if len(rows):
        cosine[rows] = matrix @ vector
    return cosine


def _choose_rescored_count(count: int, limit: int) -> int:
    """Return how many of `count` rows are compared by their stored vectors.

    >>> [_choose_rescored_count(count, 20) for count in (1_000, 20_000, 140_000, 1_000_000)]
    [128, 133, 163, 378]
    """
    least = max(_RESCORED_LEAST, _RESCORED_A_HIT * limit)
    return min(least + count // _RESCORED_SHARE, limits.VECTOR_CANDIDATES)
