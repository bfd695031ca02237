"""A cache of recently compared vectors: reading a vector from the store costs more than the rest of its comparison."""

from __future__ import annotations

from threading import Lock
from typing import Final

import numpy as np
from numpy.typing import NDArray

from credenda import limits
from credenda.index.quantize import is_all_finite

HOT_BITS: Final = 16
"""Width of the cached vectors: that of the store, so that nothing is rounded."""
_LEAST: Final = 1_024
_DUE: Final = 2


class VectorCache:
    """Float16 vectors by row of an index, up to a bound; a row that needs an occupied place replaces the other row.

    All versions of an index share one cache. It contains only vectors that the store has at 16 bits, so nothing is
    rounded twice.
    """

    def __init__(self, rows_max: int = limits.HOT_VECTORS) -> None:
        self._rows_max = rows_max
        self._lock = Lock()
        self._owner = np.zeros(0, np.int64)
        self._matrix = np.zeros((0, 0), np.float16)
        self._finite = True
        self._looks = 0

    @property
    def nbytes(self) -> int:
        """Bytes used."""
        return self._owner.nbytes + self._matrix.nbytes

    def keep(self, rows: NDArray[np.int64], vectors: NDArray[np.float32] | NDArray[np.float16]) -> None:
        """Store these vectors, (n, d), for these rows, replacing earlier ones; of equal rows the first stays."""
        with self._lock:
            self._put(rows, self._seen(vectors.astype(np.float16, copy=False)))

    def fill(self, rows: NDArray[np.int64], vectors: NDArray[np.float16]) -> None:
        """Store these vectors for those of the rows that have none: a view may be older than the cache."""
        with self._lock:
            vectors = self._seen(vectors)
            if len(self._owner) and self._matrix.shape[1] == vectors.shape[1]:
                lacking = self._owner.take(rows % len(self._owner)) != rows
                rows, vectors = rows[lacking], vectors[lacking]
            self._put(rows, vectors)

    def _seen(self, vectors: NDArray[np.float16]) -> NDArray[np.float16]:
        self._finite = self._finite and is_all_finite(vectors)
        return vectors

    def _put(self, rows: NDArray[np.int64], vectors: NDArray[np.float16]) -> None:
        if not len(rows):
            return
        self._make_room(int(rows.max()) + 1, vectors.shape[1])
        backwards = rows[::-1]  # of several values for one place numpy keeps the last
        places = backwards % len(self._owner)
        self._matrix[places] = vectors[::-1]
        self._owner[places] = backwards

    def forget(self, rows: NDArray[np.int64]) -> None:
        """Drop the vectors of these rows, because the store has new ones."""
        with self._lock:
            if len(self._owner):
                places = rows % len(self._owner)
                self._owner[places[self._owner[places] == rows]] = -1

    @property
    def finite(self) -> bool:
        """Whether all stored values were finite numbers, a hint for `widened`."""
        return self._finite

    def take(self, rows: NDArray[np.int64], dims: int) -> tuple[NDArray[np.float16], NDArray[np.bool_]]:
        """Return the vectors of these rows, (n, dims), and which of them are cached; the others are undefined."""
        with self._lock:
            if not len(self._owner) or self._matrix.shape[1] != dims:
                return np.zeros((len(rows), dims), np.float16), np.zeros(len(rows), np.bool_)
            places = rows % len(self._owner)
            return self._matrix.take(places, axis=0), self._owner.take(places) == rows

    def is_due(self, rows: int) -> bool:
        """Return True once, at the second search, when it pays to read all vectors of an index of this size.

        Single reads cost 3 µs each, reads in order half of that: all of 10,000 take 25 ms, and save each later search
        .3 ms. A process that searches once, such as a command, never pays for it.
        """
        with self._lock:
            self._looks += 1
            return self._looks == _DUE and rows <= self._rows_max

    def _make_room(self, rows: int, dims: int) -> None:
        """Grow towards the bound; below it every row has a place of its own, so that cached vectors stay in place."""
        held = len(self._owner)
        if self._matrix.shape[1] != dims:
            held = 0
        elif rows <= held or held == self._rows_max:
            return
        size = min(self._rows_max, max(_LEAST, 2 * rows))
        owner, matrix = np.full(size, -1, np.int64), np.zeros((size, dims), np.float16)
        if held:
            owner[:held], matrix[:held] = self._owner, self._matrix
        self._owner, self._matrix = owner, matrix
