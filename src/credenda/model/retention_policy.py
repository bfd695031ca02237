"""Retention policies and legal holds of a memory, set by a person."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from credenda.clock import to_datetime


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
