"""Text output of the core block, retention, layers, the dream and scheduled tasks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from credenda.clock import to_datetime
from credenda.interfaces.cli.output import Screen, escape_controls, truncate
from credenda.interfaces.cli.render_work import TOOK_OVER
from credenda.model.change import Add, Change, SetLayer, SetStatus
from credenda.model.compression_report import CompressReport, CompressTier
from credenda.model.core import Core, CoreLine
from credenda.model.dream import DreamReport
from credenda.model.report import DecayReport, DutyState, LifecycleReport, RetentionCurves, ScheduleReport, ScoreMove
from credenda.text.counts import count_noun

_SHOWN: Final = 20
_WIDE: Final = 90
_LEFT_OUT: Final = 10
_HOW_TO_FILL: Final = "The core is empty: give a standing instruction, pin a memory, or say who you are."
_AGES: Final = (0, 7, 15, 30, 60, 90, 180)


def render_core(screen: Screen, found: Core) -> str:
    """Show the core block, the reason for each line, and the changes of the last rewrite."""
    if not found.lines:
        told = ["The core is empty." if found.left_out else _HOW_TO_FILL]
    else:
        rows = [(line.memory_id, line.section, escape_controls(line.reason)) for line in found.lines]
        told = [
            "\n".join(map(escape_controls, found.text.splitlines())),
            "",
            screen.table(("ID", "WHERE", "WHY"), rows),
        ]
    shown = len(found.text.splitlines())
    told.append(f"{found.tokens:,} of {found.tokens_max:,} tokens, {shown:,} of {found.lines_max:,} lines.")
    if found.left_out:
        left = f"{len(found.left_out):,} did not fit: {', '.join(found.left_out[:_LEFT_OUT])}"
        told.append(screen.fill(f"{left}; raise core_tokens and core_lines, or forget some.", "", "  "))
    return "\n".join([*told, *_render_rewrite(screen, found)])


def _render_rewrite(screen: Screen, found: Core) -> list[str]:
    if not found.diff:
        return []
    told = ["The last rewrite changed:" if not found.rewritten else "Rewritten:"]
    told += [screen.fill(f"+ {_word_line(line)}", "  ", "    ") for line in found.diff.added]
    told += [screen.fill(f"- {_word_line(line)}", "  ", "    ") for line in found.diff.removed]
    told += [
        screen.fill(f"~ {_word_line(before)} → {_word_line(after)}", "  ", "    ")
        for before, after in found.diff.reworded
    ]
    return told


def _word_line(line: CoreLine) -> str:
    return escape_controls(line.text).removeprefix("- ") or f"[{line.memory_id}] (deleted)"


def render_decay(screen: Screen, report: DecayReport) -> str:
    """Show the result of a decay run."""
    verb = "would move" if report.dry_run else "moved"
    scores = count_noun(report.updated, "score")
    lines = [f"Looked at {count_noun(report.examined, 'memory')} (profile {report.profile}); {scores} {verb}."]
    if report.moves:
        rows = [_move(move) for move in report.moves[:_SHOWN]]
        lines.append(screen.table(("ID", "BEFORE", "AFTER"), rows))
    lines += _render_rest(len(report.moves))
    return "\n".join(lines)


def _move(move: ScoreMove) -> tuple[str, str, str]:
    return move.memory_id, "–" if move.before is None else f"{move.before:.3f}", f"{move.after:.3f}"


def _render_rest(count: int) -> list[str]:
    return [f"and {count - _SHOWN:,} more; --json names them all"] if count > _SHOWN else []


def render_lifecycle(screen: Screen, report: LifecycleReport) -> str:
    """Show how many memories were promoted and archived."""
    done = "would be" if report.dry_run else "were"
    counts = f"{report.promoted:,} {done} promoted, {report.archived:,} archived"
    lines = [f"Looked at {report.examined:,} working and episodic memories; {counts}."]
    if report.changes:
        lines.append(screen.table(("ID", "TO", "WHY"), [_step(change) for change in report.changes[:_SHOWN]]))
    lines += _render_rest(len(report.changes))
    return "\n".join(lines)


def render_dream(screen: Screen, report: DreamReport) -> str:
    """Show the report of a dream, and the exact changes of a dry run."""
    if not report.ran:
        kept = "a run that was killed on another machine keeps its lock for some minutes"
        return f"The dream did not run: {escape_controls(report.reason)}; {kept}."
    lines = [TOOK_OVER] if report.took_over else []
    lines += [
        screen.fill(escape_controls(line), line[: len(line) - len(line.lstrip())], "    ")
        for line in report.brief.splitlines()
    ]
    changes = [change for step in report.steps for change in step.changes] if report.dry_run else []
    if changes:
        rows = [_list_planned(change) for change in changes[:_SHOWN]]
        lines += ["", screen.table(("WOULD", "MEMORY", "WHAT"), rows), *_render_rest(len(changes))]
    if report.dry_run:
        lines += ["", f"{report.changed:,} changes would be made; nothing was changed."]
    return "\n".join(lines)


def _list_planned(change: Change) -> tuple[str, str, str]:
    what = change.draft.text if isinstance(change, Add) else change.reason
    return type(change).__name__, str(getattr(change, "memory_id", "new")), truncate(escape_controls(what), _WIDE)


def _step(change: Change) -> tuple[str, str, str]:
    match change:
        case SetLayer():
            return change.memory_id, change.layer, change.reason
        case SetStatus():
            return change.memory_id, change.status, change.reason
        case _:
            return "", type(change).__name__, change.reason


def render_compression(screen: Screen, report: CompressReport) -> str:
    """Show the bytes that compression saves, and its loss of precision."""
    if not report.examined:
        return "No memory has a vector, so there is nothing to compress."
    verb = "would be" if report.dry_run else "were"
    rows = [_render_tier(one) for one in report.tiers if one.vectors]
    saved = f"{report.bytes_before:,} bytes → {report.bytes_after:,}"
    lines = [
        f"{report.compressed:,} of {report.examined:,} vectors of memories {verb} reduced to fewer bits; {saved}.",
        screen.table(("BITS", "VECTORS", "CHANGED", "BYTES", "AFTER", "FIDELITY", "WORST"), rows),
    ]
    if report.dry_run and report.compressed:
        lines.append("Nothing was changed; --apply applies this.")
    if report.compressed and not report.restores:
        lines.append("note: no embedder is open; without one, recalled memories do not regain precision.")
    return "\n".join(lines)


def _render_tier(one: CompressTier) -> tuple[str, ...]:
    bits = {32: "exact", 0: "skipped"}.get(one.bits, str(one.bits))
    counts = (f"{one.vectors:,}", f"{one.compressed:,}", f"{one.bytes_before:,}", f"{one.bytes_after:,}")
    kept = ["\u2013" if part is None else f"{part:.4f}" for part in (one.fidelity, one.least_fidelity)]
    return bits, *counts, *kept


def render_retention(screen: Screen, found: RetentionCurves) -> str:
    """Show the decay curves at some ages, and the most decayed memories."""
    head = ("CURVE", "HALF-LIFE", *(f"{age} D" for age in _AGES))
    rows = [
        (curve.name, f"{curve.half_life_days:g} d", *(f"{curve.values[age]:.2f}" for age in _AGES))
        for curve in found.curves
    ]
    opening = f"Profile {found.profile}, curve {found.mode}; memories with lower trust decay faster."
    lines = [opening, screen.table(head, rows)]
    if not found.points:
        return "\n".join([*lines, "There are no memories yet."])
    lowest = sorted(found.points, key=lambda point: point.score)[:_SHOWN]
    lines.append(f"The newest {count_noun(len(found.points), 'memory')}, the most decayed first:")
    points = [
        (
            *(point.memory_id, point.layer, f"{point.age_days:.1f} d", f"{point.score:.3f}"),
            *(_format_terms(point.terms), "" if point.earned is None else f"{point.earned.score:.3f}"),
        )
        for point in lowest
    ]
    lines.append(screen.table(("ID", "LAYER", "SINCE USE", "RETAINED", "TERMS", "EARNED"), points))
    return "\n".join(lines)


def _format_terms(terms: Mapping[str, float]) -> str:
    return escape_controls(" ".join(f"{name} {value:+.3f}" for name, value in terms.items() if value))


def render_duties(screen: Screen, report: ScheduleReport) -> str:
    """Show the state of the scheduled tasks."""
    lines = [f"Ran {run.name}: {'failed: ' if run.failed else ''}{escape_controls(run.result)}." for run in report.ran]
    if report.reason:
        lines.append(f"Ran nothing{' more' if report.ran else ''}: {escape_controls(report.reason)}.")
    lines.append(
        screen.table(
            ("DUTY", "EVERY", "LAST", "TOOK", "NEXT", "RESULT"), [_render_duty(screen, one) for one in report.duties]
        )
    )
    late = [one.name for one in report.duties if one.overdue]
    if late:
        why = "no `credenda worker` runs, or it cannot keep up"
        lines.append(screen.warn(f"Overdue: {', '.join(late)}; {why}."))
    return "\n".join(lines)


def _render_duty(screen: Screen, one: DutyState) -> tuple[str, ...]:
    last = "never" if one.last_us is None else screen.moment(to_datetime(one.last_us))
    took = "–" if one.took_ms is None else f"{one.took_ms:,.0f} ms"
    due = "–" if one.next_us is None else screen.moment(to_datetime(one.next_us))
    return (
        one.name,
        _describe_interval(one.every_seconds),
        last,
        took,
        due,
        f"{'failed: ' if one.failed else ''}{escape_controls(one.result)}",
    )


def _describe_interval(every_seconds: int) -> str:
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if every_seconds and every_seconds % size == 0:
            return f"{every_seconds // size} {unit}"
    return f"{every_seconds} s"
