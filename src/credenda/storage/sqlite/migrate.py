"""Schema versions: each migration in its own transaction, together with its record."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from typing import Final

from credenda.errors import Conflict, Corrupt, Unavailable
from credenda.storage.sqlite.group import begin_immediate, retry_while_locked

_RECORD: Final = """CREATE TABLE IF NOT EXISTS schema_version (
    version INTEGER PRIMARY KEY, applied_at INTEGER NOT NULL, description TEXT NOT NULL
)"""


@cache
def load_migrations() -> tuple[tuple[int, str, str], ...]:
    """Return (version, description, SQL) of every migration, in order."""
    folder = files("credenda.storage.sqlite") / "migrations"
    found: list[tuple[int, str, str]] = []
    for source in folder.iterdir():
        stem, _, ending = source.name.rpartition(".")
        if ending == "sql":
            number, _, description = stem.partition("_")
            found.append((int(number), description.replace("_", " "), source.read_text("utf-8")))
    return tuple(sorted(found))


def get_latest_version() -> int:
    """Return the schema version that this code writes."""
    return load_migrations()[-1][0]


def read_schema_version(connection: sqlite3.Connection) -> int:
    """Return the schema version of a file: 0 for an empty one.

    Raises `Corrupt` for a database of another program.
    """
    tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    if {"schema_version", "tenants"} <= tables:
        row = connection.execute("SELECT max(version) FROM schema_version").fetchone()
        return int(row[0] or 0)
    if tables:
        raise Corrupt(
            "this is not a memory of Credenda",
            why="the SQLite file has the tables of another program",
            fix="give another path",
        )
    return 0


def check_version(version: int) -> None:
    """Raise `Conflict` for a file with a newer schema, or with one of the development before the first release."""
    first = load_migrations()[0][0]
    if 0 < version < first:
        raise Conflict(
            f"this file has schema version {version}",
            why=f"a Credenda from before the first release wrote it; this one reads {first} and later",
            fix="with that Credenda run `credenda export FILE`, here `credenda import FILE`; nothing was changed",
        )
    if version > get_latest_version():
        raise Conflict(
            f"this file has schema version {version}",
            why=f"it was written by a newer Credenda; this one knows {get_latest_version()}",
            fix="install a newer version of Credenda; nothing was changed",
        )


def _split_script(script: str) -> list[str]:
    """Split a script into statements where SQLite sees them complete; triggers and comments stay whole."""
    found: list[str] = []
    pending = ""
    for line in script.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            found.append(pending)
            pending = ""
    return [*found, pending] if pending.strip() else found


def migrate(connection: sqlite3.Connection, now_us: int, *, keep: Callable[[int], object] | None = None) -> int:
    """Migrate a file to the latest version and return the number of migrations that ran.

    `keep` gets the version of an older file before the first of them, under the write lock; a file that another
    process is upgrading is left to that one's.
    Safe beside other processes that do the same: each step checks the version once more under the write lock. A refused
    file (`Conflict`, `Corrupt`) stays unchanged.
    """
    older = read_schema_version(connection)
    check_version(older)
    # Enable the write-ahead log; the setting is stored in the file.
    mode: str = retry_while_locked(connection, "PRAGMA journal_mode = WAL").fetchone()[0]
    if mode.casefold() != "wal":
        raise Unavailable(
            "the write-ahead log cannot be used here",
            why="the file system does not support shared memory, as network folders often do not",
            fix="put the file on a local disk",
        )
    ran = 0
    for version, description, script in load_migrations():
        if read_schema_version(connection) >= version:
            continue
        begin_immediate(connection)
        try:
            found = read_schema_version(connection)
            if found < version:
                if (
                    keep is not None
                    and 0 < found == older
                    and (connection.execute("SELECT 1 FROM tenants LIMIT 1").fetchone() is not None)
                ):
                    keep(older)
                connection.execute(_RECORD)
                for statement in _split_script(script):
                    connection.execute(statement)
                connection.execute("INSERT INTO schema_version VALUES (?, ?, ?)", (version, now_us, description))
                ran += 1
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:  # SQLite rolls back by itself on a full disk
                connection.execute("ROLLBACK")
            raise
    return ran


def create_schema(connection: sqlite3.Connection) -> None:
    """Create the whole schema in an empty in-memory database."""
    for _, _, script in load_migrations():
        for statement in _split_script(script):
            connection.execute(statement)
