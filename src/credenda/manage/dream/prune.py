"""Dream step 7: the retention of operational logs. The journal and the change log are never pruned. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from credenda.clock import DAY_US


@dataclass(frozen=True, slots=True, kw_only=True)
class PruneRules:
    """Days for which rows are kept, and rows that one transaction removes from each log.

    An impression affects importance only while it is kept. With E-072's 90 days, a memory used daily until four months
    ago would lose half its importance, so a year is kept (decision 0028). Finished jobs are kept for E-072's 90 days.
    """

    impressions_days: int = 365
    jobs_days: int = 90
    rows_per_batch: int = 500

    def before_us(self, now_us: int) -> tuple[int, int]:
        """Return the times before which impressions and jobs are removed."""
        return now_us - self.impressions_days * DAY_US, now_us - self.jobs_days * DAY_US
