"""What differs in belief between two times."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Literal

from credenda.clock import to_datetime
from credenda.model.memory import Memory

__all__ = ["Axis", "Diff", "Difference", "DifferenceKind"]

Axis = Literal["known", "valid"]


class DifferenceKind(StrEnum):
    """What became of a belief: `changed` and `corrected` have another in its place, `ended` has none."""

    CHANGED = "changed"
    CORRECTED = "corrected"
    MERGED = "merged"
    ADDED = "added"
    RESTORED = "restored"
    ENDED = "ended"
    DELETED = "deleted"
    CONTESTED = "contested"
    RESOLVED = "resolved"
    DOUBTED = "doubted"
    CONFIRMED = "confirmed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One belief that differs: `memory` as it stands at the later time, `previous` what it took the place of.

    A deleted memory has no words. `confirmations` counts how often it was said again between the two times, `reason`
    and `at` are those of the change that decided, and `changes` are the ids of all changes to it.
    """

    kind: DifferenceKind
    memory: Memory
    previous: Memory | None = None
    confirmations: int = 0
    reason: str = ""
    at_us: int
    changes: tuple[str, ...] = ()

    @property
    def at(self) -> datetime:
        """When it came about: was recorded, or on the axis `valid` became so."""
        return to_datetime(self.at_us)


@dataclass(frozen=True, slots=True, kw_only=True)
class Diff:
    """What differs in belief between two times, in the order in which it came about.

    On the axis `known` what was held is compared, on `valid` what was true as it is seen now. `counts` has the number
    of each kind.
    """

    axis: Axis
    since_us: int
    until_us: int
    differences: tuple[Difference, ...]
    counts: Mapping[str, int]

    @property
    def since(self) -> datetime:
        """The earlier time."""
        return to_datetime(self.since_us)

    @property
    def until(self) -> datetime:
        """The later time."""
        return to_datetime(self.until_us)
