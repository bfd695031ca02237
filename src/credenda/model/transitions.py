"""Allowed status transitions of memories, and their check.

The statuses are engram's five (E-015…E-019) and four of our own: candidate, archived, forgotten, deleted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from credenda.errors import Conflict
from credenda.model.memory import Status

__all__ = ["HELD", "TRANSITIONS", "UNTRUE", "check_transition"]

HELD: Final = frozenset({Status.ACTIVE, Status.CHALLENGED})
"""Statuses of current beliefs: `current` in reconciliation."""

UNTRUE: Final = frozenset({Status.SUPERSEDED, Status.MERGED, Status.INVALIDATED})
"""Statuses that need a `valid_until` (C-014)."""

_GONE: Final = frozenset({Status.FORGOTTEN, Status.DELETED})

TRANSITIONS: Final[Mapping[Status, frozenset[Status]]] = {
    Status.CANDIDATE: HELD | UNTRUE | _GONE,
    Status.ACTIVE: UNTRUE | _GONE | {Status.CHALLENGED, Status.ARCHIVED},
    # Restated, answered or confirmed after all: back to active.
    Status.CHALLENGED: UNTRUE | _GONE | {Status.ACTIVE, Status.ARCHIVED},
    # The three untrue statuses lead back by undo, by a retraction of the successor, or by a person's decision.
    # A replaced or merged memory may still turn out to have been wrong.
    Status.SUPERSEDED: HELD | {Status.INVALIDATED} | _GONE,
    Status.MERGED: HELD | {Status.INVALIDATED} | _GONE,
    Status.INVALIDATED: HELD | _GONE,
    # Archived, but still believed: recalled, challenged, or replaced by a later statement.
    Status.ARCHIVED: HELD | UNTRUE | _GONE,
    # `Restore` sets the previous status, whichever it was.
    Status.FORGOTTEN: frozenset(Status) - {Status.FORGOTTEN},
    # The words are deleted; nothing brings them back.
    Status.DELETED: frozenset(),
}
"""Every allowed transition; staying in a status is not one."""


def check_transition(old: Status, new: Status) -> None:
    """Raise `Conflict` unless a memory may move from one status to another.

    >>> check_transition(Status.ACTIVE, Status.CHALLENGED)
    """
    if new in TRANSITIONS[old]:
        return
    if new is old:
        raise Conflict(f"the memory is already {old}", fix="no change is needed")
    ways = ", ".join(sorted(TRANSITIONS[old]))
    raise Conflict(
        f"a memory that is {old} cannot become {new}",
        why="its words were deleted permanently" if old is Status.DELETED else f"from {old} it can only become {ways}",
        fix="store it again with `remember`" if old is Status.DELETED else "choose one of these, or undo first",
    )
