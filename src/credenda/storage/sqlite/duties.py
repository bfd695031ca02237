"""What duties read: how memories were used, and how the duties themselves went."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

from credenda.ids import Kind, public_id
from credenda.model.core import Recalled
from credenda.model.report import DutyRun
from credenda.storage.store import Access

__all__ = ["read_accesses", "read_duties", "read_recalled"]

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
