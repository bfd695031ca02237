"""A slot whose value keeps alternating, waiting for an answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from credenda.clock import to_datetime

__all__ = ["ContestCase", "ContestState"]


class ContestState(StrEnum):
    """Whether the question still stands."""

    OPEN = "open"
    RESOLVED = "resolved"


@dataclass(frozen=True, slots=True, kw_only=True)
class ContestCase:
    """One contest: the values that alternate, the memories that hold them, and the question for the person."""

    id: str
    speaker: str
    entity: str
    attribute: str
    scope: str | None
    type_class: str
    values: tuple[str, ...]
    memory_ids: tuple[str, ...]
    state: ContestState
    question: str
    opened_us: int
    resolved_us: int | None = None
    resolution: str | None = None
    scopes: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def opened_at(self) -> datetime:
        """When it was opened."""
        return to_datetime(self.opened_us)
