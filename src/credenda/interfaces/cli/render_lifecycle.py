"""Text output of the core block, retention, layers, the dream and scheduled tasks."""

from __future__ import annotations

from typing import Final

from credenda.clock import to_datetime
from credenda.interfaces.cli.output import Screen, escape_controls, register_output, truncate
from credenda.model.change import Add, Change, SetLayer, SetStatus
from credenda.model.core import Core, CoreLine
from credenda.model.evaluation import (
    ContextLine,
    ContextPreview,
    ExtractionPreview,
    FaithfulnessScore,
    PreviewedClaim,
    ScoreRecord,
)
from credenda.model.governance import ComplianceReport, CostSummary
from credenda.model.job import JobInfo
from credenda.model.memory import Stance
from credenda.model.query import Page
from credenda.model.report import (
    CompressReport,
    CompressTier,
    ConsolidationGroup,
    ConsolidationReport,
    DecayReport,
    DreamReport,
    DriftReport,
    DutyState,
    LifecycleReport,
    RetentionCurves,
    ScanReport,
    ScheduleReport,
)
from credenda.text.recalled_block import count_kind, count_noun, count_unread

# Text output of work: jobs, previews, scores, consolidation, code, and folders.


@register_output(JobInfo)
def render_job(screen: Screen, job: JobInfo) -> str:
    """Show one job."""
    done = f"{job.done:,} of {job.total:,}" if job.total else f"{job.done:,}" if job.done else ""
    waits = "" if job.next_attempt_us is None else screen.moment(to_datetime(job.next_attempt_us))
    rows = (
        ("id", job.id),
        ("does", job.operation or job.kind),
        ("messages", f"{job.messages:,}" if job.messages else ""),
        ("done", done),
        ("attempts", f"{job.attempts:,}" if job.attempts else ""),
        ("next attempt", waits),
        ("failed", escape_controls(job.error)),
        ("queued", screen.moment(to_datetime(job.created_us))),
        ("changed", screen.moment(to_datetime(job.updated_us))),
    )
    return f"{screen.bold(job.state.value.capitalize())}\n{screen.pairs(rows)}"


def render_jobs(screen: Screen, found: Page[JobInfo]) -> str:
    """Show a page of jobs as a table."""
    if not found.items:
        return "No job matches."
    rows = [
        (one.id, one.state.value, one.operation or one.kind, screen.moment(to_datetime(one.updated_us)), one.error)
        for one in found.items
    ]
    return screen.table(("ID", "STATE", "DOES", "CHANGED", "FAILED"), rows) + _tell_more(screen, found.next_cursor)


@register_output(ExtractionPreview)
def render_extraction_preview(screen: Screen, preview: ExtractionPreview) -> str:
    """Show the outcome of a text."""
    lines = [_describe_claim(screen, one) for one in preview.claims] or ["Nothing would be extracted."]
    lines += [screen.fill(f"refused: {escape_controls(one)}", "  ", "    ") for one in preview.refused]
    lines += [screen.fill(f"unread: {escape_controls(one)}", "  ", "    ") for one in preview.unread]
    if preview.model_would_read:
        lines.append(screen.dim("A language model would read it too, and may find more."))
    return "\n".join([*lines, screen.dim("Nothing was stored.")])


def _describe_claim(screen: Screen, one: PreviewedClaim) -> str:
    value = f"not {one.value}" if one.stance == Stance.NEGATED else one.value
    slot = f"{one.entity} {one.attribute}: {value}" if one.attribute else one.text
    head = f"{screen.bold(one.outcome.value)}  {escape_controls(slot)}"
    notes = [one.reason, *(f"replaces {old.id}: {old.text}" for old in one.replaced), one.question]
    return "\n".join([head, *(screen.fill(escape_controls(note), "  ", "    ") for note in notes if note)])


@register_output(ContextPreview)
def render_context_preview(screen: Screen, preview: ContextPreview) -> str:
    """Show the lines of a context with their reasons, and what is left out."""
    head = f"{preview.tokens:,} of {preview.token_budget:,} tokens ({escape_controls(preview.counted_by)})"
    lines = [head, *(_describe_line(screen, one) for one in preview.lines)]
    if not preview.lines:
        lines.append("The block is empty.")
    if preview.left_out:
        lines += [screen.bold("Left out"), *(_describe_line(screen, one) for one in preview.left_out)]
    if preview.waiting:
        lines.append(screen.warn(f"{count_unread(preview.waiting)} not read yet."))
    return "\n".join(lines)


def _describe_line(screen: Screen, one: ContextLine) -> str:
    score = "" if one.score is None else f", score {one.score:.2f}"
    cost = f", {count_noun(one.tokens, 'token')}" if one.tokens else ""
    told = screen.dim(f"  {escape_controls(one.reason)}{score}{cost}")
    return f"{escape_controls(one.text)}\n{told}"


@register_output(FaithfulnessScore)
def render_score(screen: Screen, found: FaithfulnessScore) -> str:
    """Show the score of a response and the verdict on each claim."""
    if found.score is None:
        return "The response claims nothing."
    counts = f"{found.supported} supported, {found.contradicted} contradicted, {found.not_found} not found"
    lines = [screen.bold(f"{found.score:.2f}: {counts}")]
    for one in found.claims:
        lines.append(f"{one.verdict.value.replace('_', ' ')}  {escape_controls(one.text)}")
        lines += [screen.fill(escape_controls(f"{one.line} ({one.reason})"), "  ", "    ")] if one.line else []
    return "\n".join([*lines, screen.dim(f"judged by {escape_controls(found.judge)}")])


def render_scores(screen: Screen, found: Page[ScoreRecord]) -> str:
    """Show a page of scores as a table."""
    if not found.items:
        return "No response was scored yet."
    rows = [
        (
            str(one.id),
            screen.moment(to_datetime(one.at_us)),
            "" if one.score is None else f"{one.score:.2f}",
            f"{one.supported}/{one.contradicted}/{one.not_found}",
            one.judge,
            one.session or "",
        )
        for one in found.items
    ]
    head = ("ID", "AT", "SCORE", "YES/NO/NOT FOUND", "JUDGE", "SESSION")
    return screen.table(head, rows) + _tell_more(screen, found.next_cursor)


@register_output(CostSummary)
def render_costs(screen: Screen, found: CostSummary) -> str:
    """Show what models cost."""
    tokens = f"{found.tokens_in:,} tokens in, {found.tokens_out:,} out"
    total = f"${found.cost_usd:,.4f}, {count_noun(found.calls, 'call')}, {tokens}"
    head = f"{found.first_day} to {found.last_day}: {total}"
    rows = [
        (
            one.day,
            one.operation,
            one.model_id,
            f"{one.calls:,}",
            f"{one.tokens_in + one.tokens_out:,}",
            f"${one.cost_usd:,.4f}",
        )
        for one in found.days
    ]
    return f"{head}\n{screen.table(('DAY', 'FOR', 'MODEL', 'CALLS', 'TOKENS', 'COST'), rows)}" if rows else head


@register_output(ComplianceReport)
def render_compliance(screen: Screen, report: ComplianceReport) -> str:
    """Show what a compliance report holds."""
    lines = [f"Wrote {escape_controls(report.path)}"]
    lines.append(screen.pairs((name, f"{count:,}") for name, count in report.lines.items()))
    if not report.audit_ok:
        lines.append(screen.warn("The audit records of the database are damaged: run `credenda audit verify`."))
    return "\n".join(lines)


def _tell_more(screen: Screen, cursor: str | None) -> str:
    return screen.dim(f"\nMore: --cursor {cursor}") if cursor else ""


# Text output of consolidation.


TOOK_OVER: Final = "An earlier run was killed; this run took over its lock."

_SHOWN: Final = 20
_TITLES: Final = {
    "merge": "same meaning",
    "duplicate": "duplicate",
    "change": "changed",
    "correction": "corrected",
    "refused": "refused",
    "failed": "not judged",
}


@register_output(ConsolidationReport)
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


# Text output of code scans and drift checks.


@register_output(ScanReport)
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


@register_output(DriftReport)
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


_WIDE: Final = 90
_LEFT_OUT: Final = 10
_HOW_TO_FILL: Final = "The core is empty: give a standing instruction, pin a memory, or say who you are."
_AGES: Final = (0, 7, 15, 30, 60, 90, 180)


@register_output(Core)
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
    told += [screen.fill(f"~ {_word_change(*pair)}", "  ", "    ") for pair in found.diff.reworded]
    return told


def _word_change(before: CoreLine, after: CoreLine) -> str:
    if before.text == after.text:
        return f"{_word_line(after)} ({before.section} → {after.section})"
    return f"{_word_line(before)} → {_word_line(after)}"


def _word_line(line: CoreLine) -> str:
    return escape_controls(line.text).removeprefix("- ") or f"[{line.memory_id}] (deleted)"


@register_output(DecayReport)
def render_decay(screen: Screen, report: DecayReport) -> str:
    """Show the result of a decay run."""
    verb = "would move" if report.dry_run else "moved"
    scores = count_noun(report.updated, "score")
    lines = [f"Looked at {count_noun(report.examined, 'memory')} (profile {report.profile}); {scores} {verb}."]
    if report.moves:
        rows = [
            (one.memory_id, "–" if one.before is None else f"{one.before:.3f}", f"{one.after:.3f}")
            for one in report.moves[:_SHOWN]
        ]
        lines.append(screen.table(("ID", "BEFORE", "AFTER"), rows))
    lines += _render_rest(len(report.moves))
    return "\n".join(lines)


def _render_rest(count: int) -> list[str]:
    return [f"and {count - _SHOWN:,} more; --json names them all"] if count > _SHOWN else []


@register_output(LifecycleReport)
def render_lifecycle(screen: Screen, report: LifecycleReport) -> str:
    """Show how many memories were promoted and archived."""
    done = "would be" if report.dry_run else "were"
    counts = f"{report.promoted:,} {done} promoted, {report.archived:,} archived"
    lines = [f"Looked at {report.examined:,} working and episodic memories; {counts}."]
    if report.changes:
        lines.append(screen.table(("ID", "TO", "WHY"), [_step(change) for change in report.changes[:_SHOWN]]))
    lines += _render_rest(len(report.changes))
    return "\n".join(lines)


@register_output(DreamReport)
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


@register_output(CompressReport)
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


@register_output(RetentionCurves)
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
            *(
                escape_controls(" ".join(f"{name} {value:+.3f}" for name, value in point.terms.items() if value)),
                "" if point.earned is None else f"{point.earned.score:.3f}",
            ),
        )
        for point in lowest
    ]
    lines.append(screen.table(("ID", "LAYER", "SINCE USE", "RETAINED", "TERMS", "EARNED"), points))
    return "\n".join(lines)


@register_output(ScheduleReport)
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
