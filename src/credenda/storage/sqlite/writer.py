"""Insertion of values into SQLite."""

from __future__ import annotations

import sqlite3

from credenda.clock import Clock
from credenda.storage.sql.writer import NextIds, SqlWriter
from credenda.storage.sqlite.reader import SqliteReader
from credenda.storage.sqlite.statements import get_positional_statement, load_statements
from credenda.storage.store import CODE_BITS, TenantRecord

__all__ = ["SqliteWriter"]


class SqliteWriter(SqlWriter, SqliteReader):
    """A `Writer` inside a write transaction."""

    def __init__(self, connection: sqlite3.Connection, tenant: TenantRecord, tips: NextIds, clock: Clock) -> None:
        """Bind a connection in a write transaction to a tenant with these next ids."""
        SqlWriter.__init__(self, tenant, tips, clock)
        self._connection = connection
        self._sql = load_statements()

    def _insert(self, name: str, cells: tuple[object, ...]) -> None:
        self._connection.execute(get_positional_statement(name), cells)

    def put_words(self, name: str, code: int, body: str) -> None:
        """Add the words of a document to the full-text index, or take them out."""
        self._run(name, doc=(self._tenant.number << CODE_BITS) | code, tenant=self._tenant.tag, body=body)
