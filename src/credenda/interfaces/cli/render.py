"""Text output of results: one renderer for each kind of result."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from credenda.interfaces.cli.outcome import Done
from credenda.interfaces.cli.output import NOTHING_YET, RENDERERS, Screen, escape_controls, format_wait, register_output
from credenda.interfaces.cli.render_beliefs import render_contest, render_contests, render_history
from credenda.interfaces.cli.render_changes import render_loops, render_status_history
from credenda.interfaces.cli.render_files import render_sync
from credenda.interfaces.cli.render_forgetting import render_holds, render_policies
from credenda.interfaces.cli.render_lifecycle import render_jobs, render_scores
from credenda.interfaces.client_setup.install import Installed
from credenda.model.evaluation import RebuildDifference, RebuildReport
from credenda.model.memory import Memory
from credenda.model.query import Context
from credenda.model.report import (
    DoctorReport,
    ExportReport,
    ExtractionReport,
    Finding,
    ImportReport,
    ModelUse,
    ReembedReport,
    Resolution,
    ServerReport,
    Stats,
)
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
    shown = _BY_OPERATION.get(operation) or RENDERERS.get(type(value))
    if shown is None:
        return "Done." if value is None else escape_controls(str(value))
    opening = _OPENINGS.get(operation) if isinstance(value, Memory) else None
    if operation == "correct" and isinstance(value, Memory) and value.attribute and not value.value:
        opening = f"{opening}\n{screen.fill(_NO_VALUE)}"
    return f"{opening}\n{shown(screen, value)}" if opening else shown(screen, value)


@register_output(Installed)
def _render_installed(screen: Screen, done: Installed) -> str:
    told = {"added": "Added", "changed": "Changed", "already there": "Already there, nothing changed:"}[done.done]
    rows = (("file", done.path), ("backup", done.backup or ""), ("then", "restart the client"))
    shown = rows if done.done != "already there" else rows[:1]
    return f"{told} {escape_controls(done.name)}\n{screen.pairs(shown)}"


@register_output(ExportReport)
def _render_exported(screen: Screen, report: ExportReport) -> str:
    lines = [f"Wrote {escape_controls(report.path)}", _render_counts(screen, report.rows)]
    if report.damaged:
        lines.append(screen.warn(f"{count_noun(len(report.damaged), 'place')} of the database cannot be read:"))
        lines += [screen.fill(escape_controls(one), "  ", "    ") for one in report.damaged]
    return "\n".join(lines)


def _render_counts(screen: Screen, counts: Mapping[str, int]) -> str:
    return screen.pairs((name.replace("_", " "), f"{count:,}") for name, count in counts.items())


@register_output(Stats)
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


@register_output(ExtractionReport)
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


@register_output(ReembedReport)
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


@register_output(DoctorReport)
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


@register_output(ServerReport)
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


@register_output(RebuildReport)
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


@register_output(ImportReport)
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
    lines += [screen.fill(f"note: {problem}", "  ", "    ") for problem in _group_problems(report.problems)]
    return "\n".join(lines)


def _group_problems(problems: Iterable[str]) -> Iterator[str]:
    """Yield each problem, and those that several items have once, with the first of them."""
    places: dict[str, list[str]] = {}
    for one in problems:
        place, _, what = one.rpartition(": ")
        places.setdefault(what, []).append(place)
    for what, found in places.items():
        if len(found) > _ALIKE:
            yield f"{what} in {len(found):,} items, the first {found[0]}; --json names them"
        else:
            yield from (f"{place}: {what}" if place else what for place in found)


_ALIKE: Final = 3
"""Problems of one kind that are listed one by one."""


_BY_OPERATION: Final[Mapping[str, Callable[[Screen, Any], str]]] = {
    "contests": render_contests,
    "files": render_sync,
    "history": render_history,
    "holds": render_holds,
    "jobs": render_jobs,
    "loops": render_loops,
    "policy": render_policies,
    "scores": render_scores,
    "status-history": render_status_history,
}
"""The text output of lists, and of types that several operations return."""
RENDERERS.update(
    {
        Context: lambda _, packed: packed.text,  # unchanged, because it goes into a prompt
        Done: lambda _, done: f"{done.done.capitalize()}: {escape_controls(done.id)}",
        Resolution: lambda screen, resolution: f"Answered.\n{render_contest(screen, resolution.contest)}",
    }
)
