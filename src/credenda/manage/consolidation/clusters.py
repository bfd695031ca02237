"""Cluster similar pairs into groups that are judged together; each memory is in at most one group (S-038). Pure.

The most similar pairs come first, so that a full group holds the most similar memories, in any input order.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

__all__ = ["Pair", "cluster_pairs"]


class Pair(NamedTuple):
    """Two memories by number, `one` < `other`, and their similarity: a cosine, or 2 for an exact key."""

    closeness: float
    one: int
    other: int


def cluster_pairs(pairs: Iterable[Pair], most: int) -> list[tuple[int, ...]]:
    """Group memories that share a neighbour, at most `most` in a group; each group in order of number.

    >>> cluster_pairs([Pair(0.9, 1, 2), Pair(0.8, 2, 5), Pair(0.7, 3, 4)], 25)
    [(1, 2, 5), (3, 4)]
    >>> cluster_pairs([Pair(0.9, 1, 2), Pair(0.8, 2, 5), Pair(0.7, 5, 6)], 2)
    [(1, 2), (5, 6)]
    """
    leader: dict[int, int] = {}
    groups: dict[int, list[int]] = {}
    for pair in sorted(set(pairs), key=lambda one: (-one.closeness, one.one, one.other)):
        for number in (pair.one, pair.other):
            if number not in leader:
                leader[number] = number
                groups[number] = [number]
        first, second = leader[pair.one], leader[pair.other]
        if first == second or len(groups[first]) + len(groups[second]) > most:
            continue
        into, out = (first, second) if len(groups[first]) >= len(groups[second]) else (second, first)
        for number in groups[out]:
            leader[number] = into
        groups[into] += groups.pop(out)
    return sorted(tuple(sorted(group)) for group in groups.values() if len(group) > 1)
