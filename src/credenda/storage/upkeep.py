"""What a store keeps beside beliefs: how they were used, what is computed of them, and how far duties have come."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Access", "Lead", "Prune", "Retention", "Watermark"]


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
class Retention:
    """How much of a memory is retained, in [0, 1]: a derived value of its current version, no change of it."""

    memory_id: str
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Watermark:
    """How far a duty has come; `value` means what the duty says. None in `value` takes the mark away."""

    name: str
    value: int | None
    at_us: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Lead:
    """Take or keep the lead over the duties of a tenant; filing it raises `Conflict` while another process has it.

    With the `name` of a duty it is the lock of that one alone; `until_us` not after `now_us` gives it up.
    """

    owner: str
    now_us: int
    until_us: int
    name: str = ""


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
