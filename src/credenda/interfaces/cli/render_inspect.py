"""Text output of jobs, previews, scores and costs."""

from __future__ import annotations

from credenda.clock import to_datetime
from credenda.interfaces.cli.layout import Screen, escape_controls
from credenda.model.faithfulness import FaithfulnessScore, ScoreRecord
from credenda.model.governance import ComplianceReport, CostSummary
from credenda.model.job import JobInfo
from credenda.model.memory import Stance
from credenda.model.preview import ContextLine, ContextPreview, ExtractionPreview, PreviewedClaim
from credenda.model.query import Page
from credenda.text.counts import count_noun

__all__ = [
    "render_compliance",
    "render_context_preview",
    "render_costs",
    "render_extraction_preview",
    "render_job",
    "render_jobs",
    "render_score",
    "render_scores",
]


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
