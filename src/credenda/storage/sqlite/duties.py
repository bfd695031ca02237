"""What duties read and file: how memories were used, what is computed of them, and how the duties themselves went."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import asdict
from typing import assert_never

from credenda.errors import Conflict
from credenda.ids import Kind, number_of, public_id
from credenda.model.regard import Regard
from credenda.model.report import DutyRun
from credenda.storage.store import Access, Lead, Prune, Retention, Watermark

__all__ = ["file_upkeep", "read_accesses", "read_duties", "read_regards"]

Run = Callable[..., sqlite3.Cursor]
"""Run a named statement for one tenant."""


def read_accesses(run: Run, numbers: str, tag: str) -> list[Access]:
    """Read the use of some memories (their numbers as a JSON list), by memory and then oldest first."""
    return [
        Access(
            memory_id=public_id(Kind.MEMORY, row["memory"], tag),
            session=row["session_id"],
            day=row["day"],
            at_us=row["at"],
            shown=row["shown"],
            useful=row["useful"],
        )
        for row in run("accesses_of", ids=numbers)
    ]


def read_duties(run: Run) -> list[DutyRun]:
    """Read the last run of each duty, by name."""
    return [
        DutyRun(
            name=row["name"],
            started_us=row["started_at"],
            took_us=row["took_us"],
            result=row["result"],
            failed=bool(row["failed"]),
        )
        for row in run("duties")
    ]


def read_regards(run: Run, numbers: str, tag: str) -> dict[str, Regard]:
    """Read how some memories (their numbers as a JSON list) were judged, those that were."""
    return {
        public_id(Kind.MEMORY, row["memory"], tag): Regard(row["liked"], row["disliked"], row["silent"])
        for row in run("regards_of", ids=numbers)
    }


def file_upkeep(run: Run, row: Retention | Watermark | DutyRun | Lead | Prune, tag: str) -> None:
    """File what is computed from the rest, how far a duty has come, and what is needed no more."""
    match row:
        case Retention():
            run("put_retention", id=number_of(row.memory_id, Kind.MEMORY, tag), score=row.score)
        case Watermark(value=None):
            run("drop_watermark", name=row.name)
        case Watermark():
            run("put_watermark", name=row.name, value=row.value, at_us=row.at_us)
        case DutyRun():
            outcome = {"failed": row.failed, "result": row.result}
            run("put_duty", name=row.name, started_us=row.started_us, took_us=row.took_us, **outcome)
        case Lead():
            if not run("lead", **asdict(row)).rowcount:
                what = f"{row.name} is being run already" if row.name else "another process leads the duties"
                raise Conflict(what, why="one at a time is enough", fix="leave it to the other, and try again later")
        case Prune():
            run("prune_accesses", before_us=row.showings_before_us, limit=row.limit)
            run("prune_jobs", before_us=row.jobs_before_us, limit=row.limit)
        case _:
            assert_never(row)
