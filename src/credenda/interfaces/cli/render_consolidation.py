"""Text output of consolidation."""

from __future__ import annotations

from typing import Final

from credenda.interfaces.cli.layout import Screen, escape_controls
from credenda.model.consolidation import ConsolidationGroup, ConsolidationReport
from credenda.text.counts import count_noun

__all__ = ["TOOK_OVER", "render_consolidation"]

TOOK_OVER: Final = "An earlier run was killed; this run took over its lock."

_SHOWN: Final = 20
_TITLES: Final = {
    "merge": "same meaning",
    "duplicate": "duplicate",
    "change": "changed",
    "correction": "corrected",
    "failed": "not judged",
}


def render_consolidation(screen: Screen, report: ConsolidationReport) -> str:
    """Show the result of a consolidation, or its preview."""
    if not report.ran:
        hint = " `--force` runs it now." if report.reason.startswith("not due") else ""
        return "\n".join([f"Did not run: {escape_controls(report.reason)}.{hint}", *_list_troubles(screen, report)])
    did, written = ("would be", "new texts") if report.dry_run else ("were", "rewritten")
    looked = f"Looked at {report.examined:,} new memories (judge: {escape_controls(report.judge)})"
    counts = f"{report.memories_consolidated:,} {did} consolidated, {report.memories_created:,} {written}"
    lines = [TOOK_OVER] if report.took_over else []
    lines.append(f"{looked}; {counts}.")
    told = [group for group in report.groups if group.verdict != "keep"]
    lines += [line for group in told[:_SHOWN] for line in _group(group)]
    if len(told) > _SHOWN:
        lines.append(f"and {len(told) - _SHOWN:,} more; --json names them")
    if report.linked:
        lines.append(
            f"{count_noun(report.linked, 'group', 'is')} related: linked, otherwise unchanged; --json names them."
        )
    if report.changes:
        lines.append("`credenda why ID` explains a memory, `credenda undo CHANGE` reverts a change.")
    if report.reason:
        lines.append(f"Stopped early: {escape_controls(report.reason)}.")
    return "\n".join([*lines, *_list_troubles(screen, report)])


def _group(group: ConsolidationGroup) -> list[str]:
    title = f"\n{_TITLES.get(group.verdict, group.verdict)}: {escape_controls(group.reason)}"
    texts = group.texts or ("",) * len(group.ids)
    shown = zip(group.ids, texts, strict=True)
    lines = [f"  {'-' if one in group.gone else ' '} {one}  {escape_controls(text)}" for one, text in shown]
    if group.proposed is not None and group.verdict != "duplicate":
        lines.append(f"  + {group.created or '(new)'}  {escape_controls(group.proposed)}")
    return [title, *lines]


def _list_troubles(screen: Screen, report: ConsolidationReport) -> list[str]:
    lines: list[str] = []
    if report.failed:
        lines.append(
            screen.warn(f"{count_noun(report.failed, 'group')} could not be judged; the next run tries again.")
        )
    if report.refused:
        lines.append(f"{report.refused:,} proposals of the model failed the checks.")
    if report.quarantined:
        names = ", ".join(report.quarantined[:_SHOWN])
        lines.append(
            screen.warn(f"{count_noun(len(report.quarantined), 'memory')} failed three times, left out: {names}.")
        )
    return lines
