"""Export of all rows of one tenant from SQLite, and their import.

The schema itself lists the columns, so that no list here can become outdated; only the tables are named.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Generator, Iterable, Iterator
from typing import ClassVar, Final

from credenda.clock import Clock
from credenda.storage.sql.row_loader import (
    NOT_MOVED,
    ORDER,
    TABLES,
    Column,
    LoadTarget,
    check_schema,
    load_into,
    make_occupied_error,
    make_tag_error,
    to_header,
)
from credenda.storage.sql.statements import Record
from credenda.storage.sql.writer import NextIds
from credenda.storage.sqlite.connection import prepare_connection
from credenda.storage.sqlite.migrate import create_schema, get_latest_version
from credenda.storage.sqlite.reader import SqliteWriter, list_columns, load_statements, read_sound_rows, read_tenant
from credenda.storage.store import CODE_BITS
from credenda.storage.tenant_transfer import DamagedRow, ExportHeader, ImportRow, TableRow

__all__ = [
    "NOT_MOVED",
    "SCRATCH_TABLES",
    "TABLES",
    "dump_rows",
    "load_rows",
    "open_scratch",
    "read_origin",
]


def read_origin(connection: sqlite3.Connection, user_id: str) -> ExportHeader:
    """Read the export header of a tenant; tag and key are empty for a tenant that never wrote."""
    row = connection.execute("SELECT tag, hmac_key, created_at FROM tenants WHERE user_id = ?", (user_id,)).fetchone()
    return to_header(row or ("", b"", 0), user_id, get_latest_version())


def dump_rows(
    connection: sqlite3.Connection,
    user_id: str,
    only: Collection[str] | None = None,
    damaged: list[DamagedRow] | None = None,
) -> Generator[tuple[str, TableRow]]:
    """Yield every row of a tenant in export order; see `read_sound_rows` for damaged ones."""
    tables = TABLES if only is None else [one for one in ORDER if one in only]
    row = connection.execute("SELECT tag FROM tenants WHERE user_id = ?", (user_id,)).fetchone()
    return read_sound_rows(connection, (user_id, row[0] if row else ""), tables, damaged)


def load_rows(
    connection: sqlite3.Connection, user_id: str, origin: ExportHeader, placed: Iterable[ImportRow]
) -> dict[str, int]:
    """Import rows into an empty tenant, inside the caller's transaction; see `Portable.load`."""
    check_schema(origin, get_latest_version())
    _check_empty(connection, user_id)
    target = _Tables(connection, user_id, _adopt_tenant(connection, user_id, origin), origin.tag)
    return load_into(target, origin, placed, get_latest_version())


def _check_empty(connection: sqlite3.Connection, user_id: str) -> None:
    for table in TABLES:
        sql = f"SELECT 1 FROM {table} WHERE user_id = ? LIMIT 1"  # noqa: S608 - names of our schema
        if connection.execute(sql, (user_id,)).fetchone() is not None:
            raise make_occupied_error(table)


def _adopt_tenant(connection: sqlite3.Connection, user_id: str, origin: ExportHeader) -> int:
    """Give the tenant the tag and key of the archive; return its number in this database, 0 without a tag."""
    if not origin.tag:
        return 0
    holder = connection.execute("SELECT user_id FROM tenants WHERE tag = ?", (origin.tag,)).fetchone()
    if holder is not None and holder[0] != user_id:
        raise make_tag_error(origin.tag)
    columns = {
        "user_id": user_id,
        "tag": origin.tag,
        "hmac_key": origin.key,
        "created_at": origin.created_us,
        "number": connection.execute(load_statements()["next_tenant_number"]).fetchone()[0],
    }
    connection.execute("DELETE FROM index_blobs WHERE user_id = ?", (user_id,))
    moved = connection.execute(
        "UPDATE tenants SET tag = :tag, hmac_key = :hmac_key, created_at = :created_at WHERE user_id = :user_id",
        columns,
    )
    if not moved.rowcount:
        connection.execute(load_statements()["insert_tenant"], columns)
    connection.execute(load_statements()["renew_generation"], columns)  # others may have indexes under this tag
    return int(connection.execute("SELECT number FROM tenants WHERE user_id = ?", (user_id,)).fetchone()[0])


class _Tables(LoadTarget):
    """The tables of one tenant of a file."""

    refused: ClassVar = (sqlite3.IntegrityError,)

    def __init__(self, connection: sqlite3.Connection, user_id: str, number: int, tag: str) -> None:
        self._connection = connection
        self._user_id = user_id
        self._number = number
        self._tag = tag
        self._insert_words = load_statements()["insert_words"]

    def list_columns(self, table: str) -> list[Column]:
        return list_columns(self._connection, table)

    def insert(self, place: int, table: str, row: TableRow) -> None:  # noqa: ARG002 - a refused row raises at once
        names = ", ".join(row)  # the same statement for each row of an archive
        marks = ", ".join(f":{name}" for name in row)
        sql = f"INSERT INTO {table} (user_id, {names}) VALUES (:user_id, {marks})"  # noqa: S608 - our own names
        self._connection.execute(sql, {**row, "user_id": self._user_id})

    def find_event(self, number: int) -> Record | None:
        given = {"user_id": self._user_id, "event": number}
        return self._connection.execute(load_statements()["event_of_passage"], given).fetchone()

    def put_words(self, code: int, body: str) -> None:
        doc = (self._number << CODE_BITS) | code
        self._connection.execute(self._insert_words, {"doc": doc, "tenant": self._tag, "body": body})

    def finish(self) -> None:
        self._connection.execute(load_statements()["mark_listed"], {"user_id": self._user_id})


# An in-memory copy of a tenant's journal, for trial reconciliations that are discarded.


SCRATCH_TABLES: Final = ("events", "passages", "tombstones")
"""The journal and the tombstones; no memories."""


def open_scratch(
    origin: ExportHeader, rows: Iterator[tuple[str, TableRow]], clock: Clock, key: bytes = b""
) -> tuple[sqlite3.Connection, SqliteWriter]:
    """Copy the journal and the tombstones of a tenant into an in-memory database; nothing of it reaches a disk."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    try:
        prepare_connection(connection, key=key)
        create_schema(connection)
        placed = (ImportRow(0, table, row) for table, row in rows if table in SCRATCH_TABLES)
        load_rows(connection, origin.user_id, origin, placed)
        tenant = read_tenant(connection, origin.user_id)
        assert tenant is not None, "a tenant with events has a row of its own"  # noqa: S101 - told to the type checker
        return connection, SqliteWriter(connection, tenant, NextIds(), clock)
    except BaseException:
        connection.close()
        raise
