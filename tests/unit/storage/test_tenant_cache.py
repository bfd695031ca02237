"""Where a tenant's rows go on is remembered between commits, and asked again whenever anybody else has written."""

import sqlite3
from pathlib import Path

import pytest

from credenda.errors import CredendaError
from credenda.storage.sqlite.store import SqliteStore
from credenda.storage.store import Job, Tombstone, Writer

from .build import ANA, events, opened, put, raw, said, writer_of

STONE = Tombstone(digest=b"d" * 32, kind="text", normaliser=1, created_us=1)


def asked(store: SqliteStore) -> list[str]:
    """Name the statements that the next commits run on the rows of the tenant."""
    seen: list[str] = []
    writer_of(store).set_trace_callback(lambda sql: seen.append(sql) if "FROM tenants AS t" in sql else None)
    return seen


def sound(store: SqliteStore) -> bool:
    return not store.check(ANA)


def test_who_writes_again_is_not_read_again(tmp_path: Path) -> None:
    with opened(tmp_path / "a.db") as store:
        put(store, said("one"))
        seen = asked(store)
        put(store, said("two"), Job(kind="extract", first=2, last=2))
        put(store, said("three"))
        assert (seen, sound(store)) == ([], True)


def test_another_process_is_noticed(tmp_path: Path) -> None:
    with opened(tmp_path / "a.db") as store, opened(tmp_path / "a.db") as other:
        put(store, said("one"))
        put(other, said("two"))
        seen = asked(store)
        put(store, said("three"))
        put(other, said("four"))
        assert events(store) == ["one", "two", "three", "four"]
        assert (len(seen), sound(store)) == (1, True)


def test_another_tenant_takes_the_place(tmp_path: Path) -> None:
    with opened(tmp_path / "a.db") as store:
        for turn in range(3):
            put(store, said(f"turn {turn}"))
            put(store, said("theirs"), user_id="ben")
        assert events(store) == ["turn 0", "turn 1", "turn 2"]
        assert sound(store)


def test_a_tombstone_is_seen_by_the_next_unit(tmp_path: Path) -> None:
    with opened(tmp_path / "a.db") as store:
        put(store, said("one"))
        assert not store.commit(ANA, lambda writer: writer.tenant.has_tombstones)
        put(store, STONE)
        assert store.commit(ANA, lambda writer: writer.tenant.has_tombstones)


def test_who_is_erased_is_not_remembered(tmp_path: Path) -> None:
    with opened(tmp_path / "a.db") as store:
        put(store, said("one"))
        store.erase(ANA)
        recent = store._recent  # noqa: SLF001 - what is in memory shows nowhere else
        assert recent is not None
        assert recent.of(ANA) is None
        assert recent._held is None  # noqa: SLF001
        assert put(store, said("two"))[0].startswith("e1-")


def test_a_unit_that_fails_leaves_no_gap(tmp_path: Path) -> None:
    def fail(writer: Writer) -> None:
        writer.put(said("never"))
        raise KeyError(ANA)

    with opened(tmp_path / "a.db") as store:
        put(store, said("one"))
        with pytest.raises(KeyError, match=ANA):
            store.commit(ANA, fail)
        store.commit(ANA, lambda writer: writer.tenant.tag)
        assert put(store, said("two"))[0].startswith("e2-")
        assert sound(store)


def test_a_commit_that_fails_leaves_no_gap(tmp_path: Path) -> None:
    with opened(tmp_path / "a.db") as store, raw(tmp_path / "a.db") as stranger:
        put(store, said("one"))
        connection = writer_of(store)
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(CredendaError):
            put(store, said("never " * 50_000))  # more than the free pages of a new file
        connection.execute("PRAGMA max_page_count = 1000000")
        store.commit(ANA, lambda writer: writer.tenant.tag)  # a commit that changes no row
        assert put(store, said("two"))[0].startswith("e2-")
        assert sound(store)
        assert stranger.execute("SELECT count(*) FROM events").fetchone() == (2,)


def test_a_commit_refused_at_its_end_leaves_no_gap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Refusing:
        """The connection, but its next COMMIT fails as on a bad disk."""

        def __init__(self, connection: sqlite3.Connection) -> None:
            self.connection = connection
            self.refuses = True

        def __getattr__(self, name: str) -> object:
            return getattr(self.connection, name)

        def execute(self, sql: str, parameters: object = ()) -> sqlite3.Cursor:
            if sql == "COMMIT" and self.refuses:
                self.refuses = False
                raise sqlite3.OperationalError("disk I/O error")
            return self.connection.execute(sql, parameters)  # type: ignore[arg-type]

    with opened(tmp_path / "a.db") as store:
        put(store, said("one"))
        commits = store._commits  # noqa: SLF001 - the disk is where nobody else reaches
        assert commits is not None
        monkeypatch.setattr(commits, "_connection", Refusing(writer_of(store)))
        with pytest.raises(CredendaError):
            put(store, said("never"))
        store.commit(ANA, lambda writer: writer.tenant.tag)
        assert put(store, said("two"))[0].startswith("e2-")
        assert sound(store)
        assert events(store) == ["one", "two"]
