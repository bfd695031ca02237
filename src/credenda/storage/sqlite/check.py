"""Verification of a SQLite file: its soundness, and the agreement of derived rows with their sources."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import ClassVar, Final

from credenda.clock import Clock
from credenda.errors import IMPOSSIBLE
from credenda.storage.sql import row_loader
from credenda.storage.sql.row_loader import (
    CHECKS,
    ORDER,
    RESTORE,
    TABLES,
    Column,
    LoadTarget,
    NameRows,
    check_journal_chain,
    check_rows,
    check_schema,
    complete_check,
    filter_rows,
    load_into,
    make_occupied_error,
    make_tag_error,
    run_check,
    to_header,
    write_query,
)
from credenda.storage.sql.statements import Record
from credenda.storage.sql.writer import NextIds
from credenda.storage.sqlite.connection import is_busy, prepare_connection
from credenda.storage.sqlite.store import (
    SqliteWriter,
    bind_user,
    create_schema,
    get_latest_version,
    load_statements,
    read_tenant,
)
from credenda.storage.store import CODE_BITS, Finding, TenantRecord
from credenda.storage.transfer import DamagedRow, ExportHeader, ImportRow, TableRow

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


# Export of all rows of one tenant from SQLite, and their import.


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
    for table in TABLES:
        sql = f"SELECT 1 FROM {table} WHERE user_id = ? LIMIT 1"  # noqa: S608 - names of our schema
        if connection.execute(sql, (user_id,)).fetchone() is not None:
            raise make_occupied_error(table)
    target = _Tables(connection, user_id, _adopt_tenant(connection, user_id, origin), origin.tag)
    return load_into(target, origin, placed, get_latest_version())


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


_REBUILD_WORDS: Final = "INSERT INTO search_index (search_index) VALUES ('rebuild')"
_DROP_IMAGES: Final = "DELETE FROM index_blobs WHERE name <> 'core'"
_DAMAGED: Final = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_ERROR})
"""Codes of a damaged index, and of a damaged row whose words cannot be computed."""


def _bind_checks(connection: sqlite3.Connection, tenant: TenantRecord) -> NameRows:
    run = bind_user(connection, tenant.user_id)
    return lambda name: (str(row[0]) for row in run(f"check_{name}"))


def check_store(connection: sqlite3.Connection, tenant: TenantRecord | None) -> list[Finding]:
    """Return all findings; an empty list means that all checks passed."""
    complete = partial(
        complete_check,
        place="the file",
        damage=(sqlite3.DatabaseError, *IMPOSSIBLE),
        passes=lambda error: isinstance(error, sqlite3.Error) and is_busy(error),
    )
    findings = complete("file", _check_integrity(connection))
    if tenant is not None:
        findings += complete("rows", check_rows(partial(dump_rows, connection, tenant.user_id)))
        run = bind_user(connection, tenant.user_id)
        findings += complete("journal_chain", check_journal_chain(run, tenant))
        name_rows = _bind_checks(connection, tenant)
        for name in CHECKS:
            findings += complete(name, run_check(name, name_rows))
    return findings


def repair_rows(connection: sqlite3.Connection, tenant: TenantRecord, findings: Iterable[Finding]) -> list[Finding]:
    """Delete the derived rows that findings name, inside the caller's transaction; return the findings after that.

    A finding that the repair cannot fix is found once more and stays unrepaired.
    """
    run = bind_user(connection, tenant.user_id)
    return row_loader.repair_rows(lambda name: run(name, at_us=0), _bind_checks(connection, tenant), findings)


def check_text_index(connection: sqlite3.Connection, *, repair: bool) -> list[Finding]:
    """Compare the full-text index with the words of the rows, and rebuild it on request; needs a write transaction."""
    if _has_run(connection, "INSERT INTO search_index (search_index, rank) VALUES ('integrity-check', 1)"):
        return []
    finding = Finding(
        check="full_text",
        detail="the full-text index differs from the rows it is derived from",
        where="the words of all users of the file",
        fix="run `credenda doctor --repair`, which rebuilds it",
    )
    if repair and _has_run(connection, _REBUILD_WORDS):
        connection.execute(_DROP_IMAGES)
        finding = replace(finding, repaired=True)
    return [finding]


def _has_run(connection: sqlite3.Connection, statement: str) -> bool:
    """Run a statement on the full-text index; return False if the index or a row is damaged."""
    try:
        connection.execute(statement)
    except sqlite3.DatabaseError as error:
        if error.sqlite_errorcode & 0xFF in _DAMAGED:
            return False
        raise
    return True


def rebuild_text_index(connection: sqlite3.Connection) -> None:
    """Rebuild the full-text index from its source rows, and drop every snapshot."""
    connection.execute(_REBUILD_WORDS)
    connection.execute(_DROP_IMAGES)


def _check_integrity(connection: sqlite3.Connection) -> Iterator[Finding]:
    for row in connection.execute("PRAGMA integrity_check(10)"):
        if row[0] != "ok":
            yield Finding(check="file", detail=str(row[0]), where="the file", fix=RESTORE)
