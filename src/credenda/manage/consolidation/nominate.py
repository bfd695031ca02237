"""Nominate the pairs to judge: the k nearest by cosine, and those that share an exact key (S-037, C-001). Pure.

Nomination decides nothing. Only 8-byte keys and one block of vectors are in memory at a time, so that memory use
depends on the batch size and not on the store.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from credenda.manage.consolidation.clusters import Pair
from credenda.manage.consolidation.member import get_slot_key
from credenda.model.memory import Memory
from credenda.text.normalize import normalise_text, normalise_value

__all__ = ["EXACT_KEY", "NearestNeighbours", "SharedKeyIndex", "compute_floor", "compute_keys"]

EXACT_KEY: Final = 2.0
"""The similarity of two memories that share an exact key; no cosine reaches it."""
_OFFSET: Final = 0.45
"""How far below the threshold neighbours are nominated.

The threshold comes from a tool that merged all pairs above it (R-107: 0.85 near-identical, 0.70 related). A judge may
see more pairs: four paraphrases of one preference have cosines of .14 to .66 (MiniLM), and each has a neighbour above
.40; unrelated sentences stay below .26.
"""
_HASH_BYTES: Final = 8


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

    def pairs(self) -> list[Pair]:
        """Pair the oldest holder of each key with each other holder."""
        held = (sorted(set(holders)) for holders in self._holders.values())
        return [Pair(EXACT_KEY, first, other) for first, *rest in filter(None, held) for other in rest]


class NearestNeighbours:
    """The k nearest neighbours of each seed, over blocks of vectors; a seed is no neighbour of itself.

    `seeds` are numbers and `vectors` (n, d) float32 rows of unit length, zero for a seed without a vector.
    """

    def __init__(self, seeds: Sequence[int], vectors: NDArray[np.float32], *, k: int, floor: float) -> None:
        self._numbers = np.array(seeds, np.int64)
        self._vectors = vectors
        self._k = k
        self._floor = floor
        self._best = np.full((len(seeds), 0), -1.0, np.float32)
        self._who = np.full((len(seeds), 0), -1, np.int64)

    def show(self, numbers: Sequence[int], vectors: NDArray[np.float32]) -> None:
        """Compare the seeds with a block: numbers and (m, d) rows."""
        if not len(self._numbers) or not numbers:
            return
        cosines = self._vectors @ vectors.T
        names = np.array(numbers, np.int64)
        cosines[self._numbers[:, None] == names[None, :]] = -1.0
        cosines = np.concatenate([self._best, cosines], axis=1)
        who = np.concatenate([self._who, np.broadcast_to(names, (len(self._numbers), len(names)))], axis=1)
        if cosines.shape[1] > self._k:
            kept = np.argpartition(-cosines, self._k - 1, axis=1)[:, : self._k]
            cosines, who = np.take_along_axis(cosines, kept, axis=1), np.take_along_axis(who, kept, axis=1)
        self._best, self._who = cosines, who

    def pairs(self) -> list[Pair]:
        """Return the pairs at or above the floor."""
        rows, columns = np.nonzero((self._best >= max(self._floor, 1e-6)) & (self._who >= 0))
        ones, others = self._numbers[rows], self._who[rows, columns]
        closeness = np.round(self._best[rows, columns].astype(np.float64), 4)
        return [
            Pair(float(near), int(min(one, other)), int(max(one, other)))
            for near, one, other in zip(closeness, ones, others, strict=True)
        ]
