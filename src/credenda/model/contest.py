"""A slot whose value keeps alternating, waiting for an answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from credenda.clock import to_datetime

__all__ = ["ContestCase", "ContestState", "SlotLoop", "from_contest_dict", "to_contest_dict"]


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
    def agent_question(self) -> str:
        """The question as an agent is to carry it to its user: what to ask, how to hand the answer back."""
        if self.state is not ContestState.OPEN:
            return ""
        return (
            f"Ask the user, at a fitting moment: {self.question} Do not choose for them. Then answer contest {self.id} "
            'with keep (one value, or in their words "X when …, else Y") or with scopes (a value for each).'
        )

    @property
    def opened_at(self) -> datetime:
        """When it was opened."""
        return to_datetime(self.opened_us)


def to_contest_dict(contest: ContestCase) -> dict[str, object]:
    """Give a contest as a table of plain values, in the form in which the change log keeps it."""
    listed = {"values": list(contest.values), "memory_ids": list(contest.memory_ids), "scopes": dict(contest.scopes)}
    table = {**asdict(contest), **listed, "state": contest.state.value}
    return {name: value for name, value in table.items() if value is not None}


def from_contest_dict(table: Mapping[str, Any]) -> ContestCase:
    """Read a contest from its table; raises `KeyError` or `TypeError` for a table that is none.

    >>> case = ContestCase(id="k1", speaker="user", entity="user", attribute="drink", scope=None, type_class="belief",
    ...                    values=("tea",), memory_ids=("m1",), state=ContestState.OPEN, question="?", opened_us=1)
    >>> contest_from(contest_table(case)) == case
    True
    """
    listed = {"values": tuple(table["values"]), "memory_ids": tuple(table["memory_ids"])}
    whole: dict[str, Any] = {"scope": None, **table, **listed, "state": ContestState(table["state"])}
    return ContestCase(**whole)


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotLoop:
    """A slot whose value was replaced again and again within a time (R-084): what it held, oldest first.

    `superseded_count` counts the replacements in that time, and those that a question held up; `contest_id` is the
    question that is open about it, if any.
    """

    speaker: str
    entity: str
    attribute: str
    scope: str | None
    superseded_count: int
    first_seen_us: int
    last_superseded_us: int
    values: tuple[str, ...]
    contest_id: str | None = None

    @property
    def first_seen(self) -> datetime:
        """When the first of the replaced values began to hold."""
        return to_datetime(self.first_seen_us)

    @property
    def last_superseded(self) -> datetime:
        """When the last of them was replaced."""
        return to_datetime(self.last_superseded_us)

    @property
    def chain(self) -> str:
        """The values in one line, "morning -> afternoon -> morning"."""
        return " -> ".join(self.values)
