"""Text output of results: one renderer for each kind of result."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, cast

from credenda.interfaces.cli.outcome import Done, Remembered
from credenda.interfaces.cli.output import NOTHING_YET, Screen, escape_controls, format_wait
from credenda.interfaces.cli.render_beliefs import (
    render_contest,
    render_contests,
    render_diff,
    render_event,
    render_explanation,
    render_history,
    render_memory,
    render_page,
    render_remembered,
    render_results,
)
from credenda.interfaces.cli.render_changes import render_loops, render_status_history, render_undo
from credenda.interfaces.cli.render_files import render_sync
from credenda.interfaces.cli.render_forgetting import (
    hold,
    put_back,
    render_backup,
    render_belief_test,
    render_delete,
    render_deletion,
    render_erase,
    render_expiry,
    render_holds,
    render_plan,
    render_policies,
    render_replay,
)
from credenda.interfaces.cli.render_lifecycle import (
    render_compliance,
    render_compression,
    render_consolidation,
    render_context_preview,
    render_core,
    render_costs,
    render_decay,
    render_dream,
    render_drift,
    render_duties,
    render_extraction_preview,
    render_job,
    render_jobs,
    render_lifecycle,
    render_retention,
    render_scan,
    render_score,
    render_scores,
)
from credenda.interfaces.client_setup.install import Installed
from credenda.model.browse import Diff
from credenda.model.code import DriftReport, ScanReport
from credenda.model.core import Core
from credenda.model.dream import ConsolidationReport, DreamReport
from credenda.model.evaluation import (
    BeliefTestReport,
    ContextPreview,
    ExtractionPreview,
    FaithfulnessScore,
    ReplayReport,
)
from credenda.model.governance import ComplianceReport, CostSummary, DeletionPlan, DeletionReceipt, LegalHold
from credenda.model.job import JobInfo
from credenda.model.memory import Memory
from credenda.model.query import Context, EventDetails, Explanation, Page, SearchResult, StatusStep
from credenda.model.report import (
    BackupReport,
    DecayReport,
    DeletionReport,
    DoctorReport,
    EraseReceipt,
    ExpiryReport,
    ExportReport,
    ExtractionReport,
    Finding,
    ImportReport,
    LifecycleReport,
    ModelUse,
    RebuildDifference,
    RebuildReport,
    ReembedReport,
    Resolution,
    RestoreReport,
    RetentionCurves,
    ScheduleReport,
    Stats,
    UndoReport,
)
from credenda.model.restored_report import CompressReport, ServerReport, SyncReport
from credenda.text.recalled_block import count_kind, count_noun

_OPENINGS: Final = {
    "correct": "Corrected; searches no longer return the old value.",
    "forget": "Forgotten; `credenda restore` brings it back, with `--yes` where no terminal can ask.",
    "restore": "Restored.",
    "pin": "Pinned: every context includes it.",
    "unpin": "No longer pinned.",
    "set-status": "Set.",
}


_NO_VALUE: Final = (
    "No value could be read from the sentence, so the next statement about the same takes its place; "
    "`credenda correct ID --value VALUE` names one."
)


def render(screen: Screen, operation: str, value: object) -> str:
    """Write the result of an operation for a person."""
    if isinstance(value, list | tuple):
        items = cast("Sequence[Any]", value)
        if operation in {"holds", "policy"}:
            return render_holds(screen, items) if operation == "holds" else render_policies(screen, items)
        if operation == "loops":
            return render_loops(screen, items)
        if items and isinstance(items[0], StatusStep):
            return render_status_history(screen, items)
        return render_history(screen, items) if operation == "history" else render_contests(screen, items)
    shown = _PAGES.get(operation) or _SHOWN.get(type(value))
    if shown is None:
        return "Done." if value is None else escape_controls(str(value))
    opening = _OPENINGS.get(operation) if isinstance(value, Memory) else None
    if operation == "correct" and isinstance(value, Memory) and value.attribute and not value.value:
        opening = f"{opening}\n{screen.fill(_NO_VALUE)}"
    return f"{opening}\n{shown(screen, value)}" if opening else shown(screen, value)


def _render_context(_: Screen, packed: Context) -> str:
    """Show a context block unchanged, because it goes into a prompt."""
    return packed.text


def _render_done(_: Screen, done: Done) -> str:
    return f"{done.done.capitalize()}: {escape_controls(done.id)}"


def _render_resolution(screen: Screen, resolution: Resolution) -> str:
    return f"Answered.\n{render_contest(screen, resolution.contest)}"


def _render_installed(screen: Screen, done: Installed) -> str:
    told = {"added": "Added", "changed": "Changed", "already there": "Already there, nothing changed:"}[done.done]
    rows = (("file", done.path), ("backup", done.backup or ""), ("then", "restart the client"))
    shown = rows if done.done != "already there" else rows[:1]
    return f"{told} {escape_controls(done.name)}\n{screen.pairs(shown)}"


def _render_exported(screen: Screen, report: ExportReport) -> str:
    lines = [f"Wrote {escape_controls(report.path)}", _render_counts(screen, report.rows)]
    if report.damaged:
        lines.append(screen.warn(f"{count_noun(len(report.damaged), 'place')} of the database cannot be read:"))
        lines += [screen.fill(escape_controls(one), "  ", "    ") for one in report.damaged]
    return "\n".join(lines)


def _render_counts(screen: Screen, counts: Mapping[str, int]) -> str:
    return screen.pairs((name.replace("_", " "), f"{count:,}") for name, count in counts.items())


def render_stats(screen: Screen, found: Stats) -> str:
    """Show how much is stored and how much work is queued."""
    rows = (
        ("oldest unread", format_wait(found.oldest_unread_seconds)),
        ("events", _append_count(f"{found.events:,}", f"{found.redacted_events:,} redacted", found.redacted_events)),
        ("active memories", f"{found.total:,}"),
        ("by type", _list(found.by_type)),
        ("by status", _list(found.memories)),
        ("changes", f"{found.changes:,}"),
        ("open contests", f"{found.open_contests:,}"),
        ("queued messages", f"{found.pending_extractions:,}"),
        ("failed", f"{count_noun(found.dead_jobs, 'job')} failed permanently" if found.dead_jobs else ""),
        ("vectors", _list(found.vectors_by_model) or "0"),
        ("tokens counted by", escape_controls(found.counted_by)),
        ("tombstones", f"{found.tombstones:,}"),
        *(() if found.model is None else _list_model_rows(found.model)),
    )
    lines = [screen.pairs(rows, indent="")]
    if found.foreign_vectors:
        lines.append(screen.fill(_describe_other_vectors(found)))
    if not found.events and not found.memories:
        lines.append(screen.fill(NOTHING_YET))
    return "\n".join(lines)


def _list_model_rows(use: ModelUse) -> Iterable[tuple[str, str]]:
    """Show the language model, and its use and cost today."""
    yield "language model", escape_controls(use.model_id or "none")
    spent = f"{count_noun(use.calls, 'call')}, {use.tokens:,} of {use.tokens_max:,} tokens, ${use.cost_usd:,.4f}"
    yield "used today", spent
    yield "messages", f"{use.messages:,}, {use.tokens_a_message:,.0f} tokens each" if use.messages else ""
    yield "claims", escape_controls("; ".join(f"{count:,} {what}" for what, count in use.claims.items()))
    yield "paused", escape_controls(use.trouble)
    yield "queued for it", escape_controls(_list(use.waiting))


def _render_extraction(screen: Screen, report: ExtractionReport) -> str:
    """Show the result or the estimated cost of extraction with a model."""
    if not report.dry_run:
        waits = f"; {report.waiting:,} are still queued" if report.waiting else ""
        return f"Extracted {count_noun(report.turns, 'message')} again with {escape_controls(report.model_id)}{waits}."
    cost = "unknown: set llm_price"
    if report.cost_usd is not None and report.cost_usd_most is not None:
        cost = f"about ${report.cost_usd:,.4f}, at most ${report.cost_usd_most:,.4f}"
    rows = (
        ("model", escape_controls(report.model_id)),
        ("turns", f"{report.turns:,}"),
        ("skipped", _list(report.skipped)),
        ("calls", f"{report.calls:,}"),
        ("tokens", f"about {report.tokens_in:,} in and {report.tokens_out:,} out"),
        ("cost", cost),
        ("price", escape_controls(report.price_source)),
    )
    return f"The model was not called. Extraction would take:\n{screen.pairs(rows)}"


def _describe_other_vectors(found: Stats) -> str:
    """Describe vectors that another embedding model made."""
    if found.embedder is None:
        return f"{found.vectors:,} vectors are not used: no embedding model is open, so search is lexical only."
    return (
        f"{found.foreign_vectors:,} of {found.vectors:,} vectors are not of {escape_controls(found.embedder)}: "
        "search finds these memories by words only until you run `credenda reembed`."
    )


def _render_reembed(screen: Screen, report: ReembedReport) -> str:
    told = "Would embed" if report.dry_run else "Embedded"
    lines = [f"{told} {report.embedded:,} texts with {escape_controls(report.model_id)}."]
    lines.append(_render_counts(screen, report.vectors_by_model))
    if not report.in_use:
        lines.append("Set `embedder` to this model so that searches use it.")
    return "\n".join(lines)


def _append_count(text: str, more: str, count: int) -> str:
    return f"{text} ({more})" if count else text


def _list(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)


def render_doctor(screen: Screen, report: DoctorReport) -> str:
    """Show the result of a check of the store."""
    lines = [f"Oldest unread message: {format_wait(report.oldest_unread_seconds)}."]
    lines += ["No problem was found." if report.ok else screen.warn("Problems were found.")]
    lines += [screen.fill(_describe_finding(one), "  ", "    ") for one in report.findings]
    if not report.ok:
        lines.append("`credenda doctor --repair` rebuilds derived data; for anything else restore a backup.")
    lines.append(screen.dim(screen.fill(f"checked: {', '.join(report.checks)}")))
    about = [(name.replace("_", " "), text) for name, text in report.backend.items()]
    lines += [screen.dim("database"), screen.pairs(about)]
    return "\n".join(lines)


def render_server(screen: Screen, report: ServerReport) -> str:
    """Show the result of a check of a server."""
    signs = {True: "ok", False: "WRONG", None: "unknown"}
    rows = [(one.check, f"{signs[one.ok]}: {one.detail}{f'; {one.fix}' if one.fix else ''}") for one in report.checks]
    lines = [
        screen.pairs(rows, indent=""),
        "No problem was found." if report.ok else screen.warn("Problems were found."),
    ]
    return "\n".join(lines)


def _describe_finding(one: Finding) -> str:
    """Format one problem with its place and fix."""
    head = f"{'repaired' if one.repaired else 'wrong'}: {one.check}: {one.detail}"
    place = f" ({one.where})" if one.where else ""
    return head + place + (f"; {one.fix}" if one.fix and not one.repaired else "")


def render_rebuild(screen: Screen, report: RebuildReport) -> str:
    """Show the differences that a rebuild found, and whether it applied them."""
    if report.waiting:
        return (
            f"The model read {count_noun(report.asked, 'message')}; "
            f"{report.waiting:,} are still queued ({escape_controls(report.why)}).\n"
            "Its answers are kept, and the same command continues from there. Nothing was changed."
        )
    count = len(report.differences)
    done = "applied" if report.applied else "nothing was changed"
    head = f"{count:,} differences; {done}." if count else "Nothing differs."
    lines = [f"Compared {count_noun(report.compared, 'memory')}. {head}"]
    lines += [screen.fill(_describe_difference(one), "  ", "    ") for one in report.differences]
    lines += [screen.fill(f"kept: {escape_controls(one)}", "  ", "    ") for one in report.kept]
    if report.unread:
        lines.append(f"The model failed on {count_noun(report.unread, 'message')}; their beliefs stay unchanged.")
    if report.unexplained:
        lines.append(f"{count_noun(len(report.unexplained), 'memory', 'is')} not in the change log: unchanged.")
    if report.redacted or report.unsupported:
        poor = max(report.redacted, report.unsupported)
        lines.append(f"{count_noun(poor, 'memory', 'is')} logged too incompletely to compare.")
    return "\n".join(lines)


def _describe_difference(one: RebuildDifference) -> str:
    words = " → ".join(escape_controls(part) for part in (one.before, one.after) if part)
    parts = (
        one.what,
        one.id or "new",
        ", ".join(one.fields),
        words,
        f"({escape_controls(one.reason)})" if one.reason else "",
    )
    return " ".join(part for part in parts if part)


def render_import(screen: Screen, report: ImportReport) -> str:
    """Show what an import stored."""
    rows: Iterable[tuple[str, str]] = (
        ("format", report.format),
        ("conversations", f"{report.conversations:,}" if report.conversations else ""),
        ("turns", f"{report.turns:,}" if report.turns else ""),
        ("already stored", f"{report.skipped:,}" if report.skipped else ""),
        ("ended", count_noun(report.ended, "memory") if report.ended else ""),
        ("left out", ", ".join(count_kind(count, kind) for kind, count in report.left_out.items())),
        ("problems", f"{report.passed_over:,}" if report.passed_over else ""),
        ("rows", _list(report.rows)),
    )
    lines = [f"Imported {escape_controls(report.path)}", screen.pairs(rows)]
    lines += [screen.fill(f"note: {problem}", "  ", "    ") for problem in report.problems]
    return "\n".join(lines)


_PAGES: Final[Mapping[str, Callable[[Screen, Any], str]]] = {"jobs": render_jobs, "scores": render_scores}
_SHOWN: Final[Mapping[type, Callable[[Screen, Any], str]]] = {
    Memory: render_memory,
    Remembered: render_remembered,
    SearchResult: render_results,
    Context: _render_context,
    EventDetails: render_event,
    Explanation: render_explanation,
    Page: render_page,
    Diff: render_diff,
    Done: _render_done,
    Stats: render_stats,
    ExtractionReport: _render_extraction,
    DoctorReport: render_doctor,
    ServerReport: render_server,
    EraseReceipt: render_erase,
    DeletionPlan: render_plan,
    DeletionReceipt: render_deletion,
    DeletionReport: render_delete,
    ExpiryReport: render_expiry,
    LegalHold: hold,
    BackupReport: render_backup,
    RestoreReport: put_back,
    ExportReport: _render_exported,
    ImportReport: render_import,
    RebuildReport: render_rebuild,
    ReembedReport: _render_reembed,
    Resolution: _render_resolution,
    UndoReport: render_undo,
    Installed: _render_installed,
    ConsolidationReport: render_consolidation,
    CompressReport: render_compression,
    Core: render_core,
    DecayReport: render_decay,
    DreamReport: render_dream,
    DriftReport: render_drift,
    ScanReport: render_scan,
    SyncReport: render_sync,
    LifecycleReport: render_lifecycle,
    RetentionCurves: render_retention,
    ScheduleReport: render_duties,
    JobInfo: render_job,
    ExtractionPreview: render_extraction_preview,
    ContextPreview: render_context_preview,
    BeliefTestReport: render_belief_test,
    ReplayReport: render_replay,
    FaithfulnessScore: render_score,
    CostSummary: render_costs,
    ComplianceReport: render_compliance,
}
