"""Text output of erasure, deletion, legal holds, retention policies and backups."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from credenda.clock import to_datetime
from credenda.interfaces.cli.output import Screen, escape_controls, register_output
from credenda.model.evaluation import (
    BeliefTestReport,
    CheckedAssertion,
    RebuildDifference,
    ReplayedPrompt,
    ReplayReport,
)
from credenda.model.governance import DeletionPlan, DeletionReceipt, LegalHold, RetentionPolicy, SharedMemory
from credenda.model.report import BackupReport, DeletionReport, EraseReceipt, ExpiryReport, RestoreReport
from credenda.text.recalled_block import count_noun


@register_output(EraseReceipt)
def render_erase(screen: Screen, receipt: EraseReceipt) -> str:
    """Show the erased rows, and the result of the search for remaining data."""
    lines = [f"Erased {receipt.rows:,} rows." if receipt.rows else "There was nothing left to erase."]
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
        lines.append(f"{', '.join(receipt.mentions)} still name it, in words of their own.")
    if not receipt.log_emptied:
        lines.append(screen.warn(_HELD))
    return "\n".join(lines)


@register_output(DeletionReport)
def render_delete(screen: Screen, report: DeletionReport) -> str:
    """Show how much was deleted, or would be."""
    would = "Would delete" if report.dry_run else "Deleted"
    lines = [f"{would} {count_noun(report.events, 'event')} and {count_noun(report.memories, 'memory')}."]
    if report.dry_run:
        lines += describe_report(report)
    else:
        named = {
            "lost words or labels, and stayed": report.kept,
            "still name it, in words of their own": report.mentions,
        }
        lines += [f"{', '.join(one.id for one in found)} {what}." for what, found in named.items() if found]
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
