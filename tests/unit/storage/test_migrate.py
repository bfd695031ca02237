"""Migrations: each whole or not at all, once, in order, and never on a file that is not ours."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from credenda.errors import Conflict, Corrupt, Unavailable
from credenda.storage.sqlite import store
from credenda.storage.sqlite.connection import connect
from credenda.storage.sqlite.store import get_latest_version, load_migrations, read_schema_version

from .build import opened, raw

TENANTS = "CREATE TABLE tenants (user_id TEXT PRIMARY KEY);"


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    made = connect(str(tmp_path / "memory.db"))
    yield made
    made.close()


def names(connection: sqlite3.Connection) -> set[str]:
    return {row[0] for row in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}


def use(monkeypatch: pytest.MonkeyPatch, *scripts: str) -> None:
    """Put other migrations in the place of ours."""
    made = tuple((place, f"step {place}", script) for place, script in enumerate(scripts, 1))
    monkeypatch.setattr("credenda.storage.sqlite.store.load_migrations", lambda: made)


def test_migrations_are_numbered_without_gaps_and_described() -> None:
    versions = [version for version, _, _ in load_migrations()]
    assert versions == list(range(versions[0], get_latest_version() + 1))
    assert all(description for _, description, _ in load_migrations())


@pytest.mark.requirement("R-162")
def test_a_fresh_file_gets_the_latest_schema_and_a_second_run_does_nothing(connection: sqlite3.Connection) -> None:
    assert read_schema_version(connection) == 0
    assert store.migrate(connection, 7) == len(load_migrations())
    assert read_schema_version(connection) == get_latest_version()
    before = [tuple(row) for row in connection.execute("SELECT * FROM sqlite_schema")]
    assert store.migrate(connection, 8) == 0
    assert [tuple(row) for row in connection.execute("SELECT * FROM sqlite_schema")] == before
    applied = {row["applied_at"] for row in connection.execute("SELECT applied_at FROM schema_version")}
    assert applied == {7}


def test_each_migration_runs_in_a_transaction_of_its_own(
    connection: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(monkeypatch, TENANTS, "CREATE TABLE half (x);\nCREATE TABLE half (x);")
    with pytest.raises(sqlite3.OperationalError, match="already exists"):
        store.migrate(connection, 7)
    assert read_schema_version(connection) == 1
    assert names(connection) == {"schema_version", "tenants"}
    assert not connection.in_transaction
    use(monkeypatch, TENANTS, "CREATE TABLE whole (x);")
    assert store.migrate(connection, 8) == 1
    assert names(connection) == {"schema_version", "tenants", "whole"}


def test_only_what_is_missing_runs_and_rows_stay(
    connection: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(monkeypatch, TENANTS)
    store.migrate(connection, 7)
    connection.execute("INSERT INTO tenants VALUES ('ana')")
    use(monkeypatch, TENANTS, "ALTER TABLE tenants ADD COLUMN name TEXT", "CREATE TABLE more (x);")
    assert store.migrate(connection, 8) == 2
    assert [tuple(row) for row in connection.execute("SELECT * FROM tenants")] == [("ana", None)]


def test_a_script_is_cut_where_statements_end() -> None:
    script = """-- A comment; with a semicolon.
CREATE TABLE t (x TEXT DEFAULT ';');
CREATE TRIGGER k BEFORE UPDATE ON t
BEGIN SELECT 1; SELECT RAISE(ABORT, 'no; never'); END;
CREATE TABLE last (x)
"""
    found = store._split_script(script)  # noqa: SLF001 - its cuts cannot be seen from outside
    assert [statement.strip().splitlines()[-1][:12] for statement in found] == [
        "CREATE TABLE",
        "BEGIN SELECT",
        "CREATE TABLE",
    ]


@pytest.mark.parametrize("journal", ["wal", "delete"])
def test_a_file_of_newer_code_is_refused_and_left_as_it_is(tmp_path: Path, journal: str) -> None:
    path = tmp_path / "memory.db"
    with opened(path):
        pass
    with raw(path) as connection:
        connection.execute("INSERT INTO schema_version VALUES (9999, 1, 'from the future')")
        connection.execute(f"PRAGMA journal_mode = {journal}")
    before = path.read_bytes()
    for read_only in (False, True):
        with pytest.raises(Conflict, match="9999"), opened(path, read_only=read_only):
            pass
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "script",
    [
        "CREATE TABLE notes (text); INSERT INTO notes VALUES ('mine');",
        "CREATE TABLE schema_version (version INTEGER); INSERT INTO schema_version VALUES (1);",
        "CREATE TABLE schema_version (id); CREATE TABLE memories (id TEXT PRIMARY KEY);",
    ],
)
def test_a_database_of_something_else_is_refused_and_left_as_it_is(tmp_path: Path, script: str) -> None:
    path = tmp_path / "notes.db"
    with raw(path) as connection:
        connection.executescript(script)
    before = path.read_bytes()
    for read_only in (False, True):
        with pytest.raises(Corrupt, match="not a memory of Credenda"), opened(path, read_only=read_only):
            pass
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["notes.db"]


def test_without_a_write_ahead_log_a_file_is_refused() -> None:
    connection = sqlite3.connect(":memory:")
    try:
        with pytest.raises(Unavailable, match="write-ahead log"):
            store.migrate(connection, 7)
    finally:
        connection.close()
