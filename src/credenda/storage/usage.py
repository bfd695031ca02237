"""Rows of the use of memories, and requests to delete old rows."""

from __future__ import annotations

from dataclasses import dataclass


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
