"""A cache of the tenant that wrote last and of its next ids, valid while no other connection has written."""

from __future__ import annotations

import sqlite3
from typing import NamedTuple

from credenda.storage.sql.writer import NextIds
from credenda.storage.sqlite.group import GroupCommit
from credenda.storage.store import TenantRecord

__all__ = ["TenantCache"]


class _WriteStamp(NamedTuple):
    """Changes with every write to the file: by others, by this connection, and when a commit is rolled back."""

    others: int
    rows: int
    undone: int


class TenantCache:
    """Caches one tenant between the units of a write connection; use it inside a write transaction only.

    The cache is as current as the rows: SQLite counts the commits of other connections (`data_version`) and every row
    that this one has written (`total_changes`, which a rollback does not reset).
    """

    def __init__(self, connection: sqlite3.Connection, commits: GroupCommit) -> None:
        """Create an empty cache."""
        self._connection = connection
        self._commits = commits
        self._held: tuple[_WriteStamp, TenantRecord, NextIds] | None = None
        self._others: int | None = None

    def of(self, user_id: str) -> tuple[TenantRecord, NextIds] | None:
        """Return the tenant and its next ids; None if they must be read."""
        self._others = None
        held = self._held
        if held is None or held[1].user_id != user_id or held[0] != self._stamp():
            return None
        return held[1], held[2]

    def note(self, tenant: TenantRecord, tips: NextIds) -> None:
        """Cache a tenant for which this transaction has inserted only events and jobs."""
        self._held = (self._stamp(), tenant, tips)

    def forget(self) -> None:
        """Clear the tenant and the key, as an erasure must."""
        self._held = None

    def _stamp(self) -> _WriteStamp:
        """Read the counters; others cannot commit during this transaction, so `data_version` is read once."""
        others = self._others
        if others is None:
            self._others = others = int(self._connection.execute("PRAGMA data_version").fetchone()[0])
        return _WriteStamp(others, self._connection.total_changes, self._commits.undone)
