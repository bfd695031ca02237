"""Step 2, pure: which clusters are merged in the night (E-067); consolidation's judge says what becomes of them.

Engram merges whatever lies in such a cluster and forgets the originals; here it is only what the judge is shown, its
guards stand, and what is merged is merged, with a pointer (D-031).
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["MergeRules"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeRules:
    """The bounds of a cluster: the least cosine of neighbours, and the fewest memories (E-067)."""

    cosine: float = 0.80
    least: int = 5
