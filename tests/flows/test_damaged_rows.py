"""Damaged rows: each is named, found by `doctor`, healed if it is derived, and left out of an export on request."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple

import pytest

from credenda import Corrupt, Credenda, Invalid
from credenda.bootstrap import restore_backup
from credenda.testing import ManualClock
from tests.waiting import PATIENCE_SECONDS

Use = Callable[[Credenda], object]


@contextmanager
def raw(path: Path) -> Generator[sqlite3.Connection]:
    """Open the database for damage that no check of the schema prevents."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        connection.execute("INSERT INTO redaction_permits SELECT user_id, 'damage' FROM tenants")
        yield connection
        connection.execute("DELETE FROM redaction_permits")
        connection.commit()


@pytest.fixture
def reopen(path: Path, clock: ManualClock) -> Callable[[], Credenda]:
    return lambda: Credenda.open(path, user="ana", clock=clock, workers=False, embedder="hashed")


@pytest.fixture
def filled(path: Path, clock: ManualClock, reopen: Callable[[], Credenda]) -> Path:
    """A closed file with rows of each kind; the first message is about Linz, and one memory is deleted."""
    with reopen() as mem:
        for day, text in enumerate(("I live in Linz.", "I live in Graz.") * 4):
            mem.remember(text, session=f"day {day}")
            mem.settle()
            clock.advance(timedelta(days=1))
        mem.remember("My doctor is called Huber.")
        mem.settle()
        mem.delete(next(one.id for one in mem.list(limit=50).items if one.value == "Huber"))
    with closing(sqlite3.connect(path)) as connection:
        for table in ("changes", "contests", "embeddings", "evidence", "tombstones"):
            assert connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0], table  # noqa: S608 - our names
    return path


def ask_why(mem: Credenda) -> object:
    return [mem.why(one.id) for one in mem.list(limit=50, status=None).items]


def rebuild_index(mem: Credenda) -> object:
    parts = mem._parts  # noqa: SLF001 - the index is to be built from the rows
    parts.store.renew_indexes("ana")
    parts.indexes.drop("ana", store=parts.store_name)
    return mem.search("Where do I live?")


class Damage(NamedTuple):
    """A statement that damages a row, the table and row that the error names, and a call that decodes the row."""

    statement: str
    table: str
    row: str
    use: Use


def list_contests(mem: Credenda) -> object:
    return mem.manage.contests()


def settle(mem: Credenda) -> object:
    mem.settle(timeout=PATIENCE_SECONDS)
    return mem.stats()


DAMAGE = [
    Damage("UPDATE memories SET stance = 'asserued' WHERE id = 1", "memories", "m1", ask_why),
    Damage("UPDATE changes SET delta = '[' WHERE id = 1", "changes", "c1", ask_why),
    Damage("UPDATE changes SET kind = 'axd', checksum = NULL WHERE id = 1", "changes", "c1", ask_why),
    Damage("UPDATE contests SET vals = '7' WHERE id = 1", "contests", "k1", list_contests),
    Damage("UPDATE embeddings SET data = substr(data, 2) WHERE code = 1 << 12", "embeddings", "e1", rebuild_index),
]
TYPED = [
    Damage("UPDATE events SET role = 'usfr' WHERE id = 1", "events", "e1", ask_why),
    Damage("UPDATE events SET speaker = x'ff' WHERE id = 1", "events", "e1", rebuild_index),
    Damage("UPDATE memories SET recorded_at = 5e-300 WHERE id = 1", "memories", "m1", ask_why),
    Damage("UPDATE memories SET text = CAST(text AS BLOB) WHERE id = 1", "memories", "m1", ask_why),
    Damage("UPDATE evidence SET stop = 0.5 WHERE memory = 1", "evidence", "the evidence of m1", ask_why),
    Damage(
        "UPDATE operations SET first = 0.5, status = 'queued', run_after = 0 WHERE id = 1", "operations", "j1", settle
    ),
    Damage("UPDATE tenants SET hmac_key = 7", "tenants", "a row", ask_why),
]
"""What a column of SQLite takes and one of Postgres refuses: values of any type, and a role that a check forbids."""


@pytest.mark.requirement("D-011")
@pytest.mark.parametrize(
    "damage",
    [
        *(pytest.param(one, id=f"{at} {one.table}") for at, one in enumerate(DAMAGE)),
        *(pytest.param(one, id=f"{at} {one.table}", marks=pytest.mark.sqlite_file) for at, one in enumerate(TYPED, 20)),
    ],
)
def test_a_row_that_cannot_be_decoded_is_named(filled: Path, reopen: Callable[[], Credenda], damage: Damage) -> None:
    with raw(filled) as connection:
        assert connection.execute(damage.statement).rowcount
    with reopen() as mem:
        with pytest.raises(Corrupt) as raised:
            damage.use(mem)
        assert (raised.value.ids["table"], raised.value.ids["row"]) == (damage.table, damage.row)
        assert "doctor" in raised.value.fix
        assert any(finding.where and finding.fix for finding in mem.data.doctor().findings)


@pytest.mark.requirement("D-011")
def test_a_change_with_another_letter_is_found_and_nothing_is_rebuilt_from_it(
    filled: Path, reopen: Callable[[], Credenda]
) -> None:
    with raw(filled) as connection:
        connection.execute("UPDATE changes SET delta = replace(delta, 'Linz', 'Linx') WHERE id = 1")
    with reopen() as mem:
        with pytest.raises(Corrupt, match="c1 in the table changes"):
            mem.history(id=mem.list(limit=50, status=None).items[-1].id)
        assert ("change_rows", "changes: c1") in {(one.check, one.where) for one in mem.data.doctor().findings}
        with pytest.raises(Corrupt, match="damaged log"):
            mem.data.rebuild()


def test_an_altered_vector_is_found_and_made_again(filled: Path, reopen: Callable[[], Credenda]) -> None:
    with raw(filled) as connection:
        before = connection.execute("SELECT count(*) FROM embeddings").fetchone()[0]
        altered = (
            "UPDATE embeddings SET data = x'01' || substr(data, 2) WHERE code = (SELECT max(code) FROM embeddings)"
        )
        assert connection.execute(altered).rowcount == 1
    with reopen() as mem:
        (found,) = [one for one in mem.data.doctor().findings if one.check == "vector_checksums"]
        assert (found.where[0], found.repaired) == ("m", False)
        assert mem.data.doctor(repair=True).ok
        assert mem.data.doctor().findings == ()
    with raw(filled) as connection:
        assert connection.execute("SELECT count(*) FROM embeddings").fetchone()[0] == before


def test_an_altered_tombstone_is_found(filled: Path, reopen: Callable[[], Credenda]) -> None:
    with raw(filled) as connection:
        connection.execute("UPDATE tombstones SET digest = x'00' || substr(digest, 2)")
    with reopen() as mem:
        assert {one.check for one in mem.data.doctor().findings} == {"tombstone_checksums"}


def test_rows_of_older_versions_have_no_checksum_and_stay_readable(
    filled: Path, reopen: Callable[[], Credenda]
) -> None:
    with raw(filled) as connection:
        for table in ("changes", "embeddings", "tombstones"):
            assert connection.execute(f"UPDATE {table} SET checksum = NULL").rowcount  # noqa: S608 - our names
    with reopen() as mem:
        assert mem.data.doctor().findings == ()
        assert ask_why(mem)
        assert mem.search("Where do I live?").hits


@pytest.mark.requirement("D-011")
def test_an_export_leaves_out_damaged_rows_only_on_request_and_names_them(
    filled: Path, reopen: Callable[[], Credenda], tmp_path: Path
) -> None:
    with raw(filled) as connection:
        connection.execute("UPDATE memories SET status = 'actjve' WHERE id = 1 AND version = 1")
        connection.execute("UPDATE changes SET delta = '[' WHERE id = 2")
    target = tmp_path / "saved.jsonl"
    with reopen() as mem:
        with pytest.raises(Corrupt, match="m1 version 1 in the table memories"):
            mem.data.export(target)
        assert not target.exists()
        with pytest.raises(Invalid, match="cannot be left out"):
            mem.data.export(target, "mcp-memory", skip_damaged=True)
        report = mem.data.export(target, skip_damaged=True)
        assert report.damaged == ("memories: m1 version 1", "changes: c2")
        events = mem.stats().events
    with Credenda.open(tmp_path / "other.db", user="ana", workers=False, embedder="hashed") as copy:
        copy.data.import_(target)
        assert copy.stats().events == events
        assert not copy.data.doctor().ok  # the gap stays visible


@pytest.mark.sqlite_file  # a page of the file is damaged
def test_a_table_that_cannot_be_read_to_its_end_is_left_out_from_there(
    filled: Path, reopen: Callable[[], Credenda], tmp_path: Path
) -> None:
    with closing(sqlite3.connect(filled)) as connection:
        page = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'contests'").fetchone()[0]
        size = connection.execute("PRAGMA page_size").fetchone()[0]
    content = bytearray(filled.read_bytes())
    content[(page - 1) * size] = 0  # no kind of page
    filled.write_bytes(content)
    with reopen() as mem:
        report = mem.data.export(tmp_path / "saved.jsonl", skip_damaged=True)
    assert report.damaged == ("contests: all rows after its first row",)
    assert report.rows["events"] == 9


@pytest.mark.sqlite_file  # a backup is a copy of the file
@pytest.mark.usefixtures("filled")
def test_a_restored_backup_still_shows_that_a_vector_is_damaged(reopen: Callable[[], Credenda], tmp_path: Path) -> None:
    with reopen() as mem:
        mem.data.backup(tmp_path / "backup.db")
    with raw(tmp_path / "backup.db") as connection:
        connection.execute("UPDATE embeddings SET scale = 2.0 WHERE code = (SELECT max(code) FROM embeddings)")
    restore_backup(tmp_path / "backup.db", tmp_path / "restored.db")
    with Credenda.open(tmp_path / "restored.db", user="ana", workers=False, embedder="hashed") as mem:
        assert "vector_checksums" in {one.check for one in mem.data.doctor().findings}
