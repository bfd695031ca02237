"""`credenda audit`: verify and export the records of calls to `credenda serve`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import click

from credenda.interfaces import cli, server
from credenda.interfaces.cli.commands import make_program_options
from credenda.interfaces.cli.groups import Commands
from credenda.interfaces.cli.output import write_output
from credenda.interfaces.cli.session import Session
from credenda.model.audit import AuditRecord
from credenda.storage.audit import make_harmless
from credenda.text.counts import count_noun

__all__ = ["make_audit_command"]

_DAMAGED = 7


def make_audit_command() -> click.Command:
    """Make the group."""
    verify = click.Command(
        "verify",
        params=[
            click.Option(
                ["--anchor"], metavar="SEQ:HASH", multiple=True, help="A head that an earlier run printed; repeatable."
            ),
            click.Option(
                ["--anchors"], metavar="FILE", help="Anchors of a server. [default: setting audit_anchor_file]"
            ),
            *make_program_options(hidden=True),
        ],
        callback=click.pass_obj(_verify),
        help="Verify that no record of a call was changed, moved or removed.",
        epilog="Keep the head that it prints elsewhere, and give it as --anchor later. Without anchors, a chain that"
        " was made anew from its start looks sound. Exits with 7 when something is wrong.",
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


def _verify(session: Session, anchor: tuple[str, ...], anchors: str | None) -> None:
    with session.open_parts() as parts:
        named = parts.settings.audit_anchor_file if anchors is None else anchors
        kept = server.anchors.read_anchors(Path(named)) if named else []
        report = parts.store.audit.verify_audit([*anchor, *kept])
    if session.json:
        write_output(cli.jsonout.dump_json(report))
    else:
        count = count_noun(report.records, "record")
        write_output(f"{count}, {report.problem or 'all in order'}.\nHead: {report.head}")
    if not report.ok:
        raise click.exceptions.Exit(_DAMAGED)


def _export(session: Session, after: int) -> None:
    with session.open_parts() as parts:
        names = {alias: make_harmless(name) for alias, name in parts.store.audit.read_audit_names().items()}
        for record in parts.store.audit.read_audit(after):
            write_output(json.dumps(_show_record(record, names)))


def _show_record(record: AuditRecord, names: Mapping[str, str]) -> dict[str, object]:
    """Show a record as it is, with the names behind its pseudonyms beside it."""
    issuer, _, subject = str(record.fields.get("principal", "")).rpartition(":")
    return {
        "seq": record.seq,
        "user": names.get(str(record.fields["user"])),
        "principal": f"{issuer}:{names.get(subject, subject)}" if issuer else None,
        "actor": names.get(str(record.fields.get("actor", ""))),
        "record": record.fields,
        "hash": record.hash,
    }
