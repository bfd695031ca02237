"""What was forgotten, for people: erasures, deletions, holds and policies."""

from __future__ import annotations

from collections.abc import Sequence

from credenda.interfaces.cli.layout import Screen, escape_controls
from credenda.model.report import BackupReport, DeletionReport, EraseReceipt, ExpiryReport, RestoreReport
from credenda.model.retention_policy import LegalHold, RetentionPolicy

__all__ = [
    "hold",
    "put_back",
    "render_backup",
    "render_delete",
    "render_erase",
    "render_expiry",
    "render_holds",
    "render_policies",
]


def render_erase(screen: Screen, receipt: EraseReceipt) -> str:
    """Show what was erased, and what was checked."""
    lines = [f"Erased {receipt.rows:,} rows." if receipt.rows else "There was nothing left to erase."]
    lines.append(screen.pairs((name.replace("_", " "), f"{count:,}") for name, count in receipt.tables.items()))
    lines.append(
        f"Searched every byte for {receipt.windows_searched:,} pieces of it: {receipt.remaining_matches:,} found."
    )
    if receipt.exported:
        lines.append(f"Everything was written to {escape_controls(receipt.exported)} before.")
    if not receipt.log_emptied:
        lines.append(screen.warn("Another process still reads the log: close it and erase again to finish."))
    elif receipt.remaining_matches:
        lines.append(screen.warn("Erase again; if that does not help, see docs/reference/forgetting.md."))
    if receipt.backups:
        lines.append("These backups may hold it still, until restored, which cleans them, or thrown away:")
        lines += [f"  {escape_controls(path)}" for path in receipt.backups]
    return "\n".join(filter(None, lines))


def render_delete(_: Screen, report: DeletionReport) -> str:
    """Show how much went, or would go."""
    would = "Would delete" if report.dry_run else "Deleted"
    return f"{would} {report.events:,} events and {report.memories:,} memories."


def render_expiry(_: Screen, report: ExpiryReport) -> str:
    """Show what went because its time was over."""
    if not report.ran and not report.dry_run:
        return f"Nothing was deleted: {report.reason}."
    would = "Would delete" if report.dry_run else "Deleted"
    return f"{would} {report.events:,} events and {report.memories:,} memories whose time is over."


def hold(_: Screen, one: LegalHold) -> str:
    """Show one legal hold."""
    since = f"Held since {one.set_at:%Y-%m-%d}: {escape_controls(one.reason)}"
    return (
        since
        if one.lifted_at is None
        else f"{since}\n  lifted {one.lifted_at:%Y-%m-%d}: {escape_controls(one.lifted_reason or '')}"
    )


def render_holds(screen: Screen, found: Sequence[LegalHold]) -> str:
    """Show the legal holds."""
    return "\n".join(hold(screen, one) for one in found) or "There is no legal hold, and there was none."


def render_policies(_: Screen, found: Sequence[RetentionPolicy]) -> str:
    """Show the retention policies."""
    lines = [f"{one.days:,} days  {escape_controls(one.topic or 'everything')}" for one in found]
    return "\n".join(lines) or "Everything is kept for good: there is no policy."


def render_backup(_: Screen, report: BackupReport) -> str:
    """Show what was copied."""
    return f"Wrote {escape_controls(report.path)}: {report.size_bytes:,} bytes, {_count_users(report.users)}"


def put_back(_: Screen, report: RestoreReport) -> str:
    """Show what was put in place."""
    erased_now = f"\nErased {_count_users(report.erased)} from it: the ledger names them." if report.erased else ""
    lines = [
        f"Restored {escape_controls(report.path)} from {escape_controls(report.backup)}: {_count_users(report.users)}{erased_now}"
    ]
    if report.deleted:
        lines.append(f"Deleted again {report.deleted:,} memories and messages that had been deleted since.")
    if not report.replayed:
        lines.append("It has the state of its day: what was deleted since is there. `--deletions FILE` takes it away.")
    if report.unread:
        lines.append(f"What was deleted since the backup was made may be back: {escape_controls(report.unread)}")
    return "\n".join(lines)


def _count_users(count: int) -> str:
    return "1 user" if count == 1 else f"{count:,} users"
