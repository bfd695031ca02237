"""Text output of results: one renderer for each kind of result, which yields the lines."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import credenda.interfaces.cli.render_lifecycle  # noqa: F401 # pyright: ignore[reportUnusedImport] - registers renderers
from credenda.clock import to_datetime
from credenda.interfaces.cli.outcome import Done
from credenda.interfaces.cli.output import (
    NOTHING_YET,
    RENDERERS,
    SHOWN,
    Screen,
    count_rest,
    escape_controls,
    format_count,
    format_wait,
    list_fields,
    list_values,
    register_output,
    show_fields,
)
from credenda.interfaces.cli.render_beliefs import render_contest
from credenda.interfaces.client_setup.install import Installed
from credenda.model.change import SlotLoop
from credenda.model.evaluation import (
    BeliefTestReport,
    CheckedAssertion,
    ContextPreview,
    FaithfulnessScore,
    RebuildDifference,
    RebuildReport,
    ReplayReport,
    ScoreRecord,
)
from credenda.model.governance import ComplianceReport, DeletionPlan, DeletionReceipt, LegalHold, RetentionPolicy
from credenda.model.job import JobInfo
from credenda.model.memory import Memory
from credenda.model.query import Context, StatusStep
from credenda.model.report import (
    CompressReport,
    DecayReport,
    DeletionReport,
    DoctorReport,
    EraseReceipt,
    ExtractionReport,
    ImportReport,
    ReembedReport,
    Resolution,
    RestoreReport,
    Stats,
    SyncReport,
    UndoneMemory,
    UndoReport,
)
from credenda.model.server import ServerReport
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
    shown = RENDERERS.get(operation) or RENDERERS.get(type(value))
    if shown is None:
        return "\n".join(_show_any(screen, operation, value))
    opening = [_OPENINGS[operation]] if isinstance(value, Memory) and operation in _OPENINGS else []
    if operation == "correct" and isinstance(value, Memory) and value.attribute and not value.value:
        opening.append(screen.fill(_NO_VALUE))
    return "\n".join([*opening, *shown(screen, value)])


_FIELDS: Final[Mapping[type, str]] = {
    ContextPreview: "tokens token_budget counted_by waiting lines left_out",
    DecayReport: "profile examined updated reason moves",
    FaithfulnessScore: "score supported contradicted not_found judge claims",
    JobInfo: "id state operation kind messages done total attempts next_attempt_us error created_us updated_us",
    LegalHold: "set_us reason lifted_us lifted_reason",
    RetentionPolicy: "days topic",
    ScoreRecord: "id at_us score supported contradicted not_found judge session",
    SlotLoop: "superseded_count entity attribute scope first_seen_us last_superseded_us contest_id chain",
    StatusStep: "at_us status actor reason change_id",
}
"""The fields that are shown of a value, where those are not all."""
_NOTHING: Final = {
    "holds": "There are no legal holds, current or past.",
    "jobs": "No job matches.",
    "loops": "No slot flip-flops.",
    "policy": "There is no retention policy: nothing expires.",
    "scores": "No response was scored yet.",
}
_ADVICE: Final[Mapping[type, Callable[[Any], str]]] = {
    CompressReport: lambda report: "" if not report.dry_run else "Nothing was changed; --apply applies this.",
    ComplianceReport: lambda report: (
        "" if report.audit_ok else "The audit records of the database are damaged: run `credenda audit verify`."
    ),
    ExtractionReport: lambda report: (
        "The model was not called, and nothing was changed: this is what it would take." if report.dry_run else ""
    ),
    ReembedReport: lambda report: "" if report.in_use else "Set `embedder` to this model so that searches use it.",
}
"""What the fields of a report do not say."""


def _show_any(screen: Screen, operation: str, value: Any) -> Iterator[str]:  # noqa: ANN401 - any result
    """Show a value that has no text of its own by its fields, and a list of such values as a table."""
    is_page = hasattr(value, "next_cursor")
    items: object = value.items if is_page else value
    if isinstance(items, list | tuple):
        found = cast("Sequence[object]", items)
        table = list_values(screen, found, _choose_fields(found[0])) if found else _NOTHING.get(operation, "Nothing.")
        yield table + (screen.more(value.next_cursor) if is_page else "")
    elif names := _choose_fields(value):
        if getattr(value, "dry_run", False):
            yield "Nothing was changed: this is what would be done."
        yield from show_fields(screen, value, names)
        if advice := _ADVICE[type(value)](value) if type(value) in _ADVICE else "":
            yield screen.warn(advice)
    else:
        yield "Done." if value is None else escape_controls(str(value))


def _choose_fields(value: object) -> Sequence[str]:
    named = _FIELDS.get(type(value))
    return named.split() if named else list_fields(value)


RENDERERS.update(
    {
        Context: lambda _, packed: [packed.text],  # unchanged, because it goes into a prompt
        Done: lambda _, done: [f"{done.done.capitalize()}: {escape_controls(done.id)}"],
        Resolution: lambda screen, resolution: ["Answered.", render_contest(screen, resolution.contest)],
    }
)


@register_output(Installed)
def _show_installed(screen: Screen, done: Installed) -> Iterator[str]:
    told = {"added": "Added", "changed": "Changed", "already there": "Already there, nothing changed:"}[done.done]
    rows = (("file", done.path), ("backup", done.backup or ""), ("then", "restart the client"))
    yield f"{told} {escape_controls(done.name)}"
    yield screen.pairs(rows if done.done != "already there" else rows[:1])


@register_output(Stats)
def _show_stats(screen: Screen, found: Stats) -> Iterator[str]:
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
    )
    yield screen.pairs(rows, indent="")
    if found.model is not None:
        yield screen.bold("Language model, today")
        yield from show_fields(screen, found.model, list_fields(found.model))
    if found.reader_problem:
        yield screen.fill(screen.warn(found.reader_problem))
    if found.embedder is None:
        told = f"{found.vectors:,} vectors are not used: no embedding model is open, so search is lexical only."
        yield from [screen.fill(told)] if found.vectors or found.texts_to_embed else []
    elif found.texts_to_embed:
        lacking = f"{count_noun(found.texts_to_embed, 'text', 'has')} no vector of {escape_controls(found.embedder)}"
        yield screen.fill(f"{lacking}: search finds such texts by words only until you run `credenda reembed`.")
    if not found.events and not found.memories:
        yield screen.fill(NOTHING_YET)


def _list(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)


@register_output(DoctorReport)
def _show_doctor(screen: Screen, report: DoctorReport) -> Iterator[str]:
    yield f"Oldest unread message: {format_wait(report.oldest_unread_seconds)}."
    yield _judge(screen, ok=report.ok)
    for one in report.findings:
        place, fix = f" ({one.where})" if one.where else "", f"; {one.fix}" if one.fix and not one.repaired else ""
        yield screen.item(f"{'repaired' if one.repaired else 'wrong'}: {one.check}: {one.detail}{place}{fix}")
    if any(not one.fix and not one.repaired for one in report.findings):
        yield "`credenda doctor --repair` rebuilds derived data; for anything else restore a backup."
    yield screen.dim(screen.fill(f"checked: {', '.join(report.checks)}"))
    yield screen.dim("database")
    yield screen.pairs((name.replace("_", " "), text) for name, text in report.backend.items())


def _judge(screen: Screen, *, ok: bool) -> str:
    return "No problem was found." if ok else screen.warn("Problems were found.")


@register_output(ServerReport)
def _show_server(screen: Screen, report: ServerReport) -> Iterator[str]:
    signs = {True: "ok", False: "WRONG", None: "unknown"}
    rows = [(one.check, f"{signs[one.ok]}: {one.detail}{f'; {one.fix}' if one.fix else ''}") for one in report.checks]
    yield screen.pairs(rows, indent="")
    yield _judge(screen, ok=report.ok)


@register_output(RebuildReport)
def _show_rebuild(screen: Screen, report: RebuildReport) -> Iterator[str]:
    if report.waiting:
        yield (
            f"The model read {count_noun(report.asked, 'message')}; "
            f"{report.waiting:,} are still queued ({escape_controls(report.why)})."
        )
        yield "Its answers are kept, and the same command continues from there. Nothing was changed."
        return
    count = len(report.differences)
    done = "applied" if report.applied else "nothing was changed"
    head = f"{count:,} differences; {done}." if count else "Nothing differs."
    yield f"Compared {count_noun(report.compared, 'memory')}. {head}"
    for one in report.differences:
        words = " → ".join(escape_controls(part) for part in (one.before, one.after) if part)
        reason = f"({escape_controls(one.reason)})" if one.reason else ""
        yield screen.item(" ".join(filter(None, (one.what, one.id or "new", ", ".join(one.fields), words, reason))))
    yield from (screen.item(f"kept: {one}") for one in report.kept)
    if report.unread:
        yield f"The model failed on {count_noun(report.unread, 'message')}; their beliefs stay unchanged."
    if report.unexplained:
        yield f"{count_noun(len(report.unexplained), 'memory', 'is')} not in the change log: unchanged."
    if poor := max(report.redacted, report.unsupported):
        yield f"{count_noun(poor, 'memory', 'is')} logged too incompletely to compare."


@register_output(ImportReport)
def _show_import(screen: Screen, report: ImportReport) -> Iterator[str]:
    path = escape_controls(report.path)
    rows = (
        ("format", report.format),
        ("conversations", format_count(report.conversations)),
        ("turns", format_count(report.turns)),
        ("already stored", format_count(report.skipped)),
        ("ended", count_noun(report.ended, "memory") if report.ended else ""),
        ("left out", ", ".join(count_kind(count, kind) for kind, count in report.left_out.items())),
        ("problems", format_count(report.passed_over)),
        ("rows", _list(report.rows)),
    )
    yield f"Would import {path}; nothing was stored" if report.dry_run else f"Imported {path}"
    yield screen.pairs(rows)
    if report.lifted_erasure:
        yield screen.fill(
            f"This {'would lift' if report.dry_run else 'lifted'} the erasure of this user: a restore of a backup"
            " from before it brings the user back. To have the erasure again, erase the user again."
        )
    places: dict[str, list[str]] = {}
    for one in report.problems:
        place, _, what = one.rpartition(": ")
        places.setdefault(what, []).append(place)
    for what, found in places.items():
        many = [f"{what} in {len(found):,} items, the first {found[0]}; --json names them"]
        each = (f"{place}: {what}" if place else what for place in found)
        yield from (screen.item(f"note: {told}") for told in (many if len(found) > _ALIKE else each))


_ALIKE: Final = 3
"""Problems of one kind that are listed one by one."""


# Text output of undo, of the statuses of a memory, and of slots that flip-flop.


@register_output(UndoReport)
def _show_undo(screen: Screen, report: UndoReport) -> Iterator[str]:
    count = len(report.undone)
    changes = count_noun(count, "change")
    done = f"Undid {changes}." if report.ran else f"Would undo {changes}; nothing was changed."
    yield done if count else "There was nothing to undo."
    if report.memories:
        rows: list[tuple[str, str]] = []
        for one in report.memories:
            said = filter(None, (_describe_field(screen, one, name) for name in one.after))
            rows.append((one.id, ", ".join(dict.fromkeys(said))))
        yield screen.table(("ID", "EFFECT"), rows, indent="  ")
    if report.conflicts:
        yield screen.warn("Later changes depend on these; --cascade undoes them as well:")
        found = [(one.id, one.kind.value, one.memory_id or "", escape_controls(one.reason)) for one in report.conflicts]
        yield screen.table(("CHANGE", "KIND", "ID", "REASON"), found, indent="  ")
    if report.lasting:
        yield f"{len(report.lasting):,} cannot be undone: their text was permanently deleted."


def _describe_field(screen: Screen, one: UndoneMemory, name: str) -> str:
    """Say what becomes of a memory, in words for the fields that people know."""
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


# Text output of folder synchronisation.


@register_output("files")
def _show_sync(screen: Screen, report: SyncReport) -> Iterator[str]:
    pages = f"{len(report.written):,} written" + (f", {len(report.removed):,} removed" if report.removed else "")
    counts = {name: getattr(report, name) for name in ("remembered", "corrected", "deleted", "contested")}
    rows = (("from the files", _list(counts)), ("pages", pages if report.written or report.removed else ""))
    head = f"{'Would synchronise' if report.dry_run else 'Synchronised'} {escape_controls(report.path)}"
    yield head if report.changed else f"{head}: nothing had changed"
    if shown := screen.pairs(rows):
        yield shown
    files = [f"  written: {escape_controls(one)}" for one in report.written]
    files += [f"  removed: {escape_controls(one)}" for one in report.removed]
    yield from files[:SHOWN]
    if pending := render_pending(report):
        yield pending
    yield from count_rest(len(files), "; --json names them", indent="  ")
    if report.waiting:
        yield (
            f"{count_noun(report.waiting, 'entry', 'is')} missing: `--missing delete` deletes, "
            "`--missing restore` writes them to the files again."
        )
    yield from (screen.item(f"skipped: {one}") for one in report.left_alone[:SHOWN])
    yield from (screen.item(f"note: {one}") for one in report.notes[:SHOWN])
    more = len(report.left_alone[SHOWN:]) + len(report.notes[SHOWN:])
    yield from count_rest(more, "; --json names them", shown=0)


def render_pending(report: SyncReport) -> str:
    """List entries that are missing from the files, a line each."""
    lines = [f"  missing: {escape_controls(one)}" for one in report.pending[:SHOWN]]
    return "\n".join([*lines, *(count_rest(report.waiting, shown=len(lines), indent="  ") if lines else [])])


# Text output of erasure, deletion, legal holds, retention policies and backups.


_NEVER_THERE: Final = (
    "This database never had this user, so no erasure is on record: a backup that has the user brings it back. Restore"
    " such a backup first, and then erase."
)
_HELD: Final = (
    "Another process still reads the log, which keeps the words until that ends; the next write after it removes them."
)


@register_output(EraseReceipt)
def _show_erase(screen: Screen, receipt: EraseReceipt) -> Iterator[str]:
    nothing = "There was nothing left to erase." if receipt.listed else _NEVER_THERE
    yield f"Erased {receipt.rows:,} rows." if receipt.rows else nothing
    if receipt.tables:
        yield screen.counts(receipt.tables)
    bytes_searched = f"Searched all bytes for {receipt.windows_searched:,} pieces of its text"
    searched = bytes_searched if receipt.windows_searched else "Looked for rows that are left"
    yield f"{searched}: {receipt.remaining_matches:,} found."
    if receipt.exported:
        yield f"Everything was exported to {escape_controls(receipt.exported)} first."
    if not receipt.log_emptied:
        yield screen.warn("Another process still reads the log: close it and erase again to finish.")
    elif receipt.remaining_matches:
        yield screen.warn("Erase again; if that does not help, see docs/reference/forgetting.md.")
    if receipt.backups:
        yield "These backups may still contain it. Restoring one erases it there; or delete them:"
        yield from (f"  {escape_controls(path)}" for path in receipt.backups)
    if receipt.owed:
        yield screen.warn("The erasure is not listed beside these yet. It is tried again; see `doctor`:")
        yield from (f"  {escape_controls(path)}: {escape_controls(reason)}" for path, reason in receipt.owed.items())


@register_output(DeletionPlan)
def _show_plan(screen: Screen, plan: DeletionPlan) -> Iterator[str]:
    if not (plan.memories or plan.events):
        yield f"Nothing would be deleted: {plan.id} is deleted already."
        return
    gone = f"{count_noun(plan.memories, 'memory')}, and words in {count_noun(plan.events, 'message')}"
    yield f"Would delete {gone}. Nothing was deleted."
    yield screen.pairs([("id", plan.id), ("text", escape_controls(plan.text))])
    yield from describe_shared(plan)


def describe_shared(plan: DeletionPlan | DeletionReport) -> Iterator[str]:
    """Describe the words that a deletion blanks, and every other memory that holds them."""
    going = "These memories go:"
    if isinstance(plan, DeletionPlan):
        going = "These memories go too:"
        totals = (len(plan.kept), len(plan.taken), len(plan.mentions))
        yield from (f"Blanks in {one.event_id}: “{escape_controls(one.words)}”" for one in plan.blanked)
    else:
        totals = (plan.kept_total, plan.memories, plan.mentions_total)
    mentions = "These memories name it in words of their own and stay as they are:"
    stay = "These memories hold its words and stay without them:"
    for head, named, total in zip((stay, going, mentions), (plan.kept, plan.taken, plan.mentions), totals, strict=True):
        if named:
            yield head
            for one in named:
                reason = f": {one.reason}" if one.reason else ""
                left = f" keeps “{escape_controls(one.left)}”" if named is plan.kept else reason
                yield f"  {one.id} “{escape_controls(one.text)}”{left}"
            yield from count_rest(total, shown=len(named), indent="  ")


@register_output(DeletionReceipt)
def _show_deletion(screen: Screen, receipt: DeletionReceipt) -> Iterator[str]:
    yield f"Deleted: {receipt.id}"
    if receipt.kept:
        yield f"{', '.join(receipt.kept)} held its words and stayed without them."
    if receipt.taken:
        yield f"{', '.join(receipt.taken)} went too."
    if receipt.mentions:
        yield _name_mentions(receipt.mentions)
    if not receipt.log_emptied:
        yield screen.warn(_HELD)


def name_deleted(screen: Screen, report: DeletionReport) -> str:
    """Say how much a deletion by conditions concerns, and before which moment."""
    counts = f"{count_noun(report.events, 'event')} and {count_noun(report.memories, 'memory')}"
    before = "" if report.before_us is None else f" from before {screen.moment(to_datetime(report.before_us))}"
    return counts + before


def _name_mentions(ids: Sequence[str]) -> str:
    said = "still names it, in words of its own" if len(ids) == 1 else "still name it, in words of their own"
    return f"{', '.join(ids)} {said}."


@register_output(DeletionReport)
def _show_deletions(screen: Screen, report: DeletionReport) -> Iterator[str]:
    yield f"{'Would delete' if report.dry_run else 'Deleted'} {name_deleted(screen, report)}."
    if report.dry_run:
        yield from describe_shared(report)
    elif report.kept:
        yield f"{', '.join(one.id for one in report.kept)} lost words or labels, and stayed."
    if report.mentions and not report.dry_run:
        yield _name_mentions([one.id for one in report.mentions])
    if not report.log_emptied:
        yield screen.warn(_HELD)


@register_output(RestoreReport)
def _show_restored(_: Screen, report: RestoreReport) -> Iterator[str]:
    path, backup = escape_controls(report.path), escape_controls(report.backup)
    yield f"Restored {path} from {backup}: {count_noun(report.users, 'user')}"
    if report.erased:
        yield f"Erased {count_noun(report.erased, 'user')} from it, as listed in the erasure ledger."
    if report.deleted:
        yield f"Repeated {count_noun(report.deleted, 'deletion')} of memories and messages, made since the backup."
    if not report.replayed:
        yield "Later deletions are not in this backup. `--deletions FILE` repeats them."
    if report.unread:
        yield f"Memories deleted since the backup may be present again: {escape_controls(report.unread)}"


# Text output of tests of beliefs, and of replayed contexts.


_AGAINST: Final = {"memory": "this memory", "reextracted": "the journal, read again", "data": "the data"}


@register_output(BeliefTestReport)
def _show_belief_test(screen: Screen, report: BeliefTestReport) -> Iterator[str]:
    for check in report.checks:
        if not check.passed:
            name = f"{Path(report.path).name}:{check.line}"
            yield screen.warn(f"FAILED {name}: {escape_controls(check.assertion)}")
            yield from (f"  {escape_controls(line)}" for line in list_diff(check))
    if report.differences:
        yield screen.bold(f"Reading again changes {len(report.differences):,} beliefs")
        yield from (f"  {escape_controls(line)}" for one in report.differences for line in _list_change(one))
    yield from (screen.item(f"note: {problem}") for problem in report.problems)
    yield f"{report.passed:,} passed, {report.failed:,} failed, against {_AGAINST[report.tested]}"


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
def _show_replay(screen: Screen, report: ReplayReport) -> Iterator[str]:
    for one in report.prompts:
        yield screen.bold(f"{one.event_id}  {screen.moment(to_datetime(one.at_us))}  {escape_controls(one.prompt)}")
        if report.without is None:
            shown: Iterable[str] = one.with_text.splitlines() or ["(empty)"]
        elif not one.changed:
            shown = ["the same"]
        else:
            before, after = one.with_text.splitlines(), (one.without_text or "").splitlines()
            shown = difflib.unified_diff(before, after, "with", "without", lineterm="", n=1)
        yield from (f"  {escape_controls(line)}" for line in shown)
    if report.left_out:
        yield screen.dim(f"{report.left_out:,} earlier prompts; --limit shows more.")
    if report.without is not None:
        yield f"{report.without} changes {report.changed:,} of {len(report.prompts):,} contexts"


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
