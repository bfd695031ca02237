"""Step 7, pure: how long operational logs are kept. Journal and change log are no such logs, and are never pruned."""

from __future__ import annotations

from dataclasses import dataclass

from credenda.clock import DAY_US

__all__ = ["PruneRules", "prune_before_us"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PruneRules:
    """Days for which showings and finished jobs are kept (E-072 has 90), and rows a transaction takes away."""

    keep_days: int = 90
    together: int = 500


def prune_before_us(rules: PruneRules, now_us: int) -> int:
    """Give the time before which rows go."""
    return now_us - rules.keep_days * DAY_US
