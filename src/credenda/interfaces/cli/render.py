"""Results for people: each kind of result has one way to be shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, cast

from credenda.interfaces.cli.layout import Screen, clean
from credenda.interfaces.cli.outcome import Done, Remembered
from credenda.interfaces.cli.render_beliefs import (
    contest,
    contests,
    event,
    explanation,
    memory,
    page,
    remembered,
)
from credenda.interfaces.cli.render_changes import loops, steps, undone
from credenda.interfaces.cli.render_code import drifted, scanned
from credenda.interfaces.cli.render_consolidation import consolidated
from credenda.interfaces.cli.render_files import synced
from credenda.interfaces.cli.render_forgetting import (
    backed_up,
    deleted,
    erased,
    expired,
    hold,
    holds,
    planned,
    policies,
    put_back,
)
from credenda.interfaces.cli.render_hits import results
from credenda.interfaces.cli.render_lifecycle import compressed, core, decayed, dreamed, duties, moved, retention
from credenda.interfaces.cli.render_time import difference, history
from credenda.interfaces.client_setup.client_configs import Installed
from credenda.model.code import DriftReport, ScanReport
from credenda.model.compression_report import CompressReport
from credenda.model.consolidation import ConsolidationReport
from credenda.model.core import Core
from credenda.model.diff import Diff
from credenda.model.dream import DreamReport
from credenda.model.memory import Memory
from credenda.model.query import Context, EventDetails, Explanation, Page, SearchResult, StatusStep
from credenda.model.report import (
    BackupReport,
    DecayReport,
    DeletionPlan,
    DeletionReport,
    Difference,
    DoctorReport,
    EraseReceipt,
    ExpiryReport,
    ExportReport,
    ExtractionReport,
    Finding,
    ImportReport,
    LifecycleReport,
    ModelUse,
    RebuildReport,
    ReembedReport,
    Resolution,
    RestoreReport,
    RetentionCurves,
    ScheduleReport,
    Stats,
    UndoReport,
)
from credenda.model.retention_policy import LegalHold
from credenda.model.sync_report import SyncReport

__all__ = ["render"]

_OPENINGS: Final = {
    "correct": "Corrected; the old one leaves every answer.",
    "forget": "Forgotten; `credenda restore` brings it back.",
    "restore": "Restored.",
    "pin": "Pinned: it is in every context.",
    "unpin": "No longer pinned.",
    "set-status": "Set.",
}


def render(screen: Screen, operation: str, value: object) -> str:
    """Write the result of an operation for a person."""
    if isinstance(value, list | tuple):
        items = cast("Sequence[Any]", value)
        if operation in {"holds", "policy"}:
            return holds(screen, items) if operation == "holds" else policies(screen, items)
        if operation == "loops":
            return loops(screen, items)
        if items and isinstance(items[0], StatusStep):
            return steps(screen, items)
        return history(screen, items) if operation == "history" else contests(screen, items)
    shown = _SHOWN.get(type(value))
    if shown is None:
        return "Done." if value is None else clean(str(value))
    opening = _OPENINGS.get(operation) if isinstance(value, Memory) else None
    return f"{opening}\n{shown(screen, value)}" if opening else shown(screen, value)


def _context(_: Screen, packed: Context) -> str:
    """Show a block as it is: it goes into a prompt."""
    return packed.text


def _done(_: Screen, done: Done) -> str:
    return f"{done.done.capitalize()}: {clean(done.id)}"


def _resolution(screen: Screen, resolution: Resolution) -> str:
    return f"Answered.\n{contest(screen, resolution.contest)}"


def _installed(screen: Screen, done: Installed) -> str:
    told = {"added": "Added", "changed": "Changed", "already there": "Already there, nothing changed:"}[done.done]
    rows = (("file", done.path), ("as it was", done.backup or ""), ("then", "restart the client"))
    shown = rows if done.done != "already there" else rows[:1]
    return f"{told} {clean(done.name)}\n{screen.pairs(shown)}"


def _exported(screen: Screen, report: ExportReport) -> str:
    return f"Wrote {clean(report.path)}\n{_counts(screen, report.rows)}"


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
        ("vectors", _list(found.vectors_by_model) or "0"),
        ("tokens counted by", clean(found.counted_by)),
        ("tombstones", f"{found.tombstones:,}"),
        *(() if found.model is None else _model(found.model)),
    )
    shown = screen.pairs(rows, indent="")
    return f"{shown}\n{screen.fill(_foreign(found))}" if found.foreign_vectors else shown


def _model(use: ModelUse) -> Iterable[tuple[str, str]]:
    """Show what reads beside the rules, and what it cost today."""
    yield "language model", clean(use.model_id or "none")
    spent = f"{use.calls:,} calls, {use.tokens:,} of {use.tokens_max:,} tokens, ${use.cost_usd:,.4f}"
    yield "asked today", spent
    yield "left alone", clean(use.trouble)
    yield "wait for it", clean(_list(use.waiting))


def _extracted(screen: Screen, report: ExtractionReport) -> str:
    """Show what reading with a model did, or would cost."""
    if not report.dry_run:
        waits = f"; {report.waiting:,} still wait for it" if report.waiting else ""
        return f"Read {report.turns:,} turns again with {clean(report.model_id)}{waits}."
    cost = "unknown: give the price as the setting llm_price"
    if report.cost_usd is not None and report.cost_usd_most is not None:
        cost = f"about ${report.cost_usd:,.4f}, at most ${report.cost_usd_most:,.4f}"
    rows = (
        ("model", clean(report.model_id)),
        ("turns", f"{report.turns:,}"),
        ("not asked about", _list(report.skipped)),
        ("calls", f"{report.calls:,}"),
        ("tokens", f"about {report.tokens_in:,} read and {report.tokens_out:,} written"),
        ("cost", cost),
        ("price", clean(report.price_source)),
    )
    return f"Nothing was asked. Reading this would take:\n{screen.pairs(rows)}"


def _foreign(found: Stats) -> str:
    """Say what vectors of another model mean."""
    if found.embedder is None:
        return f"{found.vectors:,} vectors are not used: this memory is open without a model, and found by words alone."
    return (
        f"{found.foreign_vectors:,} of {found.vectors:,} vectors are of another model than {clean(found.embedder)}: "
        "what has no other is found by its words, not by its meaning, until `credenda reembed`."
    )


def _reembedded(screen: Screen, report: ReembedReport) -> str:
    lines = [f"Embedded {report.embedded:,} texts with {clean(report.model_id)}."]
    lines.append(_counts(screen, report.vectors_by_model))
    if not report.in_use:
        lines.append("Searches use it once the memory is opened with it: set `embedder`.")
    return "\n".join(lines)


def _with(text: str, more: str, count: int) -> str:
    return f"{text} ({more})" if count else text


def _list(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)


def doctor(screen: Screen, report: DoctorReport) -> str:
    """Show what a check of the store found."""
    lines = ["Everything holds." if report.ok else screen.warn("Something is wrong.")]
    lines += [screen.fill(_found(one), "  ", "    ") for one in report.findings]
    if not report.ok:
        lines.append("`credenda doctor --repair` rebuilds what is derived; for the rest restore a backup.")
    lines.append(screen.dim(screen.fill(f"checked: {', '.join(report.checks)}")))
    return "\n".join(lines)


def _found(one: Finding) -> str:
    """Say what is wrong, where, and what to do about it."""
    head = f"{'repaired' if one.repaired else 'wrong'}: {one.check}: {one.detail}"
    place = f" ({one.where})" if one.where else ""
    return head + place + (f"; {one.fix}" if one.fix and not one.repaired else "")


def rebuilt(screen: Screen, report: RebuildReport) -> str:
    """Show what a rebuild found and did."""
    if report.waiting:
        return (
            f"The model read {report.asked:,} messages; {report.waiting:,} still wait for it ({clean(report.why)}).\n"
            "What it said is kept: the same command goes on from there. Nothing was changed."
        )
    count = len(report.differences)
    done = "put in place" if report.applied else "nothing was changed"
    head = f"{count:,} differences; {done}." if count else "Nothing differs."
    lines = [f"Compared {report.compared:,} memories. {head}"]
    lines += [screen.fill(_difference(one), "  ", "    ") for one in report.differences]
    lines += [screen.fill(f"kept: {clean(one)}", "  ", "    ") for one in report.kept]
    if report.unread:
        lines.append(f"The model could not read {report.unread:,} messages; what was believed of them stays.")
    if report.unexplained:
        lines.append(f"{len(report.unexplained):,} are not in the change log and were left as they are.")
    if report.redacted or report.unsupported:
        lines.append(
            f"An older version logged too little of {max(report.redacted, report.unsupported):,} to compare all."
        )
    return "\n".join(lines)


def _difference(one: Difference) -> str:
    words = " → ".join(clean(part) for part in (one.before, one.after) if part)
    parts = (one.what, one.id or "new", ", ".join(one.fields), words, f"({clean(one.reason)})" if one.reason else "")
    return " ".join(part for part in parts if part)


def imported(screen: Screen, report: ImportReport) -> str:
    """Show what an import took in."""
    rows: Iterable[tuple[str, str]] = (
        ("format", report.format),
        ("conversations", f"{report.conversations:,}" if report.conversations else ""),
        ("turns", f"{report.turns:,}" if report.turns else ""),
        ("there already", f"{report.skipped:,}" if report.skipped else ""),
        ("problems", f"{report.passed_over:,}" if report.passed_over else ""),
        ("rows", _list(report.rows)),
    )
    lines = [f"Read {clean(report.path)}", screen.pairs(rows)]
    lines += [screen.fill(f"note: {problem}", "  ", "    ") for problem in report.problems]
    return "\n".join(lines)


_SHOWN: Final[Mapping[type, Callable[[Screen, Any], str]]] = {
    Memory: memory,
    Remembered: remembered,
    SearchResult: results,
    Context: _context,
    EventDetails: event,
    Explanation: explanation,
    Page: page,
    Diff: difference,
    Done: _done,
    Stats: stats,
    ExtractionReport: _extracted,
    DoctorReport: doctor,
    EraseReceipt: erased,
    DeletionPlan: planned,
    DeletionReport: deleted,
    ExpiryReport: expired,
    LegalHold: hold,
    BackupReport: backed_up,
    RestoreReport: put_back,
    ExportReport: _exported,
    ImportReport: imported,
    RebuildReport: rebuilt,
    ReembedReport: _reembedded,
    Resolution: _resolution,
    UndoReport: undone,
    Installed: _installed,
    ConsolidationReport: consolidated,
    CompressReport: compressed,
    Core: core,
    DecayReport: decayed,
    DreamReport: dreamed,
    DriftReport: drifted,
    ScanReport: scanned,
    SyncReport: synced,
    LifecycleReport: moved,
    RetentionCurves: retention,
    ScheduleReport: duties,
}
