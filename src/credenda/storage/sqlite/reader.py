"""The rows of one tenant in SQLite, and the documents that FTS5 finds by their words."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Generator, Iterable, Mapping
from functools import cache, partial
from typing import Any, Final

from credenda.clock import Clock, seconds
from credenda.storage.sql.duties import ViewStart
from credenda.storage.sql.reader import SqlReader, to_tenant
from credenda.storage.sql.row_loader import Column, filter_rows, write_query
from credenda.storage.sql.statements import Dialect, StatementRunner, load_dialect
from credenda.storage.sql.writer import NextIds, SqlWriter
from credenda.storage.store import CODE_BITS, TenantRecord, pack_code
from credenda.storage.transfer import DamagedRow, TableRow

# The named SQL statements of SQLite, in whose dialect the common ones are written.


DIALECT: Final = Dialect("credenda.storage.sqlite", str)
_PARAMETER: Final = re.compile(r":\w+")


@cache
def load_statements() -> dict[str, str]:
    """Load the named SQL of this backend: name → statement."""
    return load_dialect(DIALECT)


@cache
def get_positional_statement(name: str) -> str:
    """Return a statement with positional parameters, in the order in which their names occur in it.

    Binding twenty parameters by name takes longer than inserting the row (measured: 9.6 against 7.7 µs), so the
    statements of every acknowledgement bind by position.
    """
    return _PARAMETER.sub("?", load_statements()[name])


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


# Insertion of values into SQLite.


class SqliteWriter(SqlWriter, SqliteReader):
    """A `Writer` inside a write transaction."""

    def __init__(self, connection: sqlite3.Connection, tenant: TenantRecord, tips: NextIds, clock: Clock) -> None:
        SqlWriter.__init__(self, tenant, tips, clock)
        self._connection = connection
        self._sql = load_statements()

    def _insert(self, name: str, cells: tuple[object, ...]) -> None:
        self._connection.execute(get_positional_statement(name), cells)

    def put_words(self, name: str, code: int, body: str) -> None:
        """Add the words of a document to the full-text index, or take them out."""
        self._run(name, doc=(self._tenant.number << CODE_BITS) | code, tenant=self._tenant.tag, body=body)


# Reading the rows of a tenant one by one, with those set apart that a damaged file has made unreadable.


_KINDS: Final[Mapping[str, tuple[type, ...]]] = {
    "INTEGER": (int,),
    "REAL": (float, int),
    "TEXT": (str,),
    "BLOB": (bytes,),
}


def list_columns(connection: sqlite3.Connection, table: str) -> list[Column]:
    """Return the columns of a table but `user_id`."""
    found = connection.execute('SELECT name, type, "notnull", pk FROM pragma_table_info(?)', (table,))
    return [
        Column(row["name"], _KINDS[row["type"]], bool(row["notnull"]), row["pk"])
        for row in found
        if row["name"] != "user_id"
    ]


def read_sound_rows(
    connection: sqlite3.Connection, tenant: tuple[str, str], tables: Iterable[str], damaged: list[DamagedRow] | None
) -> Generator[tuple[str, TableRow]]:
    """Yield the rows of a tenant (name and tag) by primary key; SQLite reads along the key and sorts nothing in memory.

    Damaged rows are added to a list; without one the first of them raises `Corrupt`.
    """
    user_id, tag = tenant
    connection.text_factory = _decode_text
    try:
        for table in tables:
            columns = list_columns(connection, table)
            read = partial(connection.execute, write_query(table, columns), {"user_id": user_id})
            for row in filter_rows(table, columns, read, tag=tag, damaged=damaged, broken=(sqlite3.DatabaseError,)):
                yield table, row
    finally:
        connection.text_factory = str


def _decode_text(raw: bytes) -> str | bytes:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw  # no text, which the column then shows
