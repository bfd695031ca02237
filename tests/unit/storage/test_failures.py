"""SQLite's errors, each in our words: what happened, why, and what to do."""

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from credenda.errors import Conflict, Corrupt, CredendaError, Unavailable
from credenda.storage.sqlite.connection import is_busy, to_credenda_error, translate_errors

from .build import failure


def test_a_text_that_is_none_is_damage() -> None:
    with (
        pytest.raises(Corrupt, match=r"memory\.db is not a sound database: a text in it is not UTF-8"),
        translate_errors("memory.db"),
    ):
        b"\xff".decode()


FAMILIES: list[tuple[int, type[CredendaError], str]] = [
    (sqlite3.SQLITE_BUSY, Unavailable, "is busy"),
    (sqlite3.SQLITE_BUSY_SNAPSHOT, Unavailable, "is busy"),
    (sqlite3.SQLITE_BUSY_RECOVERY, Unavailable, "is busy"),
    (sqlite3.SQLITE_LOCKED, Unavailable, "is busy"),
    (sqlite3.SQLITE_FULL, Unavailable, "disk is full"),
    (sqlite3.SQLITE_READONLY, Unavailable, "cannot be written or opened"),
    (sqlite3.SQLITE_READONLY_DIRECTORY, Unavailable, "cannot be written or opened"),
    (sqlite3.SQLITE_READONLY_DBMOVED, Unavailable, "replaced or removed while it was open"),
    (sqlite3.SQLITE_CANTOPEN, Unavailable, "cannot be written or opened"),
    (sqlite3.SQLITE_CANTOPEN_ISDIR, Unavailable, "cannot be written or opened"),
    (sqlite3.SQLITE_PERM, Unavailable, "cannot be written or opened"),
    (sqlite3.SQLITE_AUTH, Unavailable, "cannot be written or opened"),
    (sqlite3.SQLITE_CORRUPT, Corrupt, "not a sound database"),
    (sqlite3.SQLITE_CORRUPT_VTAB, Corrupt, "not a sound database"),
    (sqlite3.SQLITE_NOTADB, Corrupt, "not a sound database"),
    (sqlite3.SQLITE_IOERR, Unavailable, "the disk reported an error"),
    (sqlite3.SQLITE_IOERR_FSYNC, Unavailable, "the disk reported an error"),
    (sqlite3.SQLITE_IOERR_WRITE, Unavailable, "the disk reported an error"),
    (sqlite3.SQLITE_IOERR_SHORT_READ, Unavailable, "the disk reported an error"),
    (sqlite3.SQLITE_IOERR_LOCK, Unavailable, "cannot be locked"),
    (sqlite3.SQLITE_IOERR_UNLOCK, Unavailable, "cannot be locked"),
    (sqlite3.SQLITE_IOERR_RDLOCK, Unavailable, "cannot be locked"),
    (sqlite3.SQLITE_IOERR_SHMLOCK, Unavailable, "cannot be locked"),
    (sqlite3.SQLITE_IOERR_SHMMAP, Unavailable, "cannot be locked"),
    (sqlite3.SQLITE_PROTOCOL, Unavailable, "cannot be locked"),
    (sqlite3.SQLITE_NOLFS, Unavailable, "cannot be locked"),
    (sqlite3.SQLITE_CONSTRAINT_UNIQUE, Conflict, "refused a row"),
    (sqlite3.SQLITE_CONSTRAINT_CHECK, Conflict, "refused a row"),
    (sqlite3.SQLITE_CONSTRAINT_TRIGGER, Conflict, "refused a row"),
    (sqlite3.SQLITE_ERROR, Corrupt, "refused a statement"),
    (sqlite3.SQLITE_MISMATCH, Corrupt, "refused a statement"),
]


@pytest.mark.parametrize(("code", "error", "words"), FAMILIES)
def test_every_family_has_one_clear_error(code: int, error: type[CredendaError], words: str) -> None:
    told = to_credenda_error(failure(code), "/data/memory.db")
    assert type(told) is error
    assert words in str(told)
    assert str(told).startswith("/data/memory.db ")
    assert told.why
    assert told.fix
    assert "the driver's own words" not in str(told)


def test_the_name_of_an_unusual_code_is_told() -> None:
    assert "SQLITE_IOERR_FSYNC" in str(
        to_credenda_error(failure(sqlite3.SQLITE_IOERR_FSYNC, "SQLITE_IOERR_FSYNC"), "x")
    )
    assert "SQLITE_MISMATCH" in str(to_credenda_error(failure(sqlite3.SQLITE_MISMATCH, "SQLITE_MISMATCH"), "x"))


def test_a_path_with_braces_is_told_as_it_is() -> None:
    assert str(to_credenda_error(failure(sqlite3.SQLITE_FULL), "/a{name}{0}.db")).startswith("/a{name}{0}.db ")


def test_an_error_of_the_driver_itself_has_no_code() -> None:
    told = to_credenda_error(sqlite3.ProgrammingError("closed"), "x")
    assert isinstance(told, Corrupt)
    assert "ProgrammingError" in str(told)
    assert not is_busy(sqlite3.ProgrammingError("closed"))


@pytest.mark.parametrize(
    ("code", "busy"),
    [
        (sqlite3.SQLITE_BUSY, True),
        (sqlite3.SQLITE_BUSY_SNAPSHOT, True),
        (sqlite3.SQLITE_LOCKED, True),
        (sqlite3.SQLITE_PROTOCOL, False),
        (sqlite3.SQLITE_READONLY, False),
    ],
)
def test_only_a_held_lock_counts_as_busy(code: int, *, busy: bool) -> None:
    assert is_busy(failure(code)) is busy


def locked(path: Path) -> None:
    holder, other = (sqlite3.connect(path, isolation_level=None, timeout=0) for _ in range(2))
    try:
        holder.execute("BEGIN EXCLUSIVE")
        other.execute("BEGIN IMMEDIATE")
    finally:
        holder.close()
        other.close()


def run(path: Path, *statements: str, mode: str = "rwc") -> None:
    connection = sqlite3.connect(f"{path.as_uri()}?mode={mode}", uri=True, isolation_level=None)
    try:
        for statement in statements:
            connection.execute(statement)
    finally:
        connection.close()


def full(path: Path) -> None:
    run(path, "CREATE TABLE t (x)", "PRAGMA max_page_count = 2", "INSERT INTO t VALUES (zeroblob(90000))")


def read_only(path: Path) -> None:
    run(path, "CREATE TABLE t (x)")
    run(path, "INSERT INTO t VALUES (1)", mode="ro")


def garbage(path: Path) -> None:
    path.write_bytes(b"not a database " * 1_000)
    run(path, "SELECT * FROM sqlite_schema")


def twice(path: Path) -> None:
    run(path, "CREATE TABLE t (x UNIQUE)", "INSERT INTO t VALUES (1)", "INSERT INTO t VALUES (1)")


PROVOKED: dict[str, tuple[Callable[[Path], None], type[CredendaError], str]] = {
    "locked": (locked, Unavailable, "busy"),
    "full": (full, Unavailable, "full"),
    "read only": (read_only, Unavailable, "read-only"),
    "missing": (lambda path: run(path / "no" / "such", mode="ro"), Unavailable, "missing"),
    "garbage": (garbage, Corrupt, "not a sound database"),
    "twice": (twice, Conflict, "refused a row"),
    "syntax": (lambda path: run(path, "SELEKT 1"), Corrupt, "refused a statement"),
}


@pytest.mark.parametrize("case", list(PROVOKED))
def test_real_failures_are_raised_as_ours_with_their_cause(tmp_path: Path, case: str) -> None:
    provoke, error, word = PROVOKED[case]
    with pytest.raises(error, match=word) as raised, translate_errors("memory.db"):
        provoke(tmp_path / "x.db")
    assert isinstance(raised.value.__cause__, sqlite3.Error)


def test_what_is_not_of_sqlite_passes_through() -> None:
    with pytest.raises(KeyError), translate_errors("memory.db"):
        raise KeyError
