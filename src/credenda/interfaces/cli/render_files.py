"""Text output of folder synchronisation."""

from __future__ import annotations

from typing import Final

from credenda.interfaces.cli.output import Screen, escape_controls
from credenda.model.report import SyncReport
from credenda.text.recalled_block import count_noun

_SHOWN: Final = 20


def render_sync(screen: Screen, report: SyncReport) -> str:
    """Show the changes of a synchronisation, in the files and in the memory."""
    pages = f"{len(report.written):,} written" + (f", {len(report.removed):,} removed" if report.removed else "")
    counts = (
        (report.remembered, "remembered"),
        (report.corrected, "corrected"),
        (report.deleted, "deleted"),
        (report.contested, "contested"),
    )
    rows = (
        ("from the files", ", ".join(f"{count:,} {name}" for count, name in counts if count)),
        ("pages", pages if report.written or report.removed else ""),
    )
    head = f"{'Would synchronise' if report.dry_run else 'Synchronised'} {escape_controls(report.path)}" + (
        "" if report.changed else ": nothing had changed"
    )
    files = [f"  {verb}: {escape_controls(one)}" for verb, one in _list_files(report)]
    lines = [head, screen.pairs(rows), *files[:_SHOWN], render_pending(report)]
    if len(files) > _SHOWN:
        lines.append(f"  and {len(files) - _SHOWN:,} more; --json names them")
    if report.waiting:
        lines.append(
            f"{count_noun(report.waiting, 'entry', 'is')} missing: `--missing delete` deletes, "
            "`--missing restore` writes them to the files again."
        )
    lines += [screen.fill(f"skipped: {one}", "  ", "    ") for one in report.left_alone[:_SHOWN]]
    lines += [screen.fill(f"note: {one}", "  ", "    ") for one in report.notes[:_SHOWN]]
    more = len(report.left_alone[_SHOWN:]) + len(report.notes[_SHOWN:])
    return "\n".join([line for line in lines if line] + ([f"and {more:,} more; --json names them"] if more else []))


def render_pending(report: SyncReport) -> str:
    """List entries that are missing from the files, a line each."""
    lines = [f"  missing: {escape_controls(one)}" for one in report.pending[:_SHOWN]]
    more = report.waiting - len(lines)
    return "\n".join([*lines, *([f"  and {more:,} more"] if lines and more > 0 else [])])


def _list_files(report: SyncReport) -> list[tuple[str, str]]:
    """Return the files that are written or removed, of a run and of a dry run alike."""
    return [*(("written", one) for one in report.written), *(("removed", one) for one in report.removed)]
