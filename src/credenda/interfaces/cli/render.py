"""Text output of results: one renderer for each kind of result."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from credenda.clock import to_datetime
from credenda.interfaces.cli.outcome import Done
from credenda.interfaces.cli.output import NOTHING_YET, RENDERERS, Screen, escape_controls, format_wait, register_output
from credenda.interfaces.cli.render_beliefs import render_contest, render_contests, render_history
from credenda.interfaces.cli.render_lifecycle import render_jobs, render_scores
from credenda.interfaces.client_setup.install import Installed
from credenda.model.change import SlotLoop
from credenda.model.evaluation import (
    BeliefTestReport,
    CheckedAssertion,
    RebuildDifference,
    RebuildReport,
    ReplayedPrompt,
    ReplayReport,
)
from credenda.model.governance import DeletionPlan, DeletionReceipt, LegalHold, RetentionPolicy, SharedMemory
from credenda.model.job import Finding
from credenda.model.memory import Memory
from credenda.model.query import Context, StatusStep
from credenda.model.report import (
    BackupReport,
    DeletionReport,
    DoctorReport,
    EraseReceipt,
    ExpiryReport,
    ExportReport,
    ExtractionReport,
    ImportReport,
    ModelUse,
    ReembedReport,
    Resolution,
    RestoreReport,
    Stats,
    SyncReport,
    UndoneMemory,
    UndoReport,
)
from credenda.model.server import ServerReport
from credenda.model.statement import name_slot
from credenda.text.recalled_block import count_kind, count_noun

if TYPE_CHECKING:
    from credenda.interfaces.plugin.manage import PluginReport, PluginStatus

_OPENINGS: Final = {
    "correct": "Corrected; the old value was never true. Searches show its message at most, as superseded.",
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
        ("events", f"{found.events:,}" + (f" ({found.redacted_events:,} redacted)" if found.redacted_events else "")),
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
    if found.reader_problem:
        lines.append(screen.fill(screen.warn(found.reader_problem)))
    if found.texts_to_embed or (found.vectors and found.embedder is None):
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
    """Describe texts that only another embedding model has embedded."""
    if found.embedder is None:
        return f"{found.vectors:,} vectors are not used: no embedding model is open, so search is lexical only."
    return (
        f"{count_noun(found.texts_to_embed, 'text', 'has')} no vector of {escape_controls(found.embedder)}: "
        "search finds such texts by words only until you run `credenda reembed`."
    )


@register_output(ReembedReport)
def _render_reembed(screen: Screen, report: ReembedReport) -> str:
    told = "Would embed" if report.dry_run else "Embedded"
    lines = [f"{told} {count_noun(report.embedded, 'text')} with {escape_controls(report.model_id)}."]
    lines.append(_render_counts(screen, report.vectors_by_model))
    if not report.in_use:
        lines.append("Set `embedder` to this model so that searches use it.")
    return "\n".join(lines)


def _list(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)


@register_output(DoctorReport)
def render_doctor(screen: Screen, report: DoctorReport) -> str:
    """Show the result of a check of the store."""
    lines = [f"Oldest unread message: {format_wait(report.oldest_unread_seconds)}."]
    lines += ["No problem was found." if report.ok else screen.warn("Problems were found.")]
    lines += [screen.fill(_describe_finding(one), "  ", "    ") for one in report.findings]
    if any(not one.fix and not one.repaired for one in report.findings):
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
    path = escape_controls(report.path)
    done = f"Would import {path}; nothing was stored" if report.dry_run else f"Imported {path}"
    lines = [done, screen.pairs(rows)]
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


# Text output of undo, of the statuses of a memory, and of slots that flip-flop.


@register_output(UndoReport)
def render_undo(screen: Screen, report: UndoReport) -> str:
    """Show the reverted changes, or a preview, and the later changes that block them."""
    count = len(report.undone)
    changes = count_noun(count, "change")
    if not count:
        lines = ["There was nothing to undo."]
    else:
        lines = [f"Undid {changes}." if report.ran else f"Would undo {changes}; nothing was changed."]
    rows = [(one.id, _describe_move(screen, one)) for one in report.memories]
    if rows:
        lines.append(screen.table(("ID", "EFFECT"), rows, indent="  "))
    if report.conflicts:
        lines.append(screen.warn("Later changes depend on these; --cascade undoes them as well:"))
        found = [(one.id, one.kind.value, one.memory_id or "", escape_controls(one.reason)) for one in report.conflicts]
        lines.append(screen.table(("CHANGE", "KIND", "ID", "REASON"), found, indent="  "))
    if report.lasting:
        lines.append(f"{len(report.lasting):,} cannot be undone: their text was permanently deleted.")
    return "\n".join(lines)


def _describe_move(screen: Screen, one: UndoneMemory) -> str:
    """Say what becomes of a memory, in words for the fields that people know."""
    said = [_describe_field(screen, one, name) for name in one.after]
    return ", ".join(dict.fromkeys(part for part in said if part))


def _describe_field(screen: Screen, one: UndoneMemory, name: str) -> str:
    before, after = _format_value(screen, one.before.get(name)), _format_value(screen, one.after[name])
    match name:
        case "status":
            said = f"{after} (was {before})"
        case "superseded_by":
            said = f"replaced by {after}" if one.after[name] else f"no longer replaced by {before}"
        case "valid_until":
            said = f"true until {after}" if one.after[name] else "true until further notice"
        case "contested" | "pinned":
            said = name if one.after[name] else f"no longer {name}"
        case "relation":
            said = ""  # the status and the replacement say it
        case _:
            said = f"{name.replace('_', ' ')} {after} (was {before})"
    return said


def _format_value(screen: Screen, value: object) -> str:
    if isinstance(value, datetime):
        return screen.day(value)
    return "none" if value is None else escape_controls(str(value))


def render_status_history(screen: Screen, found: Sequence[StatusStep]) -> str:
    """Show the statuses of a memory, oldest first."""
    rows = [
        (screen.moment(one.at), one.status.value, one.actor.value, escape_controls(one.reason), one.change_id)
        for one in found
    ]
    return screen.table(("WHEN", "STATUS", "BY", "REASON", "CHANGE"), rows)


def render_loops(screen: Screen, found: Sequence[SlotLoop]) -> str:
    """Show the slots that flip-flop, most replacements first."""
    if not found:
        return "No slot flip-flops."
    rows = [
        (
            f"{one.superseded_count:,}",
            name_slot(one.entity, one.attribute, one.scope),
            screen.day(one.first_seen),
            screen.day(one.last_superseded),
            one.contest_id or "",
            escape_controls(one.chain),
        )
        for one in found
    ]
    return screen.table(("REPLACED", "ABOUT", "FIRST SEEN", "LAST REPLACED", "CONTEST", "VALUES"), rows)


# Text output of folder synchronisation.


_SHOWN: Final = 20


def render_sync(screen: Screen, report: SyncReport) -> str:
    """Show the changes of a synchronisation, in the files and in the memory."""
    pages = f"{len(report.written):,} written" + (f", {len(report.removed):,} removed" if report.removed else "")
    counts = (
        (report.remembered, "remembered"),
        (report.corrected, "corrected"),
        (report.deleted, "deleted"),
        (report.contested, "contested"),
    )
    rows = (
        ("from the files", ", ".join(f"{count:,} {name}" for count, name in counts if count)),
        ("pages", pages if report.written or report.removed else ""),
    )
    head = f"{'Would synchronise' if report.dry_run else 'Synchronised'} {escape_controls(report.path)}" + (
        "" if report.changed else ": nothing had changed"
    )
    files = [f"  written: {escape_controls(one)}" for one in report.written]
    files += [f"  removed: {escape_controls(one)}" for one in report.removed]
    lines = [head, screen.pairs(rows), *files[:_SHOWN], render_pending(report)]
    if len(files) > _SHOWN:
        lines.append(f"  and {len(files) - _SHOWN:,} more; --json names them")
    if report.waiting:
        lines.append(
            f"{count_noun(report.waiting, 'entry', 'is')} missing: `--missing delete` deletes, "
            "`--missing restore` writes them to the files again."
        )
    lines += [screen.fill(f"skipped: {one}", "  ", "    ") for one in report.left_alone[:_SHOWN]]
    lines += [screen.fill(f"note: {one}", "  ", "    ") for one in report.notes[:_SHOWN]]
    more = len(report.left_alone[_SHOWN:]) + len(report.notes[_SHOWN:])
    return "\n".join([line for line in lines if line] + ([f"and {more:,} more; --json names them"] if more else []))


def render_pending(report: SyncReport) -> str:
    """List entries that are missing from the files, a line each."""
    lines = [f"  missing: {escape_controls(one)}" for one in report.pending[:_SHOWN]]
    more = report.waiting - len(lines)
    return "\n".join([*lines, *([f"  and {more:,} more"] if lines and more > 0 else [])])


# Text output of erasure, deletion, legal holds, retention policies and backups.


_NEVER_THERE: Final = (
    "This database never had this user, so no erasure is on record: a backup that has the user brings it back. Restore"
    " such a backup first, and then erase."
)


@register_output(EraseReceipt)
def render_erase(screen: Screen, receipt: EraseReceipt) -> str:
    """Show the erased rows, and the result of the search for remaining data."""
    nothing = "There was nothing left to erase." if receipt.listed else _NEVER_THERE
    lines = [f"Erased {receipt.rows:,} rows." if receipt.rows else nothing]
    lines.append(screen.pairs((name.replace("_", " "), f"{count:,}") for name, count in receipt.tables.items()))
    bytes_searched = f"Searched all bytes for {receipt.windows_searched:,} pieces of its text"
    searched = bytes_searched if receipt.windows_searched else "Looked for rows that are left"
    lines.append(f"{searched}: {receipt.remaining_matches:,} found.")
    if receipt.exported:
        lines.append(f"Everything was exported to {escape_controls(receipt.exported)} first.")
    if not receipt.log_emptied:
        lines.append(screen.warn("Another process still reads the log: close it and erase again to finish."))
    elif receipt.remaining_matches:
        lines.append(screen.warn("Erase again; if that does not help, see docs/reference/forgetting.md."))
    if receipt.backups:
        lines.append("These backups may still contain it. Restoring one erases it there; or delete them:")
        lines += [f"  {escape_controls(path)}" for path in receipt.backups]
    if receipt.owed:
        lines.append(screen.warn("The erasure is not listed beside these yet. It is tried again; see `doctor`:"))
        lines += [f"  {escape_controls(path)}: {escape_controls(reason)}" for path, reason in receipt.owed.items()]
    return "\n".join(filter(None, lines))


_HELD: Final = (
    "Another process still reads the log, which keeps the words until that ends; the next write after it removes them."
)


@register_output(DeletionPlan)
def render_plan(screen: Screen, plan: DeletionPlan) -> str:
    """Show what deleting one thing would remove."""
    if not (plan.memories or plan.events):
        return f"Nothing would be deleted: {plan.id} is deleted already."
    gone = f"{count_noun(plan.memories, 'memory')}, and words in {count_noun(plan.events, 'message')}"
    head = f"Would delete {gone}. Nothing was deleted."
    lines = [head, screen.pairs([("id", plan.id), ("text", escape_controls(plan.text))]), *describe_shared(plan)]
    return "\n".join(lines)


def describe_shared(plan: DeletionPlan) -> list[str]:
    """Describe the words that a deletion blanks, and every other memory that holds them."""
    lines = [f"Blanks in {one.event_id}: “{escape_controls(one.words)}”" for one in plan.blanked]
    totals = (len(plan.kept), len(plan.taken), len(plan.mentions))
    return lines + _describe_named(
        plan, totals, "These memories go too, because they state the same or were derived from it:"
    )


def describe_report(report: DeletionReport) -> list[str]:
    """Describe the memories that a deletion by conditions concerns."""
    totals = (report.kept_total, report.memories, report.mentions_total)
    return _describe_named(report, totals, "These memories go:")


def _describe_named(plan: DeletionPlan | DeletionReport, totals: tuple[int, int, int], going: str) -> list[str]:
    lines: list[str] = []
    if plan.kept:
        lines.append("These memories hold its words and stay without them:")
        lines += [f"  {_quote(one)} keeps “{escape_controls(one.left)}”" for one in plan.kept]
        lines += _count_rest(totals[0], plan.kept)
    if plan.taken:
        lines.append(going)
        lines += [f"  {_quote(one)}" for one in plan.taken]
        lines += _count_rest(totals[1], plan.taken)
    if plan.mentions:
        lines.append("These memories name it in words of their own and stay as they are:")
        lines += [f"  {_quote(one)}" for one in plan.mentions]
        lines += _count_rest(totals[2], plan.mentions)
    return lines


def _count_rest(total: int, named: Sequence[SharedMemory]) -> list[str]:
    return [f"  and {total - len(named):,} more"] if total > len(named) else []


def _quote(one: SharedMemory) -> str:
    return f"{one.id} “{escape_controls(one.text)}”"


@register_output(DeletionReceipt)
def render_deletion(screen: Screen, receipt: DeletionReceipt) -> str:
    """Show what deleting one thing removed."""
    lines = [f"Deleted: {receipt.id}"]
    if receipt.kept:
        lines.append(f"{', '.join(receipt.kept)} held its words and stayed without them.")
    if receipt.taken:
        lines.append(f"{', '.join(receipt.taken)} went too: they stated the same or were derived from it.")
    if receipt.mentions:
        lines.append(_name_mentions(receipt.mentions))
    if not receipt.log_emptied:
        lines.append(screen.warn(_HELD))
    return "\n".join(lines)


def name_deleted(screen: Screen, report: DeletionReport) -> str:
    """Say how much a deletion by conditions concerns, and before which moment."""
    counts = f"{count_noun(report.events, 'event')} and {count_noun(report.memories, 'memory')}"
    before = "" if report.before_us is None else f" from before {screen.moment(to_datetime(report.before_us))}"
    return counts + before


def _name_mentions(ids: Sequence[str]) -> str:
    said = "still names it, in words of its own" if len(ids) == 1 else "still name it, in words of their own"
    return f"{', '.join(ids)} {said}."


@register_output(DeletionReport)
def render_delete(screen: Screen, report: DeletionReport) -> str:
    """Show how much was deleted, or would be."""
    would = "Would delete" if report.dry_run else "Deleted"
    lines = [f"{would} {name_deleted(screen, report)}."]
    if report.dry_run:
        lines += describe_report(report)
    else:
        if report.kept:
            lines.append(f"{', '.join(one.id for one in report.kept)} lost words or labels, and stayed.")
        if report.mentions:
            lines.append(_name_mentions([one.id for one in report.mentions]))
    return "\n".join(lines if report.log_emptied else [*lines, screen.warn(_HELD)])


@register_output(ExpiryReport)
def render_expiry(_: Screen, report: ExpiryReport) -> str:
    """Show how much was deleted because a retention policy expired it."""
    if not report.ran and not report.dry_run:
        return f"Nothing was deleted: {report.reason}."
    would = "Would delete" if report.dry_run else "Deleted"
    return f"{would} {count_noun(report.events, 'event')} and {count_noun(report.memories, 'expired memory')}."


@register_output(LegalHold)
def hold(_: Screen, one: LegalHold) -> str:
    """Show one legal hold."""
    since = f"On hold since {one.set_at:%Y-%m-%d}: {escape_controls(one.reason)}"
    return (
        since
        if one.lifted_at is None
        else f"{since}\n  lifted {one.lifted_at:%Y-%m-%d}: {escape_controls(one.lifted_reason or '')}"
    )


def render_holds(screen: Screen, found: Sequence[LegalHold]) -> str:
    """Show the legal holds."""
    return "\n".join(hold(screen, one) for one in found) or "There are no legal holds, current or past."


def render_policies(_: Screen, found: Sequence[RetentionPolicy]) -> str:
    """Show the retention policies."""
    lines = [f"{count_noun(one.days, 'day')}  {escape_controls(one.topic or 'everything')}" for one in found]
    return "\n".join(lines) or "There is no retention policy: nothing expires."


@register_output(BackupReport)
def render_backup(_: Screen, report: BackupReport) -> str:
    """Show the backup that was written."""
    return f"Wrote {escape_controls(report.path)}: {report.size_bytes:,} bytes, {count_noun(report.users, 'user')}"


@register_output(RestoreReport)
def put_back(_: Screen, report: RestoreReport) -> str:
    """Show the backup that was restored."""
    erased_now = (
        f"\nErased {count_noun(report.erased, 'user')} from it, as listed in the erasure ledger."
        if report.erased
        else ""
    )
    lines = [
        (
            f"Restored {escape_controls(report.path)} from {escape_controls(report.backup)}: "
            f"{count_noun(report.users, 'user')}{erased_now}"
        )
    ]
    if report.deleted:
        lines.append(
            f"Repeated {count_noun(report.deleted, 'deletion')} of memories and messages, made since the backup."
        )
    if not report.replayed:
        lines.append("Later deletions are not in this backup. `--deletions FILE` repeats them.")
    if report.unread:
        lines.append(f"Memories deleted since the backup may be present again: {escape_controls(report.unread)}")
    return "\n".join(lines)


# Text output of tests of beliefs, and of replayed contexts.


_AGAINST: Final = {
    "memory": "this memory",
    "reextracted": "the journal, read again",
    "data": "the data",
}


@register_output(BeliefTestReport)
def render_belief_test(screen: Screen, report: BeliefTestReport) -> str:
    """Show the failed assertions with both sides, the belief diff, and the counts."""
    name = Path(report.path).name
    lines: list[str] = []
    for check in report.checks:
        if not check.passed:
            lines.append(screen.warn(f"FAILED {name}:{check.line}: {escape_controls(check.assertion)}"))
            lines += [f"  {escape_controls(line)}" for line in list_diff(check)]
    if report.differences:
        lines.append(screen.bold(f"Reading again changes {len(report.differences):,} beliefs"))
        lines += [f"  {escape_controls(line)}" for one in report.differences for line in _list_change(one)]
    lines += [screen.fill(f"note: {escape_controls(problem)}", "  ", "    ") for problem in report.problems]
    counts = f"{report.passed:,} passed, {report.failed:,} failed"
    return "\n".join([*lines, f"{counts}, against {_AGAINST[report.tested]}"])


def list_diff(check: CheckedAssertion) -> Iterator[str]:
    """Yield the lines of a difference: what was expected after a minus, what was found after a plus."""
    yield from (f"- {line}" for line in check.expected)
    yield from (f"+ {line}" for line in check.found)


def _list_change(one: RebuildDifference) -> Iterator[str]:
    """Yield a changed belief as its text before and after."""
    name = f"  [{one.id}]" if one.id else ""
    reason = f"  ({one.reason})" if one.reason else ""
    if one.before and one.before != one.after:
        yield f"- {one.before}{name}"
    if one.after:
        yield f"+ {one.after}{name if not one.before else ''}{reason}"
    if one.before == one.after:
        yield f"  {', '.join(one.fields) or one.what}{reason}"


@register_output(ReplayReport)
def render_replay(screen: Screen, report: ReplayReport) -> str:
    """Show each prompt with its context, or with the difference that the memory makes."""
    lines = [line for prompt in report.prompts for line in _show_prompt(screen, prompt, report.without)]
    if report.left_out:
        lines.append(screen.dim(f"{report.left_out:,} earlier prompts; --limit shows more."))
    if report.without is not None:
        lines.append(f"{report.without} changes {report.changed:,} of {len(report.prompts):,} contexts")
    return "\n".join(lines)


def _show_prompt(screen: Screen, one: ReplayedPrompt, without: str | None) -> Iterator[str]:
    yield screen.bold(f"{one.event_id}  {screen.moment(to_datetime(one.at_us))}  {escape_controls(one.prompt)}")
    if without is None:
        yield from (f"  {escape_controls(line)}" for line in one.with_text.splitlines() or ["(empty)"])
    elif not one.changed:
        yield "  the same"
    else:
        before, after = one.with_text.splitlines(), (one.without_text or "").splitlines()
        changed = difflib.unified_diff(before, after, "with", "without", lineterm="", n=1)
        yield from (f"  {escape_controls(line)}" for line in changed)


# Text output of installations of the plugin.


def render_plugin(screen: Screen, report: PluginReport) -> str:
    """Show what an installation or a removal did."""
    listed = (
        ("wrote", report.written),
        ("copy of before", report.backups),
        ("removed", report.removed),
        ("kept, as you changed it", report.kept),
    )
    rows = [(name, escape_controls(path)) for name, paths in listed for path in paths]
    rows += [("then", escape_controls(report.next_step))] if report.next_step else []
    head = f"{report.done.capitalize()}: {report.host}"
    return f"{head}\n{screen.pairs(rows)}" if rows else head


def render_plugins(screen: Screen, found: Sequence[PluginStatus]) -> str:
    """Show where the plugin is installed."""
    if not found:
        return "The plugin is not installed; `credenda plugin install HOST` does."
    lines: list[str] = []
    for one in found:
        if one.missing:
            state = screen.warn("incomplete: install it again")
        elif one.hooks_ran_at is None:
            state = screen.warn("no hook has run since it was installed")
        else:
            state = f"ok, hooks last ran {screen.moment(datetime.fromisoformat(one.hooks_ran_at))}"
        lines.append(f"{one.host}: {state}, version {escape_controls(one.version)}, {count_noun(one.files, 'file')}")
        lines += [f"  then: {escape_controls(one.next_step)}"] if one.next_step else []
        lines += [f"  missing: {escape_controls(path)}" for path in one.missing]
        lines += [f"  changed by you: {escape_controls(path)}" for path in one.changed]
    return "\n".join(lines)


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
