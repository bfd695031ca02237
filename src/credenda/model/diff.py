"""The differences in belief between two times."""

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
    """The kind of a difference: `changed` and `corrected` beliefs have a successor, `ended` ones have none."""

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
    """One belief that differs: `memory` at the later time, `previous` its predecessor.

    A deleted memory has no words. `confirmations` counts repeated statements between the two times, `reason` and `at`
    belong to the deciding change, and `changes` are the ids of all changes to it.
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
        """The time of the difference: of its recording, or on the axis `valid` the start of its validity."""
        return to_datetime(self.at_us)


@dataclass(frozen=True, slots=True, kw_only=True)
class Diff:
    """The differences in belief between two times, in chronological order.

    The axis `known` compares the beliefs held at the two times, `valid` the values true at them as known now. `counts`
    has the number of each kind.
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
