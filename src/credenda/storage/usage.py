"""What a store keeps beside beliefs: how memories were used, how duties went, and what of its logs is taken away."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from credenda.model.core import RecallCounts
from credenda.model.doctor_finding import DutyRun
from credenda.model.feedback import FeedbackCounts

if TYPE_CHECKING:
    from credenda.storage.records import IndexPosition

__all__ = ["Access", "Prune", "TaskProgress", "UsageView"]


class UsageView(Protocol):
    """How one tenant's memories were used, as it was at one moment."""

    def accesses(self, memory_ids: Sequence[str]) -> list[Access]:
        """Return what is known of the use of these memories, by memory and then oldest first."""
        ...

    def recalled(self, first_day: int, until_day: int, limit: int) -> list[RecallCounts]:
        """Return what was recalled on days from the first up to the last (excluded): most days, then sessions, first.

        Days are counted since 1970-01-01 UTC. What callers called useless on balance comes last.
        """
        ...

    @property
    def judged(self) -> bool:
        """Whether any memory was ever judged."""
        ...

    def regards(self, memory_ids: Sequence[str]) -> dict[str, FeedbackCounts]:
        """Return how these memories were judged; those that nobody ever judged are left out."""
        ...

    def occasions(self) -> frozenset[tuple[str, int]]:
        """Return the sessions and days in which anything was judged useful."""
        ...

    def active_days(self) -> list[int]:
        """Return the days (since 1970-01-01 UTC) on which anything was said, oldest first."""
        ...


class TaskProgress(Protocol):
    """How far the duties of one tenant have come, and the logs that they follow, as it was at one moment."""

    @property
    def heads(self) -> IndexPosition:
        """How far the journal, the change log and the vectors have grown."""
        ...

    def runs(self) -> list[DutyRun]:
        """Return the last run of each duty, by name."""
        ...

    def watermark(self, name: str) -> int | None:
        """Return how far a duty has come; None where it left no mark."""
        ...

    def prunable(self, showings_before_us: int, jobs_before_us: int) -> dict[str, int]:
        """Count the rows of each log, by its name ("showings", "jobs"), that `Prune` would take away."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """A memory was shown, or judged, in a session on a day (days since 1970-01-01 UTC).

    `useful` is 1 or −1 where it was judged; the last judgement of a session and day is the one that stands.
    """

    memory_id: str
    session: str
    day: int
    at_us: int
    shown: int = 0
    useful: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Prune:
    """Take away what only served the work of the day: at most `limit` rows of each log that are older than its time.

    Showings that nobody judged, and finished jobs that embedded and have no idempotency key: nothing that was said,
    held or decided, no judgement, no record of what was read, and no promise that a repeated call is recognised. The
    newest job stays, whose number the next one follows.
    """

    showings_before_us: int
    jobs_before_us: int
    limit: int
