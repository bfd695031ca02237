"""What models cost, and the report for those who must account for a memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from credenda.clock import to_datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class CostDay:
    """The cost of one model for one operation on one day (UTC)."""

    day: str
    operation: str
    model_id: str
    calls: int
    tokens_in: int
    tokens_out: int
    cost_usd: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CostSummary:
    """The cost of models from one day to another, both included; a model without a known price costs 0."""

    first_day: str
    last_day: str
    calls: int
    tokens_in: int
    tokens_out: int
    cost_usd: float
    by_operation: Mapping[str, float]
    """Cost in US dollars."""
    by_model: Mapping[str, float]
    """Cost in US dollars."""
    days: tuple[CostDay, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ComplianceReport:
    """A report that was written: its lines by kind, and the end of the audit chain that it leads to."""

    path: str
    lines: Mapping[str, int]
    audit_ok: bool
    """Whether the audit chain of the database is whole."""
    audit_head: str


# Retention policies and legal holds of a memory, set by a person.


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionPolicy:
    """A policy that deletes events older than `days` days: all of them, or those of a topic.

    Stored with `days` = 0 it removes the policy of that topic.
    """

    topic: str | None
    days: int
    set_us: int = 0

    @property
    def set_at(self) -> datetime:
        """The time from which it applies."""
        return to_datetime(self.set_us)


@dataclass(frozen=True, slots=True, kw_only=True)
class LegalHold:
    """A legal hold: its reason, its start and its end; stored with `lifted_us`, it lifts the one in force."""

    reason: str
    set_us: int
    lifted_us: int | None = None
    lifted_reason: str | None = None

    @property
    def set_at(self) -> datetime:
        """The time from which it applies."""
        return to_datetime(self.set_us)

    @property
    def lifted_at(self) -> datetime | None:
        """The time of its lift; None while it is in force."""
        return None if self.lifted_us is None else to_datetime(self.lifted_us)


@dataclass(frozen=True, slots=True, kw_only=True)
class PoliciesAndHolds:
    """The retention policies by topic, and all legal holds, oldest first."""

    policies: tuple[RetentionPolicy, ...] = ()
    holds: tuple[LegalHold, ...] = ()


# What deleting one memory or event removes, and what shares its words.


@dataclass(frozen=True, slots=True, kw_only=True)
class BlankedWords:
    """Words of an event that a deletion blanks."""

    event_id: str
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedMemory:
    """Another memory with the words: its text, and the text that it has left; "" if it is deleted too."""

    id: str
    text: str
    left: str = ""
    reason: str = ""
    """Why it would be deleted too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeletionPlan:
    """What deleting one memory or event would remove: memories, and words in events. Nothing was deleted."""

    id: str
    text: str
    events: int
    memories: int
    dry_run: bool = True
    blanked: tuple[BlankedWords, ...] = ()
    """The words that would be blanked in events that keep others."""
    kept: tuple[SharedMemory, ...] = ()
    """Memories that hold the words, or were written from them, and stay, with what remains of their texts."""
    taken: tuple[SharedMemory, ...] = ()
    """Memories that would be deleted too, each with the reason."""
    mentions: tuple[SharedMemory, ...] = ()
    """Memories that name a deleted value in their text or in a reason, and stay as they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeletionReceipt:
    """What a deletion removed: memories, and words in events. It holds no deleted words."""

    id: str
    events: int
    memories: int
    kept: tuple[str, ...] = ()
    """The ids of memories that held the words, or were written from them, and stayed without them."""
    taken: tuple[str, ...] = ()
    """The ids of memories that were deleted too; the plan gives the reason of each."""
    mentions: tuple[str, ...] = ()
    """The ids of memories that name a deleted value in their text or in a reason, and stayed as they are."""
    log_emptied: bool = True
    """Whether the write-ahead log was cut off. Otherwise a reader keeps the words there until it ends; the next commit
    tries again."""
    done: str = "deleted"
