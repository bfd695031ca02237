"""Schema versions: each migration in its own transaction, together with its record."""

from __future__ import annotations

import sqlite3
from functools import cache
from importlib.resources import files
from typing import Final

from credenda.errors import Conflict, Corrupt, Unavailable
from credenda.storage.sqlite.group import begin_immediate, insist

__all__ = ["check_version", "latest_version", "migrate", "migrations", "schema_version"]

_RECORD: Final = """CREATE TABLE IF NOT EXISTS schema_version (
    version INTEGER PRIMARY KEY, applied_at INTEGER NOT NULL, description TEXT NOT NULL
)"""


@cache
def migrations() -> tuple[tuple[int, str, str], ...]:
    """Return (version, description, SQL) of every migration, in order."""
    folder = files("credenda.storage.sqlite") / "migrations"
    found: list[tuple[int, str, str]] = []
    for source in folder.iterdir():
        stem, _, ending = source.name.rpartition(".")
        if ending == "sql":
            number, _, description = stem.partition("_")
            found.append((int(number), description.replace("_", " "), source.read_text("utf-8")))
    return tuple(sorted(found))


def latest_version() -> int:
    """Return the schema version that this code writes."""
    return migrations()[-1][0]


def schema_version(connection: sqlite3.Connection) -> int:
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
    """Raise `Conflict` for a file with a newer schema."""
    if version > latest_version():
        raise Conflict(
            f"this file has schema version {version}",
            why=f"it was written by a newer Credenda; this one knows {latest_version()}",
            fix="upgrade with `pip install -U credenda`; nothing was changed",
        )


def _statements_of(script: str) -> list[str]:
    """Split a script into statements where SQLite sees them complete; triggers and comments stay whole."""
    found: list[str] = []
    pending = ""
    for line in script.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            found.append(pending)
            pending = ""
    return [*found, pending] if pending.strip() else found


def migrate(connection: sqlite3.Connection, now_us: int) -> int:
    """Migrate a file to the latest version and return the number of migrations that ran.

    Safe beside other processes that do the same: each step checks the version once more under the write lock. A refused
    file (`Conflict`, `Corrupt`) stays unchanged.
    """
    check_version(schema_version(connection))
    _log_ahead(connection)
    ran = 0
    for version, description, script in migrations():
        if schema_version(connection) >= version:
            continue
        begin_immediate(connection)
        try:
            if schema_version(connection) < version:
                connection.execute(_RECORD)
                for statement in _statements_of(script):
                    connection.execute(statement)
                connection.execute("INSERT INTO schema_version VALUES (?, ?, ?)", (version, now_us, description))
                ran += 1
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:  # SQLite rolls back by itself on a full disk
                connection.execute("ROLLBACK")
            raise
    return ran


def build(connection: sqlite3.Connection) -> None:
    """Create the whole schema in an empty in-memory database."""
    for _, _, script in migrations():
        for statement in _statements_of(script):
            connection.execute(statement)


def _log_ahead(connection: sqlite3.Connection) -> None:
    """Enable the write-ahead log; the setting is stored in the file."""
    mode: str = insist(connection, "PRAGMA journal_mode = WAL").fetchone()[0]
    if mode.casefold() != "wal":
        raise Unavailable(
            "the write-ahead log cannot be used here",
            why="the file system does not support shared memory, as network folders often do not",
            fix="put the file on a local disk",
        )
