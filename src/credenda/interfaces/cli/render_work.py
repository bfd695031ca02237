"""Text output of work: jobs, previews, scores, consolidation, code, and folders."""

from __future__ import annotations

from typing import Final

from credenda.clock import to_datetime
from credenda.interfaces.cli.output import Screen, escape_controls
from credenda.model.code import DriftReport, ScanReport
from credenda.model.consolidation import ConsolidationGroup, ConsolidationReport
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
from credenda.text.counts import count_kind, count_noun


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
        return "There is no such job."
    rows = [
        (one.id, one.state.value, one.operation or one.kind, screen.moment(to_datetime(one.updated_us)), one.error)
        for one in found.items
    ]
    return screen.table(("ID", "STATE", "DOES", "CHANGED", "FAILED"), rows) + _tell_more(screen, found.next_cursor)


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


def render_context_preview(screen: Screen, preview: ContextPreview) -> str:
    """Show the lines of a context with their reasons, and what is left out."""
    head = f"{preview.tokens:,} of {preview.token_budget:,} tokens ({escape_controls(preview.counted_by)})"
    lines = [head, *(_describe_line(screen, one) for one in preview.lines)]
    if not preview.lines:
        lines.append("The block is empty.")
    if preview.left_out:
        lines += [screen.bold("Left out"), *(_describe_line(screen, one) for one in preview.left_out)]
    if preview.waiting:
        lines.append(screen.warn(f"{count_noun(preview.waiting, 'message', 'is')} not read yet."))
    return "\n".join(lines)


def _describe_line(screen: Screen, one: ContextLine) -> str:
    score = "" if one.score is None else f", score {one.score:.2f}"
    cost = f", {count_noun(one.tokens, 'token')}" if one.tokens else ""
    told = screen.dim(f"  {escape_controls(one.reason)}{score}{cost}")
    return f"{escape_controls(one.text)}\n{told}"


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


# Text output of code scans and drift checks.


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
