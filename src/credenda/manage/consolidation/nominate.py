"""Candidates for consolidation: the k nearest by cosine, and those that share an exact key (S-037, C-001). Pure.

To be nominated decides nothing. Only keys of 8 bytes and one block of vectors are held at a time, so that the memory in
use depends on the size of a batch and not on that of the store.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from credenda.manage.consolidation.clusters import Pair
from credenda.manage.consolidation.member import slot_words
from credenda.model.memory import Memory
from credenda.text.normalize import text_key, value_key

__all__ = ["KEY", "Nearest", "SharedKeys", "floor_of", "keys_of"]

KEY: Final = 2.0
"""The closeness of two memories that share an exact key; no cosine reaches it."""
_OFFSET: Final = 0.45
"""How far below the threshold neighbours are nominated.

The threshold is on the scale of a tool that merged whatever lay above it (R-107: 0.85 near-identical, 0.70 related). A
judge that reads may be shown more: four phrasings of one preference have cosines of .14 to .66 to each other (MiniLM),
and every one of them has a neighbour above .40; unrelated sentences stay below .26.
"""
_HASH_BYTES: Final = 8


def floor_of(threshold: float) -> float:
    """Give the cosine from which neighbours are nominated.

    >>> round(floor_of(0.85), 2), floor_of(0.2)
    (0.4, 0.0)
    """
    return max(0.0, threshold - _OFFSET)


def keys_of(memory: Memory) -> tuple[int, ...]:
    """Give the hashes of what makes two memories neighbours whatever their cosine: words, or slot and value."""
    spoken = f"{memory.speaker}\x00{memory.stance}"
    found = [_hash(f"text\x00{spoken}\x00{text_key(memory.text)}")]
    slot = slot_words(memory)
    if slot is not None and memory.value:
        found.append(_hash("\x00".join(("value", *slot, value_key(memory.value)))))
    return tuple(found)


def _hash(words: str) -> int:
    return int.from_bytes(hashlib.blake2b(words.encode(), digest_size=_HASH_BYTES).digest(), "big")


class SharedKeys:
    """Collects the memories that share an exact key with one of some seeds, whose keys are given."""

    def __init__(self, keys: Iterable[int]) -> None:
        """Look for these keys alone."""
        self._holders: dict[int, list[int]] = {key: [] for key in keys}

    def add(self, number: int, keys: Iterable[int]) -> None:
        """Note a memory that has some of them."""
        for key in keys:
            if key in self._holders:
                self._holders[key].append(number)

    def pairs(self) -> list[Pair]:
        """Give the oldest holder of each key with each other one."""
        held = (sorted(set(holders)) for holders in self._holders.values())
        return [Pair(KEY, first, other) for first, *rest in filter(None, held) for other in rest]


class Nearest:
    """The k nearest of each seed among blocks of vectors that are shown one after the other; a seed is none of its own.

    `seeds` are numbers and `vectors` (n, d) float32 rows of unit length, zero where a seed has none.
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
        """Give what lies at or above the floor."""
        rows, columns = np.nonzero((self._best >= max(self._floor, 1e-6)) & (self._who >= 0))
        ones, others = self._numbers[rows], self._who[rows, columns]
        closeness = np.round(self._best[rows, columns].astype(np.float64), 4)
        return [
            Pair(float(near), int(min(one, other)), int(max(one, other)))
            for near, one, other in zip(closeness, ones, others, strict=True)
        ]
