"""Step 7, pure: how long operational logs are kept. Journal and change log are no such logs, and are never pruned."""

from __future__ import annotations

from dataclasses import dataclass

from credenda.clock import DAY_US

__all__ = ["PruneRules"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PruneRules:
    """Days for which rows are kept, and rows that a transaction takes away of each log.

    A showing counts in importance for as long as it is kept: with E-072's 90 days, a memory that was used daily until
    four months ago would lose half its standing, so a year is kept (decision 0028). Finished jobs tell nothing after
    E-072's 90.
    """

    showings_days: int = 365
    jobs_days: int = 90
    together: int = 500

    def before_us(self, now_us: int) -> tuple[int, int]:
        """Return the times before which showings and jobs go."""
        return now_us - self.showings_days * DAY_US, now_us - self.jobs_days * DAY_US
