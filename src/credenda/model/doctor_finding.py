"""What a check found, and how a duty went: apart from the other reports, for every store knows these two."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["DutyRun", "Finding"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something that a check found: what is wrong, where, and what to do about it; never memory text.

    `check` names the test, and `where` the rows it is about, by their ids.
    """

    check: str
    detail: str
    repaired: bool = False
    where: str = ""
    fix: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DutyRun:
    """The last run of a duty: when it began, how long it took, and what it did in a few words; never memory text."""

    name: str
    started_us: int
    took_us: int
    result: str
    failed: bool = False
