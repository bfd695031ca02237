"""What duties read and file: how memories were used, what is derived from that, and how the duties themselves went."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from typing import assert_never

from credenda.errors import Conflict
from credenda.ids import Kind, number_of, numbers_of, public_id
from credenda.model.core import Recalled
from credenda.model.report import DutyRun
from credenda.storage.store import Access, Lead, Retention, Surprise, Watermark

__all__ = ["Derived", "file_derived", "read_accesses", "read_duties", "read_recalled"]

Run = Callable[..., sqlite3.Cursor]
"""Run a named statement for one tenant."""
Derived = Retention | Surprise | Watermark | DutyRun | Lead
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
            if not run("lead", owner=row.owner, now_us=row.now_us, until_us=row.until_us).rowcount:
                raise Conflict("another process leads the duties", why="one is enough", fix="leave them to it")
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
