"""Who wrote last, and where that tenant's rows go on: not asked again while nobody else has written."""

from __future__ import annotations

import sqlite3
from typing import NamedTuple

from credenda.storage.sqlite.group import GroupCommit
from credenda.storage.sqlite.writer import NextIds
from credenda.storage.store import TenantRecord

__all__ = ["TenantCache"]


class _WriteStamp(NamedTuple):
    """Moves with whatever is written to the file: by others, by this connection, and when a commit is undone."""

    others: int
    rows: int
    undone: int


class TenantCache:
    """Remembers one tenant between the units of a write connection; ask and tell it inside a write transaction only.

    What it holds is as good as a read of the rows: SQLite counts the commits of other connections (`data_version`) and
    every row that this one has written (`total_changes`, which an undone transaction does not take back).
    """

    def __init__(self, connection: sqlite3.Connection, commits: GroupCommit) -> None:
        """Begin with nobody."""
        self._connection = connection
        self._commits = commits
        self._held: tuple[_WriteStamp, TenantRecord, NextIds] | None = None
        self._others: int | None = None

    def of(self, user_id: str) -> tuple[TenantRecord, NextIds] | None:
        """Return the tenant and where its rows go on; None where they must be read."""
        self._others = None
        held = self._held
        if held is None or held[1].user_id != user_id or held[0] != self._stamp():
            return None
        return held[1], held[2]

    def note(self, tenant: TenantRecord, tips: NextIds) -> None:
        """Remember a tenant of whom this transaction has filed events and jobs, and nothing else."""
        self._held = (self._stamp(), tenant, tips)

    def forget(self) -> None:
        """Let go of the tenant and the key, as erasure must."""
        self._held = None

    def _stamp(self) -> _WriteStamp:
        """Look where things stand; others cannot commit while this transaction lasts, so they are asked about once."""
        others = self._others
        if others is None:
            self._others = others = int(self._connection.execute("PRAGMA data_version").fetchone()[0])
        return _WriteStamp(others, self._connection.total_changes, self._commits.undone)
