"""Nominate the pairs to judge: the k nearest by cosine, and those that share an exact key (S-037, C-001). Pure.

Nomination decides nothing. Only 8-byte keys, the vectors of the seeds and one block of vectors are in memory at a
time, so that memory use does not depend on the store.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from credenda.manage.consolidation.guards import get_slot_key
from credenda.manage.consolidation.judge import Pair
from credenda.model.memory import Memory
from credenda.text.normalize import normalise_text, normalise_value

EXACT_KEY: Final = 2.0
"""The similarity of two memories that share an exact key; no cosine reaches it."""
_OFFSET: Final = 0.45
"""How far below the threshold neighbours are nominated.

The threshold comes from a tool that merged all pairs above it (R-107: 0.85 near-identical, 0.70 related). A judge may
see more pairs: four paraphrases of one preference have cosines of .14 to .66 (MiniLM), and each has a neighbour above
.40; unrelated sentences stay below .26.
"""
_HASH_BYTES: Final = 8
EXACT_SEEDS: Final = 2_000
"""More seeds than these come only from a backlog, as after an import."""
_CELLS: Final = 16
"""Cells that a seed is compared with."""


def compute_floor(threshold: float) -> float:
    """Return the cosine from which neighbours are nominated.

    >>> round(compute_floor(0.85), 2), compute_floor(0.2)
    (0.4, 0.0)
    """
    return max(0.0, threshold - _OFFSET)


def compute_keys(memory: Memory) -> tuple[int, ...]:
    """Return the hashes that make two memories neighbours at any cosine: text, or slot and value."""
    spoken = f"{memory.speaker}\x00{memory.stance}"
    found = [_hash_words(f"text\x00{spoken}\x00{normalise_text(memory.text)}")]
    slot = get_slot_key(memory)
    if slot is not None and memory.value:
        found.append(_hash_words("\x00".join(("value", *slot, normalise_value(memory.value)))))
        if memory.scope:  # a value without a scope may cover it
            bare = get_slot_key(replace(memory, scope=None)) or ()
            found.append(_hash_words("\x00".join(("value", *bare, normalise_value(memory.value)))))
    return tuple(found)


def _hash_words(words: str) -> int:
    return int.from_bytes(hashlib.blake2b(words.encode(), digest_size=_HASH_BYTES).digest(), "big")


class SharedKeyIndex:
    """Collects the memories that share an exact key with one of the seeds."""

    def __init__(self, keys: Iterable[int]) -> None:
        """Collect for these keys only."""
        self._holders: dict[int, list[int]] = {key: [] for key in keys}

    def add(self, number: int, keys: Iterable[int]) -> None:
        """Record a memory under its keys."""
        for key in keys:
            if key in self._holders:
                self._holders[key].append(number)

    def pairs(self, keys: Iterable[int] | None = None) -> list[Pair]:
        """Pair the oldest holder of each key, or of each of these keys, with each other holder."""
        chosen = self._holders if keys is None else dict.fromkeys(keys)
        held = (sorted(set(self._holders[key])) for key in chosen)
        return [Pair(EXACT_KEY, first, other) for first, *rest in filter(None, held) for other in rest]


class NearestNeighbours:
    """The k nearest neighbours of each seed, over blocks of vectors; a seed is no neighbour of itself.

    `seeds` are numbers and `vectors` (n, d) float32 rows of unit length, zero for a seed without a vector. Up to
    `EXACT_SEEDS` seeds are compared with every row. More seeds are compared with the rows of the nearest cells of a
    block only, so that the number of comparisons grows with n^1.5; a few neighbours are then missed.
    """

    def __init__(self, seeds: Sequence[int], vectors: NDArray[np.float32], *, k: int, floor: float) -> None:
        self._numbers = np.array(seeds, np.int64)
        self._vectors = vectors
        self._k = k
        self._floor = floor
        self._best = np.full((len(seeds), k), -1.0, np.float32)
        self._who = np.full((len(seeds), k), -1, np.int64)
        self.compared = 0
        """The number of cosines computed."""

    def show(self, numbers: Sequence[int], vectors: NDArray[np.float32]) -> None:
        """Compare the seeds with a block: numbers and (m, d) rows."""
        if not len(self._numbers) or not numbers:
            return
        names = np.array(numbers, np.int64)
        if len(self._numbers) <= EXACT_SEEDS:
            self._compare(np.arange(len(self._numbers)), names, vectors)
            return
        for seeds, rows in self._share_cells(vectors):
            self._compare(seeds, names[rows], vectors[rows])

    def _compare(self, seeds: NDArray[np.int64], names: NDArray[np.int64], vectors: NDArray[np.float32]) -> None:
        """Compare some seeds, given by position, with some rows."""
        cosines = self._vectors[seeds] @ vectors.T
        self.compared += cosines.size
        cosines[self._numbers[seeds][:, None] == names[None, :]] = -1.0
        cosines = np.concatenate([self._best[seeds], cosines], axis=1)
        who = np.concatenate([self._who[seeds], np.broadcast_to(names, (len(seeds), len(names)))], axis=1)
        kept = np.argpartition(-cosines, self._k - 1, axis=1)[:, : self._k]
        self._best[seeds] = np.take_along_axis(cosines, kept, axis=1)
        self._who[seeds] = np.take_along_axis(who, kept, axis=1)

    def _share_cells(self, vectors: NDArray[np.float32]) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Yield the rows of each cell, with the positions of the seeds to which it is among the nearest.

        The cell of a centre, one of about sqrt(m) rows, has the rows that are nearest to it. A cell of more than twice
        the mean size, as of equal vectors, is split into parts, and each seed is compared with one of them.
        """
        size = math.isqrt(len(vectors)) + 1
        centres = vectors[::size]
        self.compared += len(centres) * (len(vectors) + len(self._numbers))
        homes = _find_nearest_centres(vectors, centres, 1)[:, 0]
        near = _find_nearest_centres(self._vectors, centres, _CELLS)
        for centre in range(len(centres)):
            rows = np.flatnonzero(homes == centre)
            seeds = np.flatnonzero((near == centre).any(axis=1))
            count = -(-len(rows) // (2 * size))
            for part in range(count):
                yield seeds[part::count], rows[part::count]

    def pairs(self, seeds: Collection[int] | None = None) -> list[Pair]:
        """Return the pairs at or above the floor, of all seeds or of these."""
        usable = (self._best >= max(self._floor, 1e-6)) & (self._who >= 0)
        if seeds is not None:
            usable &= np.isin(self._numbers, np.fromiter(seeds, np.int64, len(seeds)))[:, None]
        rows, columns = np.nonzero(usable)
        ones, others = self._numbers[rows], self._who[rows, columns]
        closeness = np.round(self._best[rows, columns].astype(np.float64), 4)
        return [
            Pair(float(near), int(min(one, other)), int(max(one, other)))
            for near, one, other in zip(closeness, ones, others, strict=True)
        ]


def _find_nearest_centres(vectors: NDArray[np.float32], centres: NDArray[np.float32], k: int) -> NDArray[np.int64]:
    """Return the positions of the k nearest centres of each row, in any order, block by block."""
    blocks = (vectors[at : at + EXACT_SEEDS] @ centres.T for at in range(0, len(vectors), EXACT_SEEDS))
    k = min(k, len(centres))
    return np.concatenate([np.argpartition(-block, k - 1, axis=1)[:, :k] for block in blocks])
