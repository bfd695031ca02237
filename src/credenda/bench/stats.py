"""Figures from samples: percentiles, and a readable line for each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypedDict

__all__ = ["Spread", "compute_median", "compute_ratio", "find_percentile", "spread_ms"]


class Spread(TypedDict):
    """A distribution of times, in milliseconds."""

    n: int
    median_ms: float
    p95_ms: float
    p99_ms: float
    max_ms: float


def find_percentile(values: Sequence[float], share: float) -> float:
    """Return the nearest-rank percentile: the least value that `share` of all values do not exceed.

    >>> find_percentile([4.0, 1.0, 3.0, 2.0], 0.5)
    2.0
    """
    if not values:
        raise ValueError("no values to rank")
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def compute_median(values: Sequence[float]) -> float:
    """Return the middle value, or the mean of the two in the middle.

    >>> compute_median([4.0, 1.0, 3.0, 2.0])
    2.5
    """
    if not values:
        raise ValueError("no values to rank")
    ordered = sorted(values)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def spread_ms(seconds: Sequence[float]) -> Spread:
    """Summarise durations given in seconds."""
    return {
        "n": len(seconds),
        "median_ms": round(compute_median(seconds) * 1_000, 4),
        "p95_ms": round(find_percentile(seconds, 0.95) * 1_000, 4),
        "p99_ms": round(find_percentile(seconds, 0.99) * 1_000, 4),
        "max_ms": round(max(seconds) * 1_000, 4),
    }


def compute_ratio(one: Spread, other: Spread) -> float:
    """Return the ratio of the first median to the second."""
    return round(one["median_ms"] / other["median_ms"], 3)
