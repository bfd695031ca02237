"""`credenda erase-again`: after a restore, erase whoever was erased since the backup."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from credenda.interfaces import cli
from credenda.interfaces.cli.commands import make_program_options
from credenda.interfaces.cli.output import write_output
from credenda.interfaces.cli.removing import ask_consent
from credenda.interfaces.cli.session import Session
from credenda.lazy import import_on_use
from credenda.model.restored_report import RestoredReport
from credenda.text.counts import count_noun

if TYPE_CHECKING:
    from credenda import bootstrap
else:
    bootstrap = import_on_use("credenda.bootstrap")


def make_repeat_erasures_command() -> click.Command:
    """Make the command."""
    return click.Command(
        "erase-again",
        params=[
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
            *make_program_options(hidden=True),
        ],
        callback=click.pass_obj(_repeat_erasures),
        help="Erase from a restored database the users who were erased since its backup was made, as the ledger of"
        " erasures lists them. Run it before anything serves the database.",
        short_help="After a restore, erase whoever was erased since the backup.",
        epilog="It is safe to repeat. `credenda restore` does this by itself for a backup of a file.",
    )


def _repeat_erasures(session: Session, ledgers: tuple[str, ...], deletions: str | None, *, yes: bool) -> None:
    if not ask_consent("Erase from this database whoever was erased since its backup?", sure=yes):
        return
    report = bootstrap.repeat_erasures(session.db, ledgers, deletions=deletions)
    write_output(cli.jsonout.dump_json(report) if session.json else _show(report))


def _show(report: RestoredReport) -> str:
    lines = [f"{count_noun(report.erased, 'user')} erased again; the ledgers list {report.listed:,}."]
    if report.deleted:
        lines.append(f"{count_noun(report.deleted, 'row')} of deleted memories and messages deleted again.")
    if report.held:
        lines.append(f"{count_noun(report.held, 'user')} left alone, under a legal hold.")
    return "\n".join(lines)
