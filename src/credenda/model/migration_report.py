"""The report of a migration between two databases: counts and names, never memory text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class UnmovedUser:
    """A user whose memory was not moved, or whose copy is not equal to it, and why."""

    user: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MigrationReport:
    """The rows that a migration moved and verified."""

    ok: bool
    """Whether every user is in the target with equal rows and equal results of searches."""
    moved: int
    """Users whose memories were moved by this run."""
    present: int
    """Users whose memories an earlier run had moved; they were verified again."""
    rows: Mapping[str, int] = field(default_factory=dict[str, int])
    """Verified rows of each table, of all users."""
    searches: int = 0
    """Searches that were run in both databases, with the same hits in the same order and with the same scores."""
    tokens: int = 0
    members: int = 0
    erasures: int = 0
    """Tokens, members and entries of the ledger of erasures that this run added to the target."""
    unmoved: tuple[UnmovedUser, ...] = ()
    left: tuple[str, ...] = ()
    """What stays behind by design."""
