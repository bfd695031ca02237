"""Novelty of a memory compared with the existing ones, and its effect on importance. Pure.

The formulas are engram's (E-043…E-047): with d the mean cosine distance to the five nearest existing memories, surprise
= 1 / (1 + e^(−10·(d − 0.35))), and importance moves by (surprise − .5) · .6, clamped to [.05, 1]. The first memory of
all has no neighbours: its surprise is 1 and its importance gains .15.

Surprise changes importance once, when a memory is written, always from the stated importance. It is never fed back, and
it does not decide which memories are the same (docs/decisions/0035).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

__all__ = [
    "DUPLICATE_OF",
    "DUPLICATE_SIMILARITY",
    "NEIGHBOURS",
    "adjust_importance",
    "compute_importance_change",
    "compute_surprise",
]

NEIGHBOURS: Final = 5
"""k: the number of nearest memories that count (E-043)."""
DUPLICATE_SIMILARITY: Final = 0.92
"""Similarity from which the nearest memory is treated as a possible duplicate (E-047)."""
DUPLICATE_OF: Final = "duplicate_of"
"""The metadata key of a memory that refers to its possible duplicate (E-044, E-048)."""
_STEEPNESS: Final = 10.0
_MIDDLE: Final = 0.35
_REACH: Final = 0.6
_NOTHING: Final = 1.0
_FIRST: Final = 0.15
_LEAST, _MOST = 0.05, 1.0
_PLACES: Final = 4
_BELOW_ONE: Final = 1.0 - 10.0**-_PLACES
"""The maximum of a comparison; exactly 1 means that there was no memory to compare with."""


def compute_surprise(similarities: Sequence[float]) -> float:
    """Return the surprise of a memory, in [0, 1], from its cosines to its nearest neighbours (E-045).

    >>> compute_surprise([]), compute_surprise([0.65] * 5), compute_surprise([0.95] * 5)
    (1.0, 0.5, 0.0474)
    """
    if not similarities:
        return _NOTHING
    apart = math.fsum(1.0 - one for one in similarities) / len(similarities)
    return round(min(_BELOW_ONE, 1.0 / (1.0 + math.exp(-_STEEPNESS * (apart - _MIDDLE)))), _PLACES)


def compute_importance_change(score: float) -> float:
    """Return the change of importance, in [−.3, +.3] (E-046); the first memory of all gains .15 (E-047).

    >>> compute_importance_change(0.9), compute_importance_change(0.1), compute_importance_change(1.0)
    (0.24, -0.24, 0.15)
    """
    return _FIRST if score == _NOTHING else round((score - 0.5) * _REACH, _PLACES)


def adjust_importance(stated: float, score: float | None) -> float:
    """Adjust a stated importance by a surprise; it stays unchanged without one.

    >>> (adjust_importance(0.5, 0.9), adjust_importance(0.9, 0.99), adjust_importance(0.1, 0.1),
    ... adjust_importance(0.4, None))
    (0.74, 1.0, 0.05, 0.4)
    """
    return (
        stated if score is None else round(min(_MOST, max(_LEAST, stated + compute_importance_change(score))), _PLACES)
    )
