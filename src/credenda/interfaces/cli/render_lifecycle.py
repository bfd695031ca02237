"""Text output of the core block, retention, layers, the dream and scheduled tasks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from credenda.interfaces.cli.output import (
    SHOWN,
    Screen,
    count_rest,
    escape_controls,
    format_count,
    list_values,
    register_output,
    truncate,
)
from credenda.model.change import Add, Change
from credenda.model.core import Core, CoreLine
from credenda.model.evaluation import ExtractionPreview
from credenda.model.memory import Stance
from credenda.model.report import (
    ConsolidationReport,
    DreamReport,
    DriftReport,
    RetentionCurves,
    ScanReport,
    ScheduleReport,
)
from credenda.text.recalled_block import count_kind, count_noun


@register_output(ExtractionPreview)
def _show_extraction_preview(screen: Screen, preview: ExtractionPreview) -> Iterator[str]:
    for one in preview.claims:
        value = f"not {one.value}" if one.stance == Stance.NEGATED else one.value
        slot = f"{one.entity} {one.attribute}: {value}" if one.attribute else one.text
        yield f"{screen.bold(one.outcome.value)}  {escape_controls(slot)}"
        notes = [one.reason, *(f"replaces {old.id}: {old.text}" for old in one.replaced), one.question]
        yield from map(screen.item, filter(None, notes))
    if not preview.claims:
        yield "Nothing would be extracted."
    yield from (screen.item(f"refused: {one}") for one in preview.refused)
    yield from (screen.item(f"unread: {one}") for one in preview.unread)
    if preview.model_would_read:
        yield screen.dim("A language model would read it too, and may find more.")
    yield screen.dim("Nothing was stored.")


# Text output of consolidation.


_TOOK_OVER: Final = "An earlier run was killed; this run took over its lock."
_NAMES_THEM: Final = "; --json names them"
_NAMES_ALL: Final = "; --json names them all"
_TITLES: Final = {
    "merge": "same meaning",
    "duplicate": "duplicate",
    "change": "changed",
    "correction": "corrected",
    "refused": "refused",
    "failed": "not judged",
}


@register_output(ConsolidationReport)
def _show_consolidation(screen: Screen, report: ConsolidationReport) -> Iterator[str]:
    if report.ran:
        yield from _list_groups(report)
    else:
        hint = " `--force` runs it now." if report.reason.startswith("not due") else ""
        yield f"Did not run: {escape_controls(report.reason)}.{hint}"
    if report.failed:
        yield screen.warn(f"{count_noun(report.failed, 'group')} could not be judged; the next run tries again.")
    if report.refused:
        yield f"{report.refused:,} proposals of the model failed the checks."
    if report.quarantined:
        names = ", ".join(report.quarantined[:SHOWN])
        left_out = f"{count_noun(len(report.quarantined), 'memory')} failed three times, left out: {names}."
        yield screen.warn(left_out)


def _list_groups(report: ConsolidationReport) -> Iterator[str]:
    did, written = ("would be", "new texts") if report.dry_run else ("were", "rewritten")
    looked = f"Looked at {report.examined:,} new memories (judge: {escape_controls(report.judge)})"
    counts = f"{report.memories_consolidated:,} {did} consolidated, {report.memories_created:,} {written}"
    yield from [_TOOK_OVER] if report.took_over else []
    yield f"{looked}; {counts}."
    told = [group for group in report.groups if group.verdict != "keep"]
    for group in told[:SHOWN]:
        yield f"\n{_TITLES.get(group.verdict, group.verdict)}: {escape_controls(group.reason)}"
        for one, text in zip(group.ids, group.texts or ("",) * len(group.ids), strict=True):
            yield f"  {'-' if one in group.gone else ' '} {one}  {escape_controls(text)}"
        if group.proposed is not None and group.verdict != "duplicate":
            yield f"  + {group.created or '(new)'}  {escape_controls(group.proposed)}"
    yield from count_rest(len(told), _NAMES_THEM)
    if report.linked:
        yield f"{count_noun(report.linked, 'group', 'is')} related: linked, otherwise unchanged{_NAMES_THEM}."
    if report.changes:
        yield "`credenda why ID` explains a memory, `credenda undo CHANGE` reverts a change."
    if report.reason:
        yield f"Stopped early: {escape_controls(report.reason)}."


# Text output of code scans and drift checks.


@register_output(ScanReport)
def _show_scan(screen: Screen, report: ScanReport) -> Iterator[str]:
    rows = (
        ("files", f"{report.files:,}"),
        ("new memories", f"{report.added:,}"),
        ("changed", format_count(report.changed)),
        ("unchanged", format_count(report.unchanged)),
        ("gone", format_count(report.removed)),
        ("binary files", format_count(report.binary)),
        ("with a secret masked", format_count(report.masked)),
        ("skipped", format_count(report.passed_over)),
    )
    yield f"Scanned {escape_controls(report.root)}"
    yield screen.pairs(rows)
    yield from _list_problems(report.problems)


def _list_problems(problems: Sequence[str]) -> Iterator[str]:
    yield from (f"skipped: {escape_controls(problem)}" for problem in problems[:SHOWN])
    yield from count_rest(len(problems), _NAMES_THEM)


@register_output(DriftReport)
def _show_drift(screen: Screen, report: DriftReport) -> Iterator[str]:
    claims = sum(report.checked.values())
    kinds = ", ".join(count_kind(count, name) for name, count in report.checked.items())
    told = f"{count_noun(claims, 'claim')} ({kinds})" if kinds else "no claim about code"
    yield f"Score {report.score} of 100: {told} in {count_kind(report.memories, 'memories')}."
    if not report.ran:
        yield f"Nothing could be checked: {report.reason}."
    if report.findings:
        rows = [(one.memory_id, one.level, one.code, one.what, one.where) for one in report.findings[:SHOWN]]
        yield screen.table(("ID", "LEVEL", "CODE", "PROBLEM", "LOOKED IN"), rows)
        yield from count_rest(len(report.findings), _NAMES_ALL)
    errors = {finding.memory_id for finding in report.findings if finding.level == "error"}
    if report.fix:
        yield f"{count_noun(len(report.invalidated), 'memory', 'was')} invalidated; `credenda undo` reverts this."
    elif errors:
        yield f"--fix would invalidate {len(errors):,} of these memories; nothing was changed."
    yield from _list_problems(report.problems)


_WIDE: Final = 90
_LEFT_OUT: Final = 10
_HOW_TO_FILL: Final = "The core is empty: give a standing instruction, pin a memory, or say who you are."
_AGES: Final = (0, 7, 15, 30, 60, 90, 180)


@register_output(Core)
def _show_core(screen: Screen, found: Core) -> Iterator[str]:
    shown = found.text.splitlines()
    if not found.lines:
        yield "The core is empty." if found.left_out else _HOW_TO_FILL
    else:
        yield "\n".join(map(escape_controls, shown))
        yield ""
        yield screen.table(("ID", "WHERE", "WHY"), [(one.memory_id, one.section, one.reason) for one in found.lines])
    yield f"{found.tokens:,} of {found.tokens_max:,} tokens, {len(shown):,} of {found.lines_max:,} lines."
    if found.left_out:
        left = f"{len(found.left_out):,} did not fit: {', '.join(found.left_out[:_LEFT_OUT])}"
        yield screen.fill(f"{left}; raise core_tokens and core_lines, or forget some.", "", "  ")
    if found.diff:
        yield "The last rewrite changed:" if not found.rewritten else "Rewritten:"
        yield from (screen.item(f"+ {_word_line(line)}") for line in found.diff.added)
        yield from (screen.item(f"- {_word_line(line)}") for line in found.diff.removed)
        for before, after in found.diff.reworded:
            moved = before.text == after.text
            told = f"{_word_line(after)} ({before.section} → {after.section})"
            yield screen.item(f"~ {told}" if moved else f"~ {_word_line(before)} → {_word_line(after)}")


def _word_line(line: CoreLine) -> str:
    return escape_controls(line.text).removeprefix("- ") or f"[{line.memory_id}] (deleted)"


@register_output(DreamReport)
def _show_dream(screen: Screen, report: DreamReport) -> Iterator[str]:
    if not report.ran:
        kept = "a run that was killed on another machine keeps its lock for some minutes"
        yield f"The dream did not run: {escape_controls(report.reason)}; {kept}."
        return
    yield from [_TOOK_OVER] if report.took_over else []
    for line in report.brief.splitlines():
        yield screen.fill(line, line[: len(line) - len(line.lstrip())], "    ")
    changes = [change for step in report.steps for change in step.changes] if report.dry_run else []
    if changes:
        yield ""
        yield screen.table(("WOULD", "MEMORY", "WHAT"), list(map(_list_planned, changes[:SHOWN])))
        yield from count_rest(len(changes), _NAMES_ALL)
    if report.dry_run:
        yield ""
        yield f"{report.changed:,} changes would be made; nothing was changed."


def _list_planned(change: Change) -> tuple[str, str, str]:
    what = change.draft.text if isinstance(change, Add) else change.reason
    return type(change).__name__, str(getattr(change, "memory_id", "new")), truncate(escape_controls(what), _WIDE)


@register_output(RetentionCurves)
def _show_retention(screen: Screen, found: RetentionCurves) -> Iterator[str]:
    yield f"Profile {found.profile}, curve {found.mode}; memories with lower trust decay faster."
    rows = [
        (curve.name, f"{curve.half_life_days:g} d", *(f"{curve.values[age]:.2f}" for age in _AGES))
        for curve in found.curves
    ]
    yield screen.table(("CURVE", "HALF-LIFE", *(f"{age} D" for age in _AGES)), rows)
    if not found.points:
        yield "There are no memories yet."
        return
    yield f"The newest {count_noun(len(found.points), 'memory')}, the most decayed first:"
    points = [
        (
            *(point.memory_id, point.layer, f"{point.age_days:.1f} d", f"{point.score:.3f}"),
            " ".join(f"{name} {value:+.3f}" for name, value in point.terms.items() if value),
            "" if point.earned is None else f"{point.earned.score:.3f}",
        )
        for point in sorted(found.points, key=lambda point: point.score)[:SHOWN]
    ]
    yield screen.table(("ID", "LAYER", "SINCE USE", "RETAINED", "TERMS", "EARNED"), points)


@register_output(ScheduleReport)
def _show_duties(screen: Screen, report: ScheduleReport) -> Iterable[str]:
    for run in report.ran:
        yield f"Ran {run.name}: {'failed: ' if run.failed else ''}{escape_controls(run.result)}."
    if report.reason:
        yield f"Ran nothing{' more' if report.ran else ''}: {escape_controls(report.reason)}."
    names = ("name", "every_seconds", "last_us", "took_ms", "next_us", "failed", "result")
    yield list_values(screen, report.duties, names)
    if late := [one.name for one in report.duties if one.overdue]:
        why = "no `credenda worker` runs, or it cannot keep up"
        yield screen.warn(f"Overdue: {', '.join(late)}; {why}.")
