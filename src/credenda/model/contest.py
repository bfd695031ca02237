"""Contests: slots whose value keeps alternating and that need an answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from credenda.clock import to_datetime


class ContestState(StrEnum):
    """Whether the question is still open."""

    OPEN = "open"
    RESOLVED = "resolved"


@dataclass(frozen=True, slots=True, kw_only=True)
class ContestCase:
    """A contest: the alternating values, the memories that hold them, and the question for the person."""

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
        """The question for an agent to pass to its user, with instructions for submitting the answer."""
        if self.state is not ContestState.OPEN:
            return ""
        return (
            f"Ask the user, at a fitting moment: {self.question} Do not choose for them. Then answer contest {self.id} "
            'with keep (one value, or in their words "X when …, else Y") or with scopes (a value for each).'
        )

    @property
    def opened_at(self) -> datetime:
        """The time of its opening."""
        return to_datetime(self.opened_us)


def to_contest_dict(contest: ContestCase) -> dict[str, object]:
    """Convert a contest to a mapping of plain values, in the form of the change log."""
    listed = {"values": list(contest.values), "memory_ids": list(contest.memory_ids), "scopes": dict(contest.scopes)}
    table = {**asdict(contest), **listed, "state": contest.state.value}
    return {name: value for name, value in table.items() if value is not None}


def from_contest_dict(table: Mapping[str, Any]) -> ContestCase:
    """Build a contest from its mapping; raises `KeyError` or `TypeError` for an invalid one.

    >>> case = ContestCase(id="k1", speaker="user", entity="user", attribute="drink", scope=None, type_class="belief",
    ...                    values=("tea",), memory_ids=("m1",), state=ContestState.OPEN, question="?", opened_us=1)
    >>> from_contest_dict(to_contest_dict(case)) == case
    True
    """
    listed = {"values": tuple(table["values"]), "memory_ids": tuple(table["memory_ids"])}
    whole: dict[str, Any] = {"scope": None, **table, **listed, "state": ContestState(table["state"])}
    return ContestCase(**whole)


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotLoop:
    """A slot whose value was replaced repeatedly within a period (R-084), with its values, oldest first.

    `superseded_count` counts the replacements in that period, including those that a contest prevented; `contest_id` is
    the open contest about the slot, if any.
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
        """The time from which the first of the replaced values was valid."""
        return to_datetime(self.first_seen_us)

    @property
    def last_superseded(self) -> datetime:
        """The time at which the last of them was replaced."""
        return to_datetime(self.last_superseded_us)

    @property
    def chain(self) -> str:
        """The values in one line, "morning -> afternoon -> morning"."""
        return " -> ".join(self.values)
