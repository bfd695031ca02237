"""The text of a dream report: open findings first, then the completed work."""

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
    "probe": "To review",
    "drift": "Code drift",
    "prune": "Pruned",
}
_SHOWN: Final = 5
_UNSETTLED: Final = ("probe", "drift")
"""Steps with findings for the user; they come first."""


def write_report(steps: Sequence[DreamStep], now_us: int, zone: tzinfo, *, dry_run: bool) -> str:
    """Return the report text of a dream; findings that need a person come before completed work."""
    day = to_datetime(now_us).astimezone(zone)
    opening = "A dream now would do this:" if dry_run else f"Dream of {day:%A}, {day.day} {day:%B %Y}."
    lines = [opening]
    busy = [step for step in steps if step.told and not step.failed]
    for step in sorted(busy, key=lambda one: one.name not in _UNSETTLED):
        lines += ["", _TITLES.get(step.name, step.name), *(f"  - {one}" for one in step.told[:_SHOWN])]
        if len(step.told) > _SHOWN:
            lines.append(f"  - and {len(step.told) - _SHOWN:,} more.")
    if not busy:
        lines += ["", "Nothing changed."]
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
    lines += ["", *(f"Failed and skipped: {step.name} ({step.reason})." for step in failed)] if failed else []
    return "\n".join(lines)
