"""Export of all rows of one tenant from Postgres, and their import.

An archive has the columns of SQLite, which the tables here have too, and its schema version is that of SQLite.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterable, Iterator
from typing import Any, ClassVar, Final, NamedTuple

import psycopg

from credenda.storage.damage import make_damage_error
from credenda.storage.postgres.connections import Session
from credenda.storage.postgres.statements import WordBatch, list_words
from credenda.storage.sql.row_loader import (
    ORDER,
    TABLES,
    Column,
    LoadTarget,
    check_schema,
    is_sound,
    load_into,
    make_occupied_error,
    make_tag_error,
    name_row,
    to_header,
)
from credenda.storage.sql.statements import Record, StatementRunner
from credenda.storage.sqlite.migrate import get_latest_version
from credenda.storage.tenant_transfer import DamagedRow, ExportHeader, ImportRow, TableRow, make_row_error

_BATCH: Final = 500
_KINDS: Final[dict[str, tuple[type, ...]]] = {
    "bigint": (int,),
    "double precision": (float, int),
    "text": (str,),
    "bytea": (bytes,),
}
_COLUMNS: Final = """
SELECT a.attname AS name, format_type(a.atttypid, a.atttypmod) AS type, a.attnotnull AS required,
    coalesce(array_position(i.indkey::int2[], a.attnum), -1) + 1 AS place
FROM pg_attribute AS a
JOIN pg_index AS i ON i.indrelid = a.attrelid AND i.indisprimary
WHERE a.attrelid = to_regclass(%s) AND a.attnum > 0 AND NOT a.attisdropped AND a.attname <> 'user_id'
ORDER BY a.attnum
"""


def list_columns(session: Session, table: str) -> list[Column]:
    """Return the columns of a table but `user_id`."""
    return [
        Column(row["name"], _KINDS[row["type"]], row["required"], row["place"])
        for row in session.execute(_COLUMNS, (table,))
    ]


def read_origin(session: Session, user_id: str) -> ExportHeader:
    """Read the export header of a tenant; tag and key are empty for a tenant that never wrote."""
    row = session.execute("SELECT tag, hmac_key, created_at FROM tenants WHERE user_id = %s", (user_id,)).fetchone()
    return to_header(("", b"", 0) if row is None else (row[0], row[1], row[2]), user_id, get_latest_version())


def dump_rows(
    session: Session, user_id: str, only: Collection[str] | None = None, damaged: list[DamagedRow] | None = None
) -> Generator[tuple[str, TableRow]]:
    """Yield every row of a tenant by primary key, in export order, without holding a table in memory.

    Damaged rows are added to a list; without one the first of them raises `Corrupt`.
    """
    row = session.execute("SELECT tag FROM tenants WHERE user_id = %s", (user_id,)).fetchone()
    tag = "" if row is None else str(row[0])
    for table in TABLES if only is None else (one for one in ORDER if one in only):
        for found in _read_table(session, (user_id, tag), table, damaged):
            yield table, found


def _read_table(
    session: Session, tenant: tuple[str, str], table: str, damaged: list[DamagedRow] | None
) -> Iterator[TableRow]:
    user_id, tag = tenant
    columns = list_columns(session, table)
    names = ", ".join(column.name for column in columns)
    keys = sorted((column for column in columns if column.key_place), key=lambda column: column.key_place)
    order = ", ".join(column.name for column in keys)
    sql = f"SELECT {names} FROM {table} WHERE user_id = %(user_id)s ORDER BY {order}"  # noqa: S608 - names of our schema
    for found in session.stream(sql, {"user_id": user_id}, _BATCH):
        row = dict(zip(found.keys(), found, strict=True))
        if is_sound(table, row, columns, tag):
            yield row
            continue
        key = name_row(table, row, keys)
        if damaged is None:
            raise make_damage_error(table, key)
        damaged.append(DamagedRow(table, key))


def load_rows(
    session: Session, run: StatementRunner, user_id: str, *, origin: ExportHeader, placed: Iterable[ImportRow]
) -> dict[str, int]:
    """Import rows into an empty tenant, inside the caller's transaction; see `TenantTransfer.load`."""
    check_schema(origin, get_latest_version())
    for table in TABLES:
        sql = f"SELECT 1 FROM {table} WHERE user_id = %s LIMIT 1"  # noqa: S608 - names of our schema
        if session.execute(sql, (user_id,)).fetchone() is not None:
            raise make_occupied_error(table)
    if origin.tag:
        _adopt_tenant(session, run, user_id, origin)
    return load_into(_Tables(session, run, user_id), origin, placed, get_latest_version())


def _adopt_tenant(session: Session, run: StatementRunner, user_id: str, origin: ExportHeader) -> None:
    """Give the tenant the tag and key of the archive."""
    run("drop_tag")
    if not run("claim_tag", tag=origin.tag).rowcount:
        raise make_tag_error(origin.tag)
    given = {"tag": origin.tag, "hmac_key": origin.key, "created_at": origin.created_us}
    run("drop_all_words")
    session.execute("DELETE FROM index_blobs WHERE user_id = %s", (user_id,))
    moved = session.execute(
        "UPDATE tenants SET tag = %(tag)s, hmac_key = %(hmac_key)s, created_at = %(created_at)s, listed = 0"
        " WHERE user_id = %(user_id)s",
        {**given, "user_id": user_id},
    )
    if not moved.rowcount:
        run("insert_tenant", **given)
    run("renew_generation")  # others may have indexes under this tag


class _Waiting(NamedTuple):
    """A row that waits for the others of its batch."""

    place: int
    row: dict[str, Any]


class _Tables(LoadTarget):
    """The tables of one tenant; rows are inserted in batches."""

    refused: ClassVar = (psycopg.IntegrityError, psycopg.DataError)

    def __init__(self, session: Session, run: StatementRunner, user_id: str) -> None:
        self._session = session
        self._run = run
        self._user_id = user_id
        self._table = ""
        self._rows: list[_Waiting] = []
        self._words = WordBatch(run)

    def list_columns(self, table: str) -> list[Column]:
        return list_columns(self._session, table)

    def insert(self, place: int, table: str, row: TableRow) -> None:
        if self._rows and (table != self._table or row.keys() != self._rows[0].row.keys() or len(self._rows) >= _BATCH):
            self._flush()
        self._table = table
        self._rows.append(_Waiting(place, dict(row)))

    def _flush(self) -> None:
        rows, self._rows = self._rows, []
        names = [*rows[0].row]
        marks = ", ".join(f"%({name})s" for name in names)
        sql = f"INSERT INTO {self._table} (user_id, {', '.join(names)}) VALUES (%(user_id)s, {marks})"  # noqa: S608 - our own names
        given = [{**one.row, "user_id": self._user_id} for one in rows]
        self._session.execute("SAVEPOINT batch")
        try:
            self._session.execute_many(sql, given)
        except self.refused:
            self._session.execute("ROLLBACK TO batch")
            self._find_refused(sql, rows)
            raise
        self._session.execute("RELEASE batch")

    def _find_refused(self, sql: str, rows: list[_Waiting]) -> None:
        """Insert the rows of a batch one by one, and raise `Corrupt` with the place of the one that is refused."""
        for one in rows:
            try:
                self._session.execute(sql, {**one.row, "user_id": self._user_id})
            except self.refused as error:
                why = f"a row of {self._table} is not valid in a store ({type(error).__name__})"
                raise make_row_error(one.place, why) from error

    def find_event(self, number: int) -> Record | None:
        if self._rows:
            self._flush()
        return self._run("event_of_passage", event=number).fetchone()

    def put_words(self, code: int, body: str) -> None:
        self._words.add(code, list_words(body))

    def finish(self) -> None:
        if self._rows:
            self._flush()
        self._words.flush()
        self._run("mark_listed")
