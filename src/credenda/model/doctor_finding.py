"""Check findings and task runs: a separate module, because every store imports these two."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A finding of a check: the problem, its place, and the fix; never memory text.

    `check` is the name of the check, and `where` the ids of the rows.
    """

    check: str
    detail: str
    repaired: bool = False
    where: str = ""
    fix: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DutyRun:
    """The last run of a scheduled task: start, duration, and a short result; never memory text."""

    name: str
    started_us: int
    took_us: int
    result: str
    failed: bool = False
