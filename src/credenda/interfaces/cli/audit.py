"""`credenda audit`: verify and export the records of calls to `credenda serve`."""

from __future__ import annotations

import json

import click

from credenda.interfaces import cli
from credenda.interfaces.cli.commands import make_program_options
from credenda.interfaces.cli.groups import Commands
from credenda.interfaces.cli.output import write_output
from credenda.interfaces.cli.session import Session

__all__ = ["make_audit_command"]

_DAMAGED = 7


def make_audit_command() -> click.Command:
    """Make the group."""
    verify = click.Command(
        "verify",
        params=[
            click.Option(["--anchor"], metavar="SEQ:HASH", default="", help="The head that an earlier run printed."),
            *make_program_options(hidden=True),
        ],
        callback=click.pass_obj(_verify),
        help="Verify that no record of a call was changed, moved or removed.",
        epilog="Keep the head that it prints elsewhere, and give it as --anchor later. Exits with 7 when something is"
        " wrong.",
    )
    export = click.Command(
        "export",
        params=[
            click.Option(["--after"], type=click.IntRange(0), default=0, help="Only records after this number."),
            *make_program_options(hidden=True),
        ],
        callback=click.pass_obj(_export),
        help="Write the records as JSON Lines; a user who was erased has no name.",
    )
    return Commands(
        "audit",
        commands=[verify, export],
        params=make_program_options(hidden=True),
        help="Verify and export the records of calls to `credenda serve`.",
        short_help="Verify and export the records of calls to `serve`.",
    )


def _verify(session: Session, anchor: str) -> None:
    with session.open_parts() as parts:
        report = parts.store.audit.verify_audit(anchor)
    if session.json:
        write_output(cli.jsonout.dump_json(report))
    else:
        count = cli.layout.count_noun(report.records, "record")
        write_output(f"{count}, {report.problem or 'all in order'}.\nHead: {report.head}")
    if not report.ok:
        raise click.exceptions.Exit(_DAMAGED)


def _export(session: Session, after: int) -> None:
    with session.open_parts() as parts:
        names = parts.store.audit.read_audit_subjects()
        for record in parts.store.audit.read_audit(after):
            user = names.get(str(record.fields["user"]))
            shown = {"seq": record.seq, "user": user, "record": record.fields, "hash": record.hash}
            write_output(json.dumps(shown, ensure_ascii=False))
