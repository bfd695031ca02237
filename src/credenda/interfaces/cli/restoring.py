"""`credenda erase-again`: after a restore, erase whoever was erased since the backup."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from credenda.interfaces.cli.commands import make_command, write_either
from credenda.interfaces.cli.output import Screen, Session, escape_controls, note, open_screen
from credenda.interfaces.cli.removing import ask_consent
from credenda.lazy import import_on_use
from credenda.model.report import MigrationReport
from credenda.text.recalled_block import count_noun

if TYPE_CHECKING:
    from credenda import bootstrap
else:
    bootstrap = import_on_use("credenda.bootstrap")


def make_repeat_erasures_command() -> click.Command:
    """Make the command."""
    return make_command(
        "erase-again",
        _repeat_erasures,
        click.Option(
            ["--ledger", "ledgers"],
            metavar="FILE",
            multiple=True,
            help="A file of erasures; may be repeated. [default: setting erasure_ledger_file]",
        ),
        click.Option(
            ["--deletions"],
            metavar="TARGET",
            help="The database that was replaced, or a later state of it: what was erased and deleted there goes"
            " too. It is only read.",
        ),
        click.Option(["--yes"], is_flag=True, help="Do not ask."),
        help="Erase from a restored database the users who were erased since its backup was made, as the ledger of"
        " erasures lists them. Run it before anything serves the database.",
        short_help="After a restore, erase whoever was erased since the backup.",
        epilog="It is safe to repeat. `credenda restore` does this by itself for a backup of a file.",
    )


def _repeat_erasures(session: Session, ledgers: tuple[str, ...], deletions: str | None, *, yes: bool) -> None:
    if not ask_consent("Erase from this database whoever was erased since its backup?", sure=yes):
        return
    report = bootstrap.repeat_erasures(session.db, ledgers, deletions=deletions)
    lines = [f"{count_noun(report.erased, 'user')} erased again; the ledgers list {report.listed:,}."]
    if report.deleted:
        lines.append(f"{count_noun(report.deleted, 'row')} of deleted memories and messages deleted again.")
    if report.held:
        lines.append(f"{count_noun(report.held, 'user')} left alone, under a legal hold.")
    write_either(session, report, "\n".join(lines))


# `credenda migrate`: move memories from one database to another.


_CONFLICT = 4


def make_migrate_command() -> click.Command:
    """Make the command."""
    return make_command(
        "migrate",
        _migrate,
        click.Option(["--from", "source"], metavar="TARGET", required=True, help="The database to read."),
        click.Option(["--to", "target"], metavar="TARGET", required=True, help="The database to copy it to."),
        help="Copy the memories of all users from one database to another, with their tokens and members, and verify"
        " each copy row by row and by searches. With --user, only those of one user.",
        short_help="Copy memories from one database to another.",
        epilog="Stop servers and workers of both databases first. An interrupted run is repeated: users who are there"
        " already are only verified. The source is only read. Exits with 4 when a user could not be moved.",
    )


def _migrate(session: Session, source: str, target: str) -> None:
    def tell(user: str, step: str) -> None:
        note(escape_controls(f"{user}: {step}" if user else step))

    report = bootstrap.migrate_database(source, target, user=session.user, progress=tell)
    write_either(session, report, _show_copied(open_screen(), report))
    if not report.ok:
        raise click.exceptions.Exit(_CONFLICT)


def _show_copied(screen: Screen, report: MigrationReport) -> str:
    rows = count_noun(sum(report.rows.values()), "row")
    lines = [
        f"{count_noun(report.moved, 'user')} moved, {report.present:,} there already.",
        f"Equal: {rows}, and the results of {report.searches:,} searches.",
    ]
    lines += [f"  {table}  {count:,}" for table, count in report.rows.items()]
    beside = [("token", report.tokens), ("member", report.members)]
    lines.append(
        f"Added {' and '.join(count_noun(count, noun) for noun, count in beside)}, and"
        f" {report.erasures:,} from the ledger of erasures."
    )
    lines += [screen.fill(f"Not moved: {one.user}: {one.why}.") for one in report.unmoved]
    lines += [screen.fill(f"Left behind: {text}.") for text in report.left]
    return "\n".join(lines)
