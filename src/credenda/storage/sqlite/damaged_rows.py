"""Reading the rows of a tenant one by one, with those set apart that a damaged file has made unreadable."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from credenda.errors import Corrupt
from credenda.ids import IdKind
from credenda.storage import rows
from credenda.storage.damage import make_damage_error, name_document
from credenda.storage.evidence_rows import to_evidence
from credenda.storage.tenant_transfer import Cell, DamagedRow, TableRow

__all__ = ["DECODERS", "Column", "is_of_kind", "list_columns", "read_sound_rows"]

_INTEGERS: Final = range(-(1 << 63), 1 << 63)
_KINDS: Final[Mapping[str, tuple[type, ...]]] = {
    "INTEGER": (int,),
    "REAL": (float, int),
    "TEXT": (str,),
    "BLOB": (bytes,),
}
DECODERS: Final[Mapping[str, Callable[[Any, str], object]]] = {
    "events": rows.to_event,
    "memories": rows.to_memory,
    "evidence": to_evidence,
    "changes": rows.to_change,
    "contests": rows.to_contest,
    "operations": rows.to_job,
    "embeddings": lambda row, _: rows.to_vector(row),
}
_LETTERS: Final = {
    "events": IdKind.EVENT,
    "memories": IdKind.MEMORY,
    "changes": IdKind.CHANGE,
    "contests": IdKind.CONTEST,
    "operations": IdKind.JOB,
}


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table of our schema."""

    name: str
    kinds: tuple[type, ...]
    required: bool
    key_place: int


def list_columns(connection: sqlite3.Connection, table: str) -> list[Column]:
    """Return the columns of a table but `user_id`."""
    found = connection.execute('SELECT name, type, "notnull", pk FROM pragma_table_info(?)', (table,))
    return [
        Column(row["name"], _KINDS[row["type"]], bool(row["notnull"]), row["pk"])
        for row in found
        if row["name"] != "user_id"
    ]


def is_of_kind(cell: Cell, kinds: tuple[type, ...]) -> bool:
    """Return whether a cell that is not None can be in a column of these kinds."""
    if isinstance(cell, bool) or not isinstance(cell, kinds):
        return False
    return not isinstance(cell, int) or cell in _INTEGERS


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
            key = _name_row(table, row, keys)
            if _is_sound(table, row, columns, tag):
                yield row
            elif damaged is None:
                raise make_damage_error(table, key)
            else:
                damaged.append(DamagedRow(table, key))
    except sqlite3.DatabaseError:
        if damaged is None:
            raise
        damaged.append(DamagedRow(table, f"all rows after {key}"))


def _is_sound(table: str, row: TableRow, columns: Iterable[Column], tag: str) -> bool:
    for column in columns:
        cell = row[column.name]
        if column.required if cell is None else not is_of_kind(cell, column.kinds):
            return False
    decode = DECODERS.get(table)
    try:
        if decode is not None:
            decode(row, tag)
    except Corrupt:
        return False
    return True


def _name_row(table: str, row: TableRow, keys: Iterable[Column]) -> str:
    """Return the id of a row without a word of its text."""
    if table in _LETTERS:
        version = f" version {row['version']}" if table == "memories" else ""
        return f"{_LETTERS[table].value}{row['id']}{version}"
    if table == "embeddings":
        return name_document(row["code"])  # type: ignore[arg-type]
    named = {column.name: row[column.name] for column in keys}
    return ", ".join(f"{name} {cell}" for name, cell in named.items() if isinstance(cell, int)) or "a row"
