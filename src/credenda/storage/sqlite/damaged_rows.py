"""Reading the rows of a tenant one by one, with those set apart that a damaged file has made unreadable."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator, Iterable, Iterator, Mapping
from typing import Final

from credenda.storage.damage import make_damage_error
from credenda.storage.sql.table_rows import Column, is_sound, name_row
from credenda.storage.tenant_transfer import DamagedRow, TableRow

__all__ = ["list_columns", "read_sound_rows"]

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
    connection.text_factory = _decode_text
    try:
        for table in tables:
            for row in _read_table(connection, tenant, table, damaged):
                yield table, row
    finally:
        connection.text_factory = str


def _decode_text(raw: bytes) -> str | bytes:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw  # no text, which the column then shows


def _read_table(
    connection: sqlite3.Connection, tenant: tuple[str, str], table: str, damaged: list[DamagedRow] | None
) -> Iterator[TableRow]:
    user_id, tag = tenant
    columns = list_columns(connection, table)
    names = ", ".join(column.name for column in columns)
    keys = sorted((column for column in columns if column.key_place), key=lambda column: column.key_place)
    order = ", ".join(column.name for column in keys)
    sql = f"SELECT {names} FROM {table} WHERE user_id = ? ORDER BY {order}"  # noqa: S608 - names of our schema
    key = "its first row"
    try:
        for found in connection.execute(sql, (user_id,)):
            row = dict(found)
            key = name_row(table, row, keys)
            if is_sound(table, row, columns, tag):
                yield row
            elif damaged is None:
                raise make_damage_error(table, key)
            else:
                damaged.append(DamagedRow(table, key))
    except sqlite3.DatabaseError:
        if damaged is None:
            raise
        damaged.append(DamagedRow(table, f"all rows after {key}"))
