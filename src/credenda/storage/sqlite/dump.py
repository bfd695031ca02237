"""Export of all rows of one tenant from SQLite, and their import.

The schema itself lists the columns, so that no list here can become outdated; only the tables are named.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Generator, Iterable
from typing import Any, Final

from credenda.errors import Conflict, Corrupt
from credenda.storage.damage import guard_row
from credenda.storage.records import count_vector_bytes
from credenda.storage.row_mapper import compile_type_check
from credenda.storage.sql.match_words import compose_event_words, compose_memory_words
from credenda.storage.sqlite.damaged_rows import DECODERS, is_of_kind, list_columns, read_sound_rows
from credenda.storage.sqlite.migrate import get_latest_version
from credenda.storage.sqlite.statements import load_statements
from credenda.storage.store import CODE_BITS, pack_code
from credenda.storage.tenant_transfer import (
    ARCHIVED,
    MIGRATED,
    Cell,
    DamagedRow,
    ExportHeader,
    ImportRow,
    TableRow,
    make_row_error,
)

__all__ = ["NOT_MOVED", "TABLES", "dump_rows", "load_rows", "read_origin"]

TABLES: Final = ARCHIVED
NOT_MOVED: Final = frozenset(
    {
        "tenants",
        "index_blobs",
        "redaction_permits",
        "duties",
        "api_tokens",
        "audit_subjects",
        "audit_names",
        "members",
        "server_secrets",
        *MIGRATED,
    }
)
"""Not exported: the tenant's row (in the header), snapshots, a flag, task runs, the pseudonyms, tasks of other agents,
which name ids of this database, and who has access or wrote through it.
"""

_DROPPED: Final = frozenset({"entities", "relations", "tool_call_records", "a2a_tasks"})
"""Tables that archives of older schemas may name. No statement ever wrote them, so an import skips their rows."""
_DROPPED_IN: Final = 10
"""The schema version without these tables."""
_ORDER: Final = (*TABLES, *MIGRATED)
_ABSENT: Final = dict.fromkeys(("checksum", "payload", "outcome"))
"""Columns that rows of older archives lack."""
_check_header: Final = compile_type_check(ExportHeader)
_OWNERS: Final = range(1, 1 << 31)
"""The bound of event and memory numbers: a larger number would name a document of another tenant."""
_OFFSETS: Final = range(1 << 63)
_ORDINALS: Final = range(1 << 12)


def read_origin(connection: sqlite3.Connection, user_id: str) -> ExportHeader:
    """Read the export header of a tenant; tag and key are empty for a tenant that never wrote."""
    row = connection.execute("SELECT tag, hmac_key, created_at FROM tenants WHERE user_id = ?", (user_id,)).fetchone()
    return _to_header(row or ("", b"", 0), user_id)


@guard_row("tenants")
def _to_header(row: tuple[str, bytes, int], user_id: str) -> ExportHeader:
    tag, key, created_us = row
    return _check_header(
        ExportHeader(user_id=user_id, tag=tag, key=key, created_us=created_us, schema=get_latest_version())
    )


def dump_rows(
    connection: sqlite3.Connection,
    user_id: str,
    only: Collection[str] | None = None,
    damaged: list[DamagedRow] | None = None,
) -> Generator[tuple[str, TableRow]]:
    """Yield every row of a tenant in export order; see `read_sound_rows` for damaged ones."""
    tables = TABLES if only is None else [one for one in _ORDER if one in only]
    row = connection.execute("SELECT tag FROM tenants WHERE user_id = ?", (user_id,)).fetchone()
    return read_sound_rows(connection, (user_id, row[0] if row else ""), tables, damaged)


def load_rows(
    connection: sqlite3.Connection, user_id: str, origin: ExportHeader, placed: Iterable[ImportRow]
) -> dict[str, int]:
    """Import rows into an empty tenant, inside the caller's transaction; see `Portable.load`."""
    _check_schema(origin)
    _check_empty(connection, user_id)
    loading = _RowLoader(connection, user_id, _adopt_tenant(connection, user_id, origin), origin)
    for place, table, row in placed:
        loading.take(place, table, row)
    connection.execute(load_statements()["mark_listed"], {"user_id": user_id})
    return loading.counts


def _check_schema(origin: ExportHeader) -> None:
    if origin.schema > get_latest_version():
        raise Conflict(
            f"this archive has schema version {origin.schema}",
            why=f"it was written by a newer Credenda; this one knows {get_latest_version()}",
            fix="upgrade with `pip install -U credenda`; nothing was imported",
        )


def _check_empty(connection: sqlite3.Connection, user_id: str) -> None:
    for table in TABLES:
        sql = f"SELECT 1 FROM {table} WHERE user_id = ? LIMIT 1"  # noqa: S608 - names of our schema
        if connection.execute(sql, (user_id,)).fetchone() is not None:
            raise Conflict(
                "this user has memories already",
                why=f"an archive is a whole memory and is never merged with another; there are {table}",
                fix="import it under another user or into a new file, or erase this user first",
            )


def _adopt_tenant(connection: sqlite3.Connection, user_id: str, origin: ExportHeader) -> int:
    """Give the tenant the tag and key of the archive; return its number in this database, 0 without a tag."""
    if not origin.tag:
        return 0
    holder = connection.execute("SELECT user_id FROM tenants WHERE tag = ?", (origin.tag,)).fetchone()
    if holder is not None and holder[0] != user_id:
        raise Conflict(
            "another user of this database has the ids of this archive",
            why=f"ids that end in -{origin.tag} must name one thing only; the archive was perhaps taken from here",
            fix="import it into another file, or erase that user first",
        )
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


class _TargetTable:
    """Inserts the rows of one table."""

    def __init__(self, connection: sqlite3.Connection, table: str) -> None:
        self.columns = list_columns(connection, table)
        self.names = frozenset(column.name for column in self.columns)
        self.reader = DECODERS.get(table)
        self._table = table

    def insert(self, row: TableRow) -> str:
        """Build the statement for the columns of a row; it is the same for each row of an archive."""
        names = ", ".join(row)
        marks = ", ".join(f":{name}" for name in row)
        return f"INSERT INTO {self._table} (user_id, {names}) VALUES (:user_id, {marks})"  # noqa: S608 - our own names


class _RowLoader:
    """The import of rows into one tenant."""

    def __init__(self, connection: sqlite3.Connection, user_id: str, number: int, origin: ExportHeader) -> None:
        self.counts: dict[str, int] = {}
        self._connection = connection
        self._user_id = user_id
        self._number = number
        self._tag = origin.tag
        self._complete = origin.schema == get_latest_version()
        self._skipped = _DROPPED if origin.schema < _DROPPED_IN else frozenset[str]()
        self._tables = {table: _TargetTable(connection, table) for table in _ORDER}
        self._insert_words = load_statements()["insert_words"]
        self._reached = 0

    def take(self, place: int, table: str, row: TableRow) -> None:
        """Check and insert one row, and index its words; skip a row of a dropped table."""
        if table in self._skipped:
            return
        target = self._tables.get(table)
        if target is None:
            raise make_row_error(place, f"there is no table {table[:64]!r}")
        self._check_order(place, table)
        self._check_cells(place, target, row)
        try:
            if target.reader is not None:
                target.reader({**_ABSENT, **row}, self._tag)
            self._connection.execute(target.insert(row), {**row, "user_id": self._user_id})
            self._index(table, row)
        except (Corrupt, sqlite3.IntegrityError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise make_row_error(place, f"a row of {table} is not valid in a store ({type(error).__name__})") from error
        self.counts[table] = self.counts.get(table, 0) + 1

    def _check_order(self, place: int, table: str) -> None:
        rank = _ORDER.index(table)
        if rank < self._reached:
            raise make_row_error(place, f"{table} must come before {_ORDER[self._reached]}")
        if not self._number:
            raise make_row_error(place, "an archive of a user who never wrote holds rows")
        self._reached = rank

    def _check_cells(self, place: int, target: _TargetTable, row: TableRow) -> None:
        given = frozenset(row)
        if not (given == target.names if self._complete else given <= target.names):
            odd = sorted(given ^ target.names)
            raise make_row_error(place, f"its columns are not those of the table: {', '.join(odd)[:200]}")
        for column in target.columns:
            cell = row.get(column.name)
            if cell is None and column.required and column.name in row:
                raise make_row_error(place, f"{column.name} is missing")
            if cell is not None and not is_of_kind(cell, column.kinds):
                raise make_row_error(place, f"{column.name} cannot be a {type(cell).__name__}")

    def _index(self, table: str, row: TableRow) -> None:
        """Index the words of a document as the writer does: an event or its passages, and a memory's first version."""
        if table == "events":
            number = _is_within(row["id"], _OWNERS)
            if row["passages"] == 1 and row["text"]:
                self._words(pack_code(number, memory=False), _compose_event_body(row, str(row["text"])))
        elif table == "passages":
            self._passage(row)
        elif table == "memories":
            number = _is_within(row["id"], _OWNERS)
            if row["version"] == 1 and row["text"]:
                body = compose_memory_words(*(row[name] for name in ("text", "entity", "attribute", "value")))  # type: ignore[arg-type]
                self._words(pack_code(number, memory=True), body)
        elif table == "embeddings":
            _is_within(row["code"], range(1 << CODE_BITS))
            _check_vector(row)
        elif table == "contests":
            _check_names(row)

    def _passage(self, row: TableRow) -> None:
        number, ordinal = _is_within(row["event"], _OWNERS), _is_within(row["ordinal"], _ORDINALS)
        event = self._connection.execute(
            load_statements()["event_of_passage"], {"user_id": self._user_id, "event": number}
        ).fetchone()
        if event is None or ordinal >= event["passages"]:
            raise ValueError("a passage of no event")
        start, stop = _is_within(row["start"], _OFFSETS), _is_within(row["stop"], _OFFSETS)
        if not 0 <= start <= stop or (event["text"] and stop > len(event["text"])):
            raise ValueError("a passage beyond its event")
        if event["text"]:
            code = pack_code(number, ordinal, memory=False)
            self._words(code, _compose_event_body(event, event["text"][start:stop]))

    def _words(self, code: int, body: str) -> None:
        doc = (self._number << CODE_BITS) | code
        self._connection.execute(self._insert_words, {"doc": doc, "tenant": self._tag, "body": body})


def _is_within(cell: Cell, bounds: range) -> int:
    if not isinstance(cell, int) or cell not in bounds:
        raise ValueError("a number out of its range")
    return cell


def _check_vector(row: TableRow) -> None:
    dims, bits, data = row["dims"], row["bits"], row["data"]
    if not (isinstance(dims, int) and isinstance(bits, int) and isinstance(data, bytes)) or dims < 1:
        raise ValueError("no vector")
    if len(data) != count_vector_bytes(dims, bits):
        raise ValueError("a vector of another length")


def _check_names(row: TableRow) -> None:
    for name in ("vals", "memories"):
        listed: object = json.loads(str(row[name]))
        if not isinstance(listed, list) or not all(isinstance(item, str) for item in listed):  # pyright: ignore[reportUnknownVariableType]
            raise ValueError("not a list of words")


def _compose_event_body(row: Any, text: str) -> str:  # noqa: ANN401 - a row of the driver, or one about to become one
    return compose_event_words(row["role"], row["speaker"], row["occurred_at"], text)
