"""Cosines of the question to stored vectors: nominated by sign bits, rescored exactly, shared between neighbours."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from credenda import limits
from credenda.index.resident import ResidentIndex
from credenda.index.vector_reader import read_stored_vectors
from credenda.read.plan import Plan
from credenda.read.weights import load_weights
from credenda.storage.store import Reader

__all__ = ["Meaning", "collect_rows", "embed_question", "find_similar", "make_empty_meaning"]

Floats = NDArray[np.float32]
Integers = NDArray[np.int64]


_FLAT: Final = 1e-6
_NOMINATED_LEAST: Final = 400
_NOMINATED_SHARE: Final = 400
"""Rows nominated by sign bits: 400 and 1 in 400 of the index, up to `limits.VECTOR_NOMINEES`."""
_RESCORED_LEAST: Final = 128
_RESCORED_A_HIT: Final = 4
_RESCORED_SHARE: Final = 4_000
"""Of them rescored: 4 for each hit asked for and at least 128, and 1 in 4,000 rows of the index, up to
`limits.VECTOR_CANDIDATES`. Reading a vector costs more than all else that is done with it. Measured on MiniLM with
18,800 texts and 300 questions: of the exact ten nearest .998 are among the first 400 by Hamming distance, and .997
among the 128 of these that agree best with the question's values. What is needed grows with the fifth root of the
rows."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """`rows` (m,) that were compared; `cosine` (n,) of every row, NaN where not compared; `spread` (n,) in context."""

    rows: NDArray[np.int64]
    cosine: Floats
    spread: Floats


def embed_question(embed: Callable[[Sequence[str]], Floats], text: str, made: Plan) -> Floats:
    """Return the vector of a question: where it names a person, between the question and the same said to them.

    People seldom say their own names: "What does Ana paint?" is as near to any talk of Ana, and "What do you paint?" as
    near to anyone's painting. Between the two lies what Ana says of hers.
    """
    if not made.addressed:
        return embed([text])[0]
    both = np.add.reduce(embed([text, made.addressed]))
    return both / max(float(np.linalg.norm(both)), _FLAT)


def collect_rows(count: int, *parts: Integers) -> Integers:
    """Return the rows that are in any of the parts, each once and ascending, of an index of so many rows."""
    marks = np.zeros(count, np.bool_)
    for part in parts:
        marks[part] = True
    return marks.nonzero()[0]


def make_empty_meaning(index: ResidentIndex) -> Meaning:
    """Return the meaning of a search by words alone."""
    cosine = np.full(len(index), np.nan, np.float32)
    return Meaning(np.zeros(0, np.int64), cosine, np.zeros(len(index), np.float32))


def find_similar(
    index: ResidentIndex, reader: Reader, vector: Floats, mask: NDArray[np.bool_], *, limit: int, also: Integers
) -> Meaning:
    """Compare the question with the rows of the mask whose signs are nearest, and with those of `also`.

    What was not compared is no nearer than what was, so the least cosine found is the zero from which turns share with
    their neighbours. Vectors of neighbours are never rewritten: scores are linear, so scores are what is shared.
    """
    meant = make_empty_meaning(index)
    if index.model_id is None or index.dims != len(vector):
        return meant
    nominated = index.nearest(vector, _choose_candidate_count(len(index)), mask)
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


def _choose_candidate_count(count: int) -> int:
    return min(_NOMINATED_LEAST + count // _NOMINATED_SHARE, limits.VECTOR_NOMINEES)


def _choose_rescored_count(count: int, limit: int) -> int:
    """Say how many of so many rows are compared by their stored vectors.

    >>> [_rescored(count, 20) for count in (1_000, 20_000, 140_000, 1_000_000)]
    [128, 133, 163, 378]
    """
    least = max(_RESCORED_LEAST, _RESCORED_A_HIT * limit)
    return min(least + count // _RESCORED_SHARE, limits.VECTOR_CANDIDATES)
