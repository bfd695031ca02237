"""Replacement of rows by their replay from the change log; the words are indexed when the unit ends."""

from __future__ import annotations

import sqlite3
from typing import Protocol

from credenda.ids import Kind, number_of
from credenda.storage import rows
from credenda.storage.store import Refold

__all__ = ["Run", "refold"]


class Run(Protocol):
    """Runs a statement by its name, for one tenant."""

    def __call__(self, name: str, /, **parameters: object) -> sqlite3.Cursor:
        """Run the statement."""
        ...


def refold(run: Run, tag: str, row: Refold) -> str:
    """Replace the rows of a memory, of its evidence, or of a contest, in the tenant with this tag."""
    if row.contest is not None:
        run("put_contest", id=number_of(row.contest.id, Kind.CONTEST, tag), **rows.contest_row(row.contest))
    for version in row.versions[:1]:
        number = number_of(version.id, Kind.MEMORY, tag)
        run("delete_versions", id=number)
        if row.evidence is not None:
            run("delete_evidence", id=number)
    for version in row.versions:
        run("insert_version", **rows.memory_row(version, tag))
    for item in row.evidence or ():
        run(
            "insert_evidence",
            memory=number_of(item.memory_id, Kind.MEMORY, tag),
            event=number_of(item.span.event_id, Kind.EVENT, tag),
            start=item.span.start,
            stop=item.span.stop,
            claim_hash=item.claim_hash,
            reader=item.reader or None,
        )
    return ""
