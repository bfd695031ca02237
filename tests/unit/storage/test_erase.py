"""Erasure knows its tables from the schema, and its proof can fail."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from credenda.storage.sqlite import erase
from credenda.storage.sqlite.erase import Probes, delete_rows, empty_whole_log, hash_tenant_name, list_tenant_tables
from credenda.storage.sqlite.store import SqliteStore, has_unfinished_erasure
from credenda.storage.transfer import ErasedTenant, add_to_ledger, locate_ledger, read_ledger, remove_from_ledger

from .build import ANA, events, opened, put, said, writer_of
from .test_schema import NOT_OF_A_TENANT, columns, tables

SECRET = "The saffron is kept in the third safe."


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@pytest.fixture
def store(path: Path) -> Iterator[SqliteStore]:
    with opened(path) as made:
        yield made


@pytest.mark.requirement("R-204", "D-019")
def test_every_table_is_a_tenants_or_named_as_none(store: SqliteStore) -> None:
    connection = writer_of(store)
    of_tenants = set(list_tenant_tables(connection))
    assert of_tenants | NOT_OF_A_TENANT == tables(connection)
    for table in NOT_OF_A_TENANT:
        assert "user_id" not in columns(connection, table)


@pytest.mark.requirement("R-204", "R-205")
def test_a_row_in_every_table_goes_even_in_one_that_nobody_has_heard_of(store: SqliteStore) -> None:
    put(store, said(SECRET))
    put(store, said("Ben likes jam."), user_id="benjamin")
    connection = writer_of(store)
    connection.execute(
        "CREATE TABLE novelties (user_id TEXT NOT NULL, id INTEGER, text TEXT, PRIMARY KEY (user_id, id))"
    )
    names = list_tenant_tables(connection)
    assert "novelties" in names
    for user_id in (ANA, "benjamin"):
        for table in names:
            _fill(connection, table, user_id)
    erasure = store.erase(ANA)
    assert set(erasure.rows) == set(names) - {"redaction_permits"}
    for table in names:
        left = connection.execute(f"SELECT count(*) FROM {table} WHERE user_id = ?", (ANA,)).fetchone()[0]  # noqa: S608
        kept = connection.execute(f"SELECT count(*) FROM {table} WHERE user_id = 'benjamin'").fetchone()[0]  # noqa: S608
        assert (left, kept >= 1 or table == "redaction_permits") == (0, True), table


def _fill(connection: sqlite3.Connection, table: str, user_id: str) -> None:
    """Give a table a row of a user, unless it has one; every column gets what its type allows."""
    if (
        table == "redaction_permits"
        or connection.execute(
            f"SELECT 1 FROM {table} WHERE user_id = ?",  # noqa: S608 - a name from the schema
            (user_id,),
        ).fetchone()
    ):
        return
    fits = {"role": "user", "type": "fact", "memory_type": "fact", "status": "queued", "state": "open", "bits": 32}
    row: dict[str, object] = {"user_id": user_id}
    for name, column in columns(connection, table).items():
        if name == "user_id" or name in {"lifted_at", "lifted_reason"}:
            continue
        plain: object = {"TEXT": "[]", "BLOB": user_id.encode() * 9, "REAL": 0.5}.get(column["type"], 1)
        row[name] = fits.get(name, plain)
    if table == "memories":
        row["status"] = "active"
    if table == "legal_holds":
        row["lifted_at"] = 1
    if table == "server_secrets":
        row["digest"] = user_id.encode()
    if table == "api_tokens":
        row["id"] = user_id
    marks = ", ".join(f":{name}" for name in row)
    connection.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})", row)  # noqa: S608 - as above


def test_a_window_is_found_wherever_it_stands_and_only_there() -> None:
    windows = [b"saffron in the 3", b"in the third saf", b"saffron!", bytes(range(16))]
    probes = Probes.of([*windows, b"\x00" * 16, b"too short"])
    assert len(probes) == 4
    for window in windows:
        for at in range(9):
            assert len(probes.found_in([b"x" * at + window + b"y" * 30])) == 1
        assert probes.found_in([window[:-1], window[1:], b"-".join(window[at : at + 1] for at in range(16))]) == set()
    again = Probes.from_bytes(probes.to_bytes())
    assert len(again.found_in([b" ".join(windows)])) == len(windows)


@pytest.mark.requirement("D-019")
def test_bytes_that_stayed_behind_are_found(path: Path, store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy of the words in a table that the proof takes for nobody's rows cannot be hidden from it."""
    put(store, said(SECRET))
    put(store, said("Ben likes jam."), user_id="ben")
    monkeypatch.setattr(erase, "vacuum", str)
    connection = writer_of(store)
    connection.execute("PRAGMA secure_delete = OFF")
    connection.execute("CREATE TABLE scratch (id INTEGER PRIMARY KEY, body TEXT)")
    connection.execute("INSERT INTO scratch VALUES (1, ?)", (SECRET * 3,))
    connection.execute("DELETE FROM scratch")
    erasure = store.erase(ANA)
    assert (erasure.held, int(erasure.proof["remaining_matches"]) > 0) == (False, True)
    monkeypatch.undo()
    again = store.erase(ANA)
    assert (again.held, int(again.proof["windows_searched"]) > 0, again.proof["remaining_matches"]) == (True, True, "0")
    assert SECRET.encode()[:20] not in path.read_bytes()
    assert store.erase(ANA).proof["windows_searched"] == "0"


@pytest.mark.requirement("D-019")
def test_a_reader_that_holds_the_log_is_reported_and_the_rest_is_done_later(path: Path, store: SqliteStore) -> None:
    put(store, said(SECRET))
    with closing(sqlite3.connect(path, isolation_level=None)) as reading:
        reading.execute("BEGIN")
        assert reading.execute("SELECT count(*) FROM events").fetchone()[0] == 1
        put(store, said("More of Ana."))
        assert not empty_whole_log(str(path), 0)
        connection, commits = store._writable()  # noqa: SLF001 - without the patience of `erase`
        rows = commits.run(lambda: delete_rows(connection, ANA, 1))
        assert rows["events"] == 2
        first = erase.finish_erasures(str(path), commits, connection, 1, rows=rows, patience_seconds=0)
        assert (first.held, first.proof["log_emptied"]) == (False, "no")
        assert has_unfinished_erasure(connection)
    with opened(path) as later:
        assert not has_unfinished_erasure(writer_of(later))
        assert events(later) == []
    assert locate_ledger(path).is_file()


def test_the_ledger_names_nobody_and_survives_a_torn_line(tmp_path: Path) -> None:
    place = tmp_path / "memory.db"
    entry = ErasedTenant(hash_tenant_name(b"k" * 32, "ana"), "3fa9c2", b"k" * 32, 7)
    add_to_ledger(place, [entry])
    add_to_ledger(place, [entry])
    assert read_ledger(place) == {entry.id: entry}
    assert locate_ledger(place).read_bytes().count(b"\n") == 1
    assert b"ana" not in locate_ledger(place).read_bytes()
    with locate_ledger(place).open("ab") as file:
        file.write(b'{"digest": "to')
    other = ErasedTenant(hash_tenant_name(b"k" * 32, "ben"), "3fa9c3", b"k" * 32, 8)
    assert set(read_ledger(place)) == {entry.id}
    add_to_ledger(place, [other])
    assert read_ledger(place) == {entry.id: entry, other.id: other}
    namesake = ErasedTenant(hash_tenant_name(b"k" * 32, "ben"), "3fa9c2", b"k" * 32, 9)
    add_to_ledger(place, [namesake])
    remove_from_ledger(place, entry.id)
    assert read_ledger(place) == {other.id: other, namesake.id: namesake}
    with locate_ledger(place).open("ab") as file:  # as earlier versions wrote it
        file.write(b'{"lifted": true, "tag": "3fa9c2"}\n')
    assert read_ledger(place) == {other.id: other}
