"""Results for people: each kind of result has one way to be shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

from credenda.interfaces.cli.layout import Screen, clean
from credenda.interfaces.cli.outcome import Done, Remembered
from credenda.interfaces.cli.render_beliefs import (
    contest,
    contests,
    explanation,
    history,
    memory,
    page,
    remembered,
)
from credenda.interfaces.cli.render_hits import results
from credenda.model.memory import Memory
from credenda.model.query import Context, Explanation, Page, SearchResult
from credenda.model.report import DoctorReport, ExportReport, ImportReport, Resolution, Stats

__all__ = ["render"]

_OPENINGS = {
    "correct": "Corrected; the old one leaves every answer.",
    "forget": "Forgotten; `credenda restore` brings it back.",
    "restore": "Restored.",
    "pin": "Pinned: it is in every context.",
    "unpin": "No longer pinned.",
}


def render(screen: Screen, operation: str, value: object) -> str:
    """Write the result of an operation for a person."""
    match value:
        case Memory():
            opening = _OPENINGS.get(operation)
            return "\n".join([*([opening] if opening else []), memory(screen, value)])
        case Remembered():
            return remembered(screen, value)
        case SearchResult():
            return results(screen, value)
        case Context():
            return value.text
        case Explanation():
            return explanation(screen, value)
        case Page():
            return page(screen, cast("Page[Memory]", value))
        case Done():
            return f"{value.done.capitalize()}: {value.id}"
        case _:
            return _report(screen, operation, value)


def _report(screen: Screen, operation: str, value: object) -> str:
    match value:
        case Stats():
            return stats(screen, value)
        case DoctorReport():
            return doctor(screen, value)
        case ExportReport():
            return f"Wrote {clean(value.path)}\n{_counts(screen, value.rows)}"
        case ImportReport():
            return imported(screen, value)
        case Resolution():
            return f"Answered.\n{contest(screen, value.contest)}"
        case list() | tuple():
            items = cast("list[Any]", value)
            return history(screen, items) if operation == "history" else contests(screen, items)
        case _:
            return "Done." if value is None else clean(str(value))


def _counts(screen: Screen, counts: Mapping[str, int]) -> str:
    return screen.pairs((name.replace("_", " "), f"{count:,}") for name, count in counts.items())


def stats(screen: Screen, found: Stats) -> str:
    """Show what is held and what waits."""
    rows = (
        ("events", _with(f"{found.events:,}", f"{found.redacted_events:,} redacted", found.redacted_events)),
        ("active memories", f"{found.total:,}"),
        ("by type", _list(found.by_type)),
        ("by status", _list(found.memories)),
        ("changes", f"{found.changes:,}"),
        ("open contests", f"{found.open_contests:,}"),
        ("still to be read", f"{found.pending_extractions:,}"),
        ("set aside", f"{found.dead_jobs:,} jobs failed for good" if found.dead_jobs else ""),
        ("vectors", f"{found.vectors:,}"),
        ("tombstones", f"{found.tombstones:,}"),
    )
    return screen.pairs(rows, indent="")


def _with(text: str, more: str, count: int) -> str:
    return f"{text} ({more})" if count else text


def _list(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)


def doctor(screen: Screen, report: DoctorReport) -> str:
    """Show what a check of the store found."""
    lines = ["Everything holds." if report.ok else screen.warn("Something is wrong.")]
    lines += [
        screen.fill(f"{'repaired' if one.repaired else 'wrong'}: {one.check}: {one.detail}", "  ", "    ")
        for one in report.findings
    ]
    if not report.ok:
        lines.append("`credenda doctor --repair` rebuilds what is derived; for the rest restore a backup.")
    lines.append(screen.dim(screen.fill(f"checked: {', '.join(report.checks)}")))
    return "\n".join(lines)


def imported(screen: Screen, report: ImportReport) -> str:
    """Show what an import took in."""
    rows: Iterable[tuple[str, str]] = (
        ("format", report.format),
        ("conversations", f"{report.conversations:,}" if report.conversations else ""),
        ("turns", f"{report.turns:,}" if report.turns else ""),
        ("there already", f"{report.skipped:,}" if report.skipped else ""),
        ("rows", _list(report.rows)),
    )
    lines = [f"Read {clean(report.path)}", screen.pairs(rows)]
    lines += [screen.fill(f"left out: {problem}", "  ", "    ") for problem in report.problems]
    return "\n".join(lines)
