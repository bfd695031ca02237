"""Protocols for the use of memories, the progress of scheduled tasks, and log pruning."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from credenda.model.core import RecallCounts
from credenda.model.doctor_finding import DutyRun
from credenda.model.evaluation import FeedbackCounts

if TYPE_CHECKING:
    from credenda.storage.records import IndexPosition, SchedulerLease


class UsageView(Protocol):
    """The use of one tenant's memories, in a consistent view."""

    def accesses(self, memory_ids: Sequence[str]) -> list[Access]:
        """Return the recorded use of these memories, by memory and then oldest first."""
        ...

    def recalled(self, first_day: int, until_day: int, limit: int) -> list[RecallCounts]:
        """Return the memories recalled on days [first, last): most days first, then most sessions.

        Days are counted since 1970-01-01 UTC. Memories with more useless than useful feedback come last.
        """
        ...

    @property
    def judged(self) -> bool:
        """Whether any memory has feedback."""
        ...

    def regards(self, memory_ids: Sequence[str]) -> dict[str, FeedbackCounts]:
        """Return the feedback counts of those of these memories that have any."""
        ...

    def occasions(self) -> frozenset[tuple[str, int]]:
        """Return the sessions and days with useful feedback."""
        ...

    def active_days(self) -> list[int]:
        """Return the days (since 1970-01-01 UTC) with events, oldest first."""
        ...


class TaskProgress(Protocol):
    """The progress of one tenant's scheduled tasks and the logs that they follow, in a consistent view."""

    @property
    def taken(self) -> tuple[float, float]:
        """The times before and after the view was taken, in seconds of the monotonic clock of this process."""
        ...

    def lineage(self, heads: IndexPosition) -> bytes:
        """Return a checksum of the tenant's history up to a position, which no redaction alters.

        It differs for another history with the same numbers, for a view that ends before the position, and after
        whatever puts other rows in the place of present ones: a restore, an import, a rebuild.
        """
        ...

    @property
    def heads(self) -> IndexPosition:
        """The ends of the journal, the change log and the vectors."""
        ...

    def count_waiting(self, kinds: Collection[str]) -> tuple[int, int | None]:
        """Count the messages of unfinished jobs of these kinds, and return when the oldest such job was filed."""
        ...

    def runs(self) -> list[DutyRun]:
        """Return the last run of each task, by name."""
        ...

    def leases(self, now_us: int) -> list[SchedulerLease]:
        """Return the lease of the leader (its name is "") and the locks of tasks that are held at a time, by name."""
        ...

    def watermark(self, name: str) -> int | None:
        """Return the watermark of a task; None without one."""
        ...

    def prunable(self, showings_before_us: int, jobs_before_us: int) -> dict[str, int]:
        """Count the rows of each log ("showings", "jobs") that `Prune` would delete."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """An impression of a memory, or feedback on it, in a session on a day (days since 1970-01-01 UTC).

    `useful` is 1 or −1 with feedback; the last feedback of a session and day wins.
    """

    memory_id: str
    session: str
    day: int
    at_us: int
    shown: int = 0
    useful: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Prune:
    """A request to delete old log rows: at most `limit` rows of each log before its time.

    It deletes impressions without feedback, and finished embedding jobs without an idempotency key. It never deletes
    events, memories, changes, feedback, extraction records or idempotency keys. The newest job stays, because the next
    job number follows from it.
    """

    showings_before_us: int
    jobs_before_us: int
    limit: int


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorRemoval:
    """A request to delete vectors of a model: at most `limit` of them, with their copies."""

    model_id: str
    at_us: int
    limit: int
