"""Dream step 2: choose the clusters to merge (E-067); the consolidation judge decides about them. Pure.

Engram merges every cluster and forgets the originals. Here the judge and its guards decide, and a merged memory keeps a
pointer to its successor (D-031).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeRules:
    """The limits of a cluster: the minimum cosine of neighbours, and the minimum number of memories (E-067)."""

    cosine: float = 0.80
    least: int = 5
