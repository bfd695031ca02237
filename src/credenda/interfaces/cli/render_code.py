"""Text output of code scans and drift checks."""

from __future__ import annotations

from typing import Final

from credenda.interfaces.cli.layout import Screen, escape_controls
from credenda.model.code import DriftReport, ScanReport
from credenda.text.counts import count_kind, count_noun

__all__ = ["render_drift", "render_scan"]

_SHOWN: Final = 20


def render_scan(screen: Screen, report: ScanReport) -> str:
    """Show what a scan stored."""
    counts = (
        ("files", f"{report.files:,}"),
        ("new memories", f"{report.added:,}"),
        ("changed", f"{report.changed:,}"),
        ("unchanged", f"{report.unchanged:,}"),
        ("gone", f"{report.removed:,}"),
        ("binary files", f"{report.binary:,}"),
        ("with a secret masked", f"{report.masked:,}"),
        ("skipped", f"{report.passed_over:,}"),
    )
    shown = [(name, count) for name, count in counts if count != "0" or name in {"files", "new memories"}]
    lines = [f"Scanned {escape_controls(report.root)}", screen.pairs(shown), *_list_problems(report.problems)]
    return "\n".join(lines)


def _list_problems(problems: tuple[str, ...]) -> list[str]:
    more = [f"and {len(problems) - _SHOWN:,} more; --json names them"] if len(problems) > _SHOWN else []
    return [*(f"skipped: {escape_controls(problem)}" for problem in problems[:_SHOWN]), *more]


def render_drift(screen: Screen, report: DriftReport) -> str:
    """Show how far memories and code agree, with the mismatches."""
    claims = sum(report.checked.values())
    kinds = ", ".join(count_kind(count, name) for name, count in report.checked.items())
    told = f"{count_noun(claims, 'claim')} ({kinds})" if kinds else "no claim about code"
    lines = [f"Score {report.score} of 100: {told} in {count_kind(report.memories, 'memories')}."]
    if not report.ran:
        lines.append(f"Nothing could be checked: {report.reason}.")
    if report.findings:
        rows = [
            (
                finding.memory_id,
                finding.level,
                finding.code,
                escape_controls(finding.what),
                escape_controls(finding.where),
            )
            for finding in report.findings[:_SHOWN]
        ]
        lines.append(screen.table(("ID", "LEVEL", "CODE", "PROBLEM", "LOOKED IN"), rows))
        if len(report.findings) > _SHOWN:
            lines.append(f"and {len(report.findings) - _SHOWN:,} more; --json names them all")
    errors = {finding.memory_id for finding in report.findings if finding.level == "error"}
    if report.fix:
        lines.append(
            f"{count_noun(len(report.invalidated), 'memory', 'was')} invalidated; `credenda undo` reverts this."
        )
    elif errors:
        lines.append(f"--fix would invalidate {len(errors):,} of these memories; nothing was changed.")
    return "\n".join([*lines, *_list_problems(report.problems)])
