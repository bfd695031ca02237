"""Distances between vectors of different precision, in which the exact copy of a text comes first. Pure.

Two forms of one idea (Fisher–Rao distance aware of quantisation). Engram's divides the cosine by a penalty for the
rougher of two widths (E-090); searches use it, because it costs nothing. The original treats each number as a normal
distribution whose width grows with its roughness, and measures the distance of the distributions (E-091).

Both rank the exact copy of a query before any rough copy of it, always (E-092); a bare cosine does not if rounding
turns a copy towards the query.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["compute_distance", "compute_divisor", "compute_fisher_rao", "compute_spread", "to_similarity"]

_EXACT: Final = 32
_FULL: Final = 16
"""From this width on a vector counts as exact: it keeps a cosine of .999999."""
_PENALTY_POWER: Final = 1.5
_PENALTY: Final = 0.01
_SPREAD_POWER: Final = 0.5
_SPREAD_LEAST, _SPREAD_MOST = 0.05, 10.0
_SPREAD: Final = 0.3
"""Sigma of an exact number: above half the range of a unit vector's numbers, so that roughness decides, not chance."""
_REACH: Final = 15.0


def compute_divisor(*bits: int) -> float:
    """Return the divisor of a cosine of such vectors: 1 + .01 · (P − 1), P = max (32 / bits)^1.5 (E-090).

    From 16 bits on nothing is lost that a search could notice, and nothing is divided.

    >>> [round(compute_divisor(32, width), 3) for width in (32, 16, 8, 4, 2)]
    [1.0, 1.0, 1.07, 1.216, 1.63]
    """
    least = min(bits)
    if least >= _FULL:
        return 1.0
    return 1.0 + _PENALTY * ((_EXACT / least) ** _PENALTY_POWER - 1.0)


def compute_distance(cosine: float, *bits: int) -> float:
    """Return engram's distance: 1 less the divided cosine, in [0, 2] (E-090)."""
    return 1.0 - min(1.0, max(-1.0, cosine / compute_divisor(*bits)))


def compute_spread(bits: int, spread: float = _SPREAD) -> float:
    """Return sigma of a number stored with so many bits: sigma · (32 / bits)^½, within [.05, 10] (E-091).

    >>> [round(compute_spread(width), 3) for width in (32, 8, 2)]
    [0.3, 0.6, 1.2]
    """
    return min(_SPREAD_MOST, max(_SPREAD_LEAST, spread * (_EXACT / bits) ** _SPREAD_POWER))


def compute_fisher_rao(
    one: NDArray[np.float32],
    other: NDArray[np.float32],
    bits: tuple[int, int] = (_EXACT, _EXACT),
    spread: float = _SPREAD,
) -> float:
    """Return the Fisher–Rao distance of two vectors as products of normal distributions (E-091).

    d² = Σ 2·arcosh²(1 + ((μ₁ − μ₂)² + 2(σ₁ − σ₂)²) / (4·σ₁·σ₂)); at equal widths it is the plain distance.
    """
    first, second = (compute_spread(width, spread) for width in bits)
    apart = (one.astype(np.float64) - other) ** 2 + 2.0 * (first - second) ** 2
    steps = np.arccosh(1.0 + apart / (4.0 * first * second))
    return float(np.sqrt(2.0 * np.sum(steps**2)))


def to_similarity(apart: float) -> float:
    """Convert a Fisher–Rao distance to a similarity in (0, 1]: e^(−d / 15) (E-091)."""
    return float(np.exp(-apart / _REACH))
