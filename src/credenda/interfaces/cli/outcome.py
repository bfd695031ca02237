"""Results of commands that return more than their operation does."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from credenda.model.change import ChangeKind, ChangeRecord, ContestCase
from credenda.model.event import Receipt
from credenda.model.memory import Memory


class Consequence(StrEnum):
    """One change that a message caused."""

    ADDED = "added"
    CHANGED = "changed"
    CONFIRMED = "confirmed"
    ENDED = "ended"
    CONTESTED = "contested"
    ADJUSTED = "adjusted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Believed:
    """One belief that resulted from a message; `previous` are the memories that it replaced."""

    consequence: Consequence
    memory: Memory
    previous: tuple[Memory, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """A receipt with the resulting beliefs; `settled` tells whether the whole message has been processed."""

    receipt: Receipt
    settled: bool
    believed: tuple[Believed, ...] = ()
    contests: tuple[ContestCase, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """The result of a command whose operation returns nothing."""

    id: str
    done: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a command found or did, and the code to exit with; `shown_as` names an operation that tells it better.

    `written` says that the result is on standard output already. `noted` goes to standard error after it.
    """

    value: object
    exit_code: int = 0
    shown_as: str = ""
    written: bool = False
    noted: str = ""


_CONSEQUENCES = {
    ChangeKind.ADD: Consequence.ADDED,
    ChangeKind.CONFIRM: Consequence.CONFIRMED,
    ChangeKind.CONTEST: Consequence.CONTESTED,
}


def find_successor(change: ChangeRecord) -> str | None:
    """Return the memory that replaced a superseded one, or None."""
    found = change.after.get("superseded_by")
    return found if isinstance(found, str) else None


def describe_change(change: ChangeRecord) -> Consequence:
    """Describe a change in words."""
    if change.kind is ChangeKind.SUPERSEDE:
        return Consequence.ADJUSTED if find_successor(change) else Consequence.ENDED
    return _CONSEQUENCES.get(change.kind, Consequence.ADJUSTED)
