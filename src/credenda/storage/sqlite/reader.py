"""The rows of one tenant in SQLite, and the documents that FTS5 finds by their words."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from typing import Any

from credenda.clock import seconds
from credenda.storage.sql.duties import ViewStart
from credenda.storage.sql.reader import SqlReader, to_tenant
from credenda.storage.sql.run import StatementRunner
from credenda.storage.sqlite.statements import load_statements
from credenda.storage.store import CODE_BITS, TenantRecord, pack_code

__all__ = ["SqliteReader", "bind_user", "read_tenant"]


def bind_user(connection: sqlite3.Connection, user_id: str) -> StatementRunner:
    """Return a runner of named statements for one tenant."""
    statements = load_statements()

    def run(name: str, /, **parameters: object) -> sqlite3.Cursor:
        return connection.execute(statements[name], {**parameters, "user_id": user_id})

    return run


def read_tenant(connection: sqlite3.Connection, user_id: str) -> TenantRecord | None:
    """Read a tenant's row; None for a tenant that never wrote."""
    row = connection.execute(load_statements()["tenant"], {"user_id": user_id}).fetchone()
    return None if row is None else to_tenant(row)


class SqliteReader(SqlReader):
    """A `Reader` over one connection that is inside a transaction."""

    def __init__(self, connection: sqlite3.Connection, tenant: TenantRecord) -> None:
        """Bind a connection to a tenant."""
        super().__init__(tenant)
        self._connection = connection
        self._sql = load_statements()

    @classmethod
    def of_view(cls, connection: sqlite3.Connection, user_id: str) -> SqliteReader:
        """Read a tenant and the first rows of every search, inside a read transaction."""
        before = seconds()
        row = connection.execute(load_statements()["view"], {"user_id": user_id}).fetchone()
        nobody = TenantRecord(user_id=user_id, number=0, tag="", key=b"")
        view = cls(connection, nobody if row is None else to_tenant(row))
        view._start = ViewStart.of(row, (before, seconds()))
        return view

    def _run(self, name: str, /, **parameters: object) -> sqlite3.Cursor:
        parameters["user_id"] = self._tenant.user_id
        return self._connection.execute(self._sql[name], parameters)

    def _fetch_tuples(self, found: sqlite3.Cursor) -> tuple[list[str], list[tuple[Any, ...]]]:  # type: ignore[override]  # pyright: ignore[reportIncompatibleMethodOverride] - the cursors are those of `_run`
        found.row_factory = None
        return [column[0] for column in found.description], found.fetchall()

    def _list_codes(self, asked: Mapping[str, str], limit: int, *, memories: bool) -> list[list[int]]:
        low = self._tenant.number << CODE_BITS
        bounds = {"low": low + pack_code(0, memory=memories), "high": low + (1 << CODE_BITS), "limit": limit}
        found = self._run("matching_words", matches=json.dumps([*asked]), **bounds)
        return [[doc - low for doc in json.loads(row["docs"])] for row in found]
