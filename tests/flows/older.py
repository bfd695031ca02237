"""Older files: today's rows under an older schema, and a made-up next version beside which today's files are older."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

import pytest

from credenda.storage.sqlite import store
from credenda.storage.sqlite.connection import connect

OLD: Final = store.get_latest_version()
NEXT: Final = OLD + 1
MIGRATION: Final = (NEXT, "notes", "CREATE TABLE notes (user_id TEXT NOT NULL PRIMARY KEY, text TEXT) WITHOUT ROWID;")


@contextmanager
def upgraded() -> Generator[None]:
    """Let the code of this process be that of the next version."""
    known = (*store.load_migrations(), MIGRATION)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store, "load_migrations", lambda: known)
        yield


def as_of_version(path: Path, version: int) -> None:
    """Rewrite a closed file under the schema of a version."""
    older = path.with_suffix(".older")
    known = tuple(one for one in store.load_migrations() if one[0] <= version)
    with pytest.MonkeyPatch.context() as then, closing(connect(str(older))) as database:
        then.setattr(store, "load_migrations", lambda: known)
        store.migrate(database, 1)
        database.execute("DELETE FROM identity")
        database.execute("ATTACH ? AS newer", (str(path),))
        for table in sorted(_tables(database, "main") & _tables(database, "newer")):
            columns = ", ".join(f'"{name}"' for name in _columns(database, table))
            database.execute(f"INSERT INTO main.{table} ({columns}) SELECT {columns} FROM newer.{table}")  # noqa: S608 - names of our own schema
        database.execute("INSERT INTO search_index (search_index) VALUES ('rebuild')")
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    for ending in ("", "-wal", "-shm"):
        Path(f"{path}{ending}").unlink(missing_ok=True)
    older.rename(path)


def _tables(database: sqlite3.Connection, schema: str) -> set[str]:
    found = database.execute(
        f"SELECT name FROM {schema}.sqlite_schema WHERE type = 'table' AND name NOT LIKE 'search_index%'"  # noqa: S608 - one of our two names
        " AND name NOT LIKE 'sqlite_%' AND name <> 'schema_version'"
    )
    return {row[0] for row in found.fetchall()}


def _columns(database: sqlite3.Connection, table: str) -> list[str]:
    found = database.execute("SELECT name FROM pragma_table_info(?)", (table,)).fetchall()
    return [row[0] for row in found]
