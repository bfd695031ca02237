"""Replacement of rows by their replay from the change log; the words are indexed when the unit ends."""

from __future__ import annotations

from credenda.ids import IdKind, parse_id_number
from credenda.storage import rows
from credenda.storage.sql.run import StatementRunner
from credenda.storage.store import ReplayedRows

__all__ = ["replace_rows"]


def replace_rows(run: StatementRunner, tag: str, row: ReplayedRows) -> str:
    """Replace the rows of a memory, of its evidence, or of a contest, in the tenant with this tag."""
    if row.contest is not None:
        run("put_contest", id=parse_id_number(row.contest.id, IdKind.CONTEST, tag), **rows.to_contest_row(row.contest))
    for version in row.versions[:1]:
        number = parse_id_number(version.id, IdKind.MEMORY, tag)
        run("delete_versions", id=number)
        if row.evidence is not None:
            run("delete_evidence", id=number)
    for version in row.versions:
        run("insert_version", **rows.to_memory_row(version, tag))
    for item in row.evidence or ():
        run(
            "insert_evidence",
            memory=parse_id_number(item.memory_id, IdKind.MEMORY, tag),
            event=parse_id_number(item.span.event_id, IdKind.EVENT, tag),
            start=item.span.start,
            stop=item.span.stop,
            claim_hash=item.claim_hash,
            reader=item.reader or None,
        )
    return ""
