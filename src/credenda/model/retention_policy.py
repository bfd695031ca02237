"""Rules about forgetting that a person sets for a memory: what goes by age, and what must stay."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from credenda.clock import to_datetime

__all__ = ["LegalHold", "PoliciesAndHolds", "RetentionPolicy"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionPolicy:
    """What was said more than `days` days ago is deleted: all of it, or what belongs to a topic.

    Filed with `days` = 0 it takes the policy of that topic away.
    """

    topic: str | None
    days: int
    set_us: int = 0

    @property
    def set_at(self) -> datetime:
        """Since when it holds."""
        return to_datetime(self.set_us)


@dataclass(frozen=True, slots=True, kw_only=True)
class LegalHold:
    """Why nothing may be deleted, from when, and until when; filed with `lifted_us`, it lifts the one in force."""

    reason: str
    set_us: int
    lifted_us: int | None = None
    lifted_reason: str | None = None

    @property
    def set_at(self) -> datetime:
        """Since when it holds."""
        return to_datetime(self.set_us)

    @property
    def lifted_at(self) -> datetime | None:
        """When it was lifted; None while it holds."""
        return None if self.lifted_us is None else to_datetime(self.lifted_us)


@dataclass(frozen=True, slots=True, kw_only=True)
class PoliciesAndHolds:
    """The policies of a memory by topic, and all its legal holds, oldest first."""

    policies: tuple[RetentionPolicy, ...] = ()
    holds: tuple[LegalHold, ...] = ()
