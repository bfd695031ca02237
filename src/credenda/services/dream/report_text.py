"""The report of a night as a few lines for the morning: what waits for somebody first, then what was done."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import tzinfo
from typing import Final

from credenda.clock import to_datetime
from credenda.model.dream import DreamStep

__all__ = ["write_report"]

_TITLES: Final = {
    "forgetting": "Forgetting",
    "merge": "Merged",
    "cards": "Cards",
    "bridges": "Bridges",
    "probe": "Worth a second look",
    "drift": "Code that has moved on",
    "prune": "Tidied away",
}
_SHOWN: Final = 5
_UNSETTLED: Final = ("probe", "drift")
"""Steps whose findings wait for a person: they come first."""


def write_report(steps: Sequence[DreamStep], now_us: int, zone: tzinfo, *, dry_run: bool) -> str:
    """Tell of a night in plain sentences; what needs somebody's eye comes before what was merely done."""
    day = to_datetime(now_us).astimezone(zone)
    opening = "If you dreamed now:" if dry_run else f"The night to {day:%A}, {day.day} {day:%B %Y}."
    lines = [opening]
    busy = [step for step in steps if step.told and not step.failed]
    for step in sorted(busy, key=lambda one: one.name not in _UNSETTLED):
        lines += ["", _TITLES.get(step.name, step.name), *(f"  - {one}" for one in step.told[:_SHOWN])]
        if len(step.told) > _SHOWN:
            lines.append(f"  - and {len(step.told) - _SHOWN:,} more.")
    if not busy:
        lines += ["", "Nothing moved."]
    quiet = [_TITLES.get(step.name, step.name).casefold() for step in steps if step.ran and not step.told]
    if quiet and busy:
        lines += ["", f"Nothing to do: {', '.join(quiet)}."]
    skipped = [step for step in steps if not step.ran]
    lines += (
        ["", *(f"Not done: {_TITLES.get(step.name, step.name).casefold()}; {step.reason}." for step in skipped)]
        if skipped
        else []
    )
    failed = [step for step in steps if step.failed]
    lines += ["", *(f"Failed, and passed over: {step.name} ({step.reason})." for step in failed)] if failed else []
    return "\n".join(lines)
