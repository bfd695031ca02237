"""What duties read and file: how memories were used, what is computed of them, and how the duties themselves went."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from dataclasses import asdict
from typing import assert_never

from credenda.errors import Conflict
from credenda.ids import Kind, number_of, numbers_of, public_id
from credenda.model.core import Recalled
from credenda.model.regard import Regard
from credenda.model.report import DutyRun
from credenda.storage.store import Access, Lead, Prune, Retention, Surprise, Watermark

__all__ = ["Derived", "file_derived", "read_accesses", "read_duties", "read_recalled", "read_regards"]

Run = Callable[..., sqlite3.Cursor]
"""Run a named statement for one tenant."""
Derived = Retention | Surprise | Watermark | DutyRun | Lead | Prune
"""What is computed from the rest, and how far the duties that compute it have come."""


def file_derived(run: Run, tag: str, row: Derived) -> None:
    """File a derived value of the tenant with this tag."""
    match row:
        case Retention():
            numbers = numbers_of(list(row.scores), Kind.MEMORY, tag)
            run("put_retention", scores=json.dumps(dict(zip(numbers, row.scores.values(), strict=True))))
        case Surprise():
            number = number_of(row.memory_id, Kind.MEMORY, tag)
            run("put_surprise", id=number, score=row.score, importance=row.importance)
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
                holder = str(run("led_by", name=row.name).fetchone()[0] or "")
                why, fix = "one at a time is enough", "leave it to the other, and try again later"
                raise Conflict(what, why=why, fix=fix, owner=holder)
        case Prune():
            run("prune_accesses", before_us=row.showings_before_us, limit=row.limit)
            run("prune_jobs", before_us=row.jobs_before_us, limit=row.limit)
        case _:
            assert_never(row)


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


def read_recalled(run: Run, tag: str, days: tuple[int, int], limit: int) -> list[Recalled]:
    """Read what was recalled most on some days, the last excluded."""
    return [
        Recalled(
            memory_id=public_id(Kind.MEMORY, row["memory"], tag),
            days=row["days"],
            sessions=row["sessions"],
            useful=row["useful"],
            last_us=row["last_at"],
        )
        for row in run("recalled", first_day=days[0], until_day=days[1], limit=limit)
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
