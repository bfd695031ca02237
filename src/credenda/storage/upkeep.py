"""How memories were used, as a store keeps it beside beliefs, and what of its logs is taken away again."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Access", "Prune"]


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
