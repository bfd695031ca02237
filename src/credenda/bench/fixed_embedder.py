"""An embedder with fixed vectors: random by text, and for each question a vector near its answer's.

It costs next to nothing and controls all distances, so that a benchmark measures search and not a model.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from credenda.bench.sentences import Asked

__all__ = ["GivenVectors"]

_DIMS: Final = 384
_CLOSENESS: Final = 0.6
"""Cosine of a question and its answer; two unrelated texts have 0 ± 0.05."""


class GivenVectors:
    """Unit vectors of 384 dimensions that depend on the text alone."""

    model_id: str = "bench-given-1"
    dims: int = _DIMS

    def __init__(self, asked: Iterable[Asked] = ()) -> None:
        """Set the questions and their answers."""
        self._known = {one.text: _make_near_vector(one) for one in asked}

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (n, 384) float32 with rows of unit length."""
        rows = np.empty((len(texts), _DIMS), np.float32)
        for row, text in zip(rows, texts, strict=True):
            known = self._known.get(text)
            row[:] = _draw_unit_vector(text) if known is None else known
        return rows


def _make_near_vector(one: Asked) -> NDArray[np.float32]:
    """Precompute a question's vector, so that its time does not count as search time."""
    near = _CLOSENESS * _draw_unit_vector(one.gold) + np.sqrt(1 - _CLOSENESS**2) * _draw_unit_vector(
        f"noise {one.text}"
    )
    return (near / np.linalg.norm(near)).astype(np.float32)


def _draw_unit_vector(text: str) -> NDArray[np.float32]:
    seed = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest())
    values = np.random.Generator(np.random.PCG64(seed)).standard_normal(_DIMS)
    return (values / np.linalg.norm(values)).astype(np.float32)
