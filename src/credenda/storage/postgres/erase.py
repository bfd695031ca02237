"""Erasure of a tenant from Postgres: every row in one transaction, then a proof that none is left.

The catalogue lists the tables with tenant rows, so that a new table cannot be forgotten. The proof looks for rows of
the tenant in each of them once more, after the transaction. It says nothing about bytes: those of deleted rows stay in
the files of the server until it needs the room, and in its archived log; see the guide to Postgres.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Generator, Iterable, Mapping
from functools import partial
from typing import Any, ClassVar, Final, NamedTuple

import psycopg

from credenda.errors import Conflict, Corrupt, CredendaError
from credenda.ids import draw_key
from credenda.model.job import Finding
from credenda.storage.postgres.connections import AUDIT_TURN, Session, compute_lock
from credenda.storage.postgres.statements import WordBatch, list_words
from credenda.storage.sql.row_loader import (
    ORDER,
    TABLES,
    Column,
    LoadTarget,
    check_schema,
    filter_rows,
    load_into,
    make_occupied_error,
    make_tag_error,
    to_header,
    write_query,
)
from credenda.storage.sql.statements import Record, StatementRunner
from credenda.storage.sqlite.store import get_latest_version
from credenda.storage.transfer import (
    DamagedRow,
    ErasedTenant,
    ExportHeader,
    ImportRow,
    TableRow,
    TenantTransfer,
    add_to_ledger,
    hash_tenant_name,
    list_damaged_ledgers,
    make_row_error,
    name_owner,
    read_ledger,
    remove_from_ledger,
)
from credenda.text.recalled_block import count_noun

_KEPT_TO_THE_END: Final = ("tenants", "redaction_permits")
_NOT_SHOWN: Final = frozenset({"tenant_tags", "words"})
"""Tables that a receipt leaves out, as SQLite has none of them."""
_TENANT_TABLES: Final = """
SELECT c.relname FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attname = 'user_id'
WHERE c.relnamespace = 'credenda'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition ORDER BY c.relname
"""


def delete_rows(
    session: Session, user_id: str, now_us: int, exported: Mapping[str, int] | None = None
) -> dict[str, int]:
    """Delete every row of a tenant, inside the caller's transaction; return the number of rows per table.

    Raises `Conflict` under a legal hold, and when rows were added after an export. Then nothing has happened.
    """
    row = session.execute(
        "SELECT reason FROM legal_holds WHERE user_id = %s AND lifted_at IS NULL", (user_id,)
    ).fetchone()
    if row is not None:
        raise Conflict(
            "this user is under a legal hold", why=str(row[0]), fix="lift the hold first; nothing was erased"
        )
    session.execute("SELECT pg_advisory_xact_lock(%s)", (compute_lock(AUDIT_TURN),))  # a record may name the user
    # Delete the name of a user from the memories of others, and the tokens for them.
    session.execute("DELETE FROM members WHERE issuer = '' AND subject = %s", (user_id,))
    session.execute(
        "DELETE FROM server_secrets WHERE token_id IN (SELECT id FROM api_tokens WHERE subject = %s)", (user_id,)
    )
    session.execute("DELETE FROM api_tokens WHERE subject = %s", (user_id,))
    tenant = session.execute("SELECT tag FROM tenants WHERE user_id = %s", (user_id,)).fetchone()
    tables = _list_tenant_tables(session)
    counts = {table: _count_rows(session, table, user_id) for table in tables}
    if exported is not None and any(counts[table] != exported.get(table, 0) for table in TABLES):
        raise Conflict(
            "something was written after the export",
            why="erasing now would lose it",
            fix="erase again: the export is written afresh; nothing was erased",
        )
    session.execute("INSERT INTO redaction_permits (user_id, reason) VALUES (%s, 'erase')", (user_id,))
    for table in (*(one for one in tables if one not in _KEPT_TO_THE_END), *_KEPT_TO_THE_END):
        session.execute(f"DELETE FROM {table} WHERE user_id = %s", (user_id,))  # noqa: S608 - names of our schema
    if tenant is None:
        return {}
    for table in tables:
        if _count_rows(session, table, user_id):
            raise Corrupt("the erasure is not complete", why=f"rows are left in {table}", fix="nothing was erased")
    _record_erasure(session, user_id, str(tenant["tag"]), now_us)
    return {table: count for table, count in counts.items() if count and table not in _NOT_SHOWN}


def count_left(session: Session, user_id: str) -> int:
    """Count the rows of a tenant in all tables."""
    return sum(_count_rows(session, table, user_id) for table in _list_tenant_tables(session))


def _list_tenant_tables(session: Session) -> list[str]:
    return [str(row["relname"]) for row in session.execute(_TENANT_TABLES)]


def _count_rows(session: Session, table: str, user_id: str) -> int:
    row = session.execute(f"SELECT count(*) FROM {table} WHERE user_id = %s", (user_id,)).fetchone()  # noqa: S608 - as above
    return 0 if row is None else int(row[0])


def _record_erasure(session: Session, user_id: str, tag: str, now_us: int) -> None:
    """Add the tenant to the ledger."""
    known = session.execute("SELECT ledger_key FROM erasures LIMIT 1").fetchone()
    key = draw_key() if known is None else bytes(known[0])
    session.execute(
        """INSERT INTO erasures (digest, tag, ledger_key, erased_at) VALUES (%s, %s, %s, %s)
        ON CONFLICT (digest, tag) DO UPDATE SET erased_at = excluded.erased_at""",
        (hash_tenant_name(key, user_id), tag, key, now_us),
    )


# The ledger of erasures outside the database: a file, so that a backup of the server cannot take an erasure back.


_log: Final = logging.getLogger(__name__)


class LedgerFile:
    """The file, which need not exist yet."""

    def __init__(self, path: str) -> None:
        """Name it; raises `Invalid` for a name that does not end in `.erasures`."""
        self.path = path
        self._owner = name_owner(path)

    def add(self, entries: Iterable[ErasedTenant]) -> Mapping[str, str]:
        """Add the entries that it lacks, durably; return the path and the reason if that fails."""
        try:
            add_to_ledger(self._owner, entries)
        except CredendaError as error:
            return {self.path: str(error)}
        return {}

    def lift(self, name: str) -> None:
        """Cancel the entry of who was imported again on purpose; where that fails, `find_problems` tells."""
        try:
            remove_from_ledger(self._owner, name)
        except CredendaError as error:
            _log.warning("an imported user is still in the ledger of erasures", extra={"code": error.code})

    def find_problems(self, store: TenantTransfer, *, repair: bool) -> list[Finding]:
        """Report erasures that it lacks, users that it lists and the database has, and damaged lines."""
        if repair:
            owed = self.add(store.erasures())
        else:
            entries = store.erasures()
            known = read_ledger(self._owner, partial=True)
            missing = sum(entry.id not in known for entry in entries)
            owed = {self.path: f"{missing} are missing"} if missing else {}
        found = [
            Finding(
                check="ledgers",
                detail=f"users erased here are not listed there yet: {reason}",
                where=place,
                fix="make it writable, then run `credenda doctor --repair`",
            )
            for place, reason in owed.items()
        ]
        found += [
            Finding(
                check="ledgers",
                detail="a damaged ledger of erasures was set aside; its valid lines were kept",
                where=place,
                fix="compare it with an intact copy if you have one, then delete this file",
            )
            for place in list_damaged_ledgers(self._owner)
        ]
        listed = read_ledger(self._owner, partial=True).values()
        back = sum(entry.matches(store.user_of(entry.tag) or "", entry.tag) for entry in listed)
        if back:
            found.append(
                Finding(
                    check="ledgers",
                    detail=f"{count_noun(back, 'user', 'is')} back that it lists as erased: a backup was restored",
                    where=self.path,
                    fix="run `credenda erase-again`",
                )
            )
        return found


# Export of all rows of one tenant from Postgres, and their import.


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
        columns = list_columns(session, table)
        sql = write_query(table, columns).replace(":user_id", "%(user_id)s")
        read = partial(session.stream, sql, {"user_id": user_id}, _BATCH)
        for sound in filter_rows(table, columns, read, tag=tag, damaged=damaged):
            yield table, sound


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
    return load_into(_Tables(session, run, user_id), origin, placed, get_latest_version())


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
            for one in rows:
                try:
                    self._session.execute(sql, {**one.row, "user_id": self._user_id})
                except self.refused as error:
                    why = f"a row of {self._table} is not valid in a store ({type(error).__name__})"
                    raise make_row_error(one.place, why) from error
            raise
        self._session.execute("RELEASE batch")

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
