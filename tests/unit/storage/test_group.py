"""Group commit: one transaction for many callers, each of whom gets its own result or its own error."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from credenda import limits
from credenda.errors import Conflict, Unavailable
from credenda.storage.sqlite import connection as group
from credenda.storage.sqlite.connection import begin_immediate, retry_while_locked
from tests.waiting import PATIENCE_SECONDS

from .build import failure
from .sharing import Shared


def test_those_who_wait_share_the_next_commit(shared: Shared) -> None:
    first = shared.hold()
    others = [shared.join(lambda turn=turn: shared.say(f"turn {turn}")) for turn in range(12)]
    shared.go_on()
    first.result(PATIENCE_SECONDS)
    assert [future.result(PATIENCE_SECONDS) for future in others] == [f"turn {turn}" for turn in range(12)]
    assert shared.commit.commits == 2
    assert shared.said() == [f"turn {turn}" for turn in range(12)]


def test_a_commit_is_shared_by_a_bounded_number(shared: Shared) -> None:
    first = shared.hold()
    others = [shared.join(lambda: shared.say("more")) for _ in range(limits.GROUP_COMMIT_UNITS + 3)]
    shared.go_on()
    for future in (first, *others):
        future.result(PATIENCE_SECONDS)
    assert shared.commit.commits == 3


def test_many_threads_each_get_their_own_result(shared: Shared) -> None:
    def run(thread: int) -> list[str]:
        return [shared.commit.run(lambda turn=turn: shared.say(f"{thread}.{turn}")) for turn in range(25)]

    results = list(shared.pool.map(run, range(16)))
    assert results == [[f"{thread}.{turn}" for turn in range(25)] for thread in range(16)]
    assert sorted(shared.said()) == sorted(text for result in results for text in result)
    assert shared.commit.commits <= 16 * 25


def test_an_error_undoes_its_own_unit_and_reaches_its_own_caller(shared: Shared) -> None:
    def fail(error: Exception) -> None:
        shared.say("never")
        raise error

    errors = [ValueError("a"), KeyError("b")]
    first = shared.hold()
    kept = shared.join(lambda: shared.say("kept"))
    failed = [shared.join(lambda error=error: fail(error)) for error in errors]
    late = shared.join(lambda: shared.say("late"))
    shared.go_on()
    assert [future.exception(PATIENCE_SECONDS) for future in (first, kept, *failed, late)] == [
        None,
        None,
        *errors,
        None,
    ]
    assert shared.said() == ["kept", "late"]


def test_a_refused_statement_reaches_only_its_caller_translated(shared: Shared) -> None:
    first = shared.hold()
    kept = shared.join(lambda: shared.say("kept"))
    refused = shared.join(lambda: shared.connection.execute("INSERT INTO said VALUES (NULL)"))
    shared.go_on()
    first.result(PATIENCE_SECONDS)
    assert kept.result(PATIENCE_SECONDS) == "kept"
    error = refused.exception(PATIENCE_SECONDS)
    assert isinstance(error, Conflict)
    assert isinstance(error.__cause__, sqlite3.IntegrityError)


def test_an_error_of_a_unit_that_is_alone_undoes_it(shared: Shared) -> None:
    with pytest.raises(ZeroDivisionError):
        shared.commit.run(lambda: (shared.say("never"), 1 // 0))
    assert shared.commit.run(lambda: shared.say("after")) == "after"
    assert shared.said() == ["after"]


def test_a_commit_that_fails_is_reported_to_all_and_undoes_all(shared: Shared) -> None:
    """A foreign key that is checked at the end makes a real COMMIT fail."""
    first = shared.hold()
    units = [
        shared.join(lambda: shared.say("lost")),
        shared.join(lambda: shared.connection.execute("INSERT INTO owned VALUES (7)")),
        shared.join(lambda: shared.say("lost too")),
    ]
    shared.go_on()
    first.result(PATIENCE_SECONDS)
    errors = [future.exception(PATIENCE_SECONDS) for future in units]
    assert [type(error) for error in errors] == [Conflict] * 3
    assert len({id(error) for error in errors}) == 3
    assert shared.said() == []
    assert shared.commit.run(lambda: shared.say("after")) == "after"


@pytest.mark.parametrize("statement", ["BEGIN IMMEDIATE", "COMMIT", "SAVEPOINT unit", "RELEASE unit"])
@pytest.mark.parametrize("code", [sqlite3.SQLITE_IOERR_FSYNC, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_LOCK])
def test_a_disk_that_refuses_is_reported_to_all_and_the_next_commit_works(
    shared: Shared, statement: str, code: int
) -> None:
    first = shared.hold()
    units = [shared.join(lambda: shared.say("lost")) for _ in range(3)]
    shared.connection.refused = {statement: failure(code)}
    if statement == "COMMIT":
        shared.connection.refused["ROLLBACK"] = failure(code)
    shared.go_on()
    failed = units if statement != "COMMIT" else [first, *units]
    assert all(isinstance(future.exception(PATIENCE_SECONDS), Unavailable) for future in failed)
    shared.connection.refused = {}
    assert shared.commit.run(lambda: shared.say("after")) == "after"
    assert shared.said() == ["after"]


def test_a_closed_group_refuses_and_those_who_wait_are_told(shared: Shared) -> None:
    shared.commit.close()
    with pytest.raises(Unavailable, match="closed"):
        shared.commit.run(lambda: shared.say("never"))


@pytest.fixture
def two(tmp_path: Path) -> Iterator[tuple[sqlite3.Connection, sqlite3.Connection]]:
    """Two connections that do not wait by themselves; the first holds the write lock."""
    pair = [sqlite3.connect(tmp_path / "lock.db", isolation_level=None, timeout=0) for _ in range(2)]
    pair[0].execute("PRAGMA journal_mode = WAL")
    pair[0].execute("BEGIN IMMEDIATE")
    yield pair[0], pair[1]
    for connection in pair:
        connection.close()


def test_the_write_lock_is_waited_for_in_short_uneven_pauses(
    two: tuple[sqlite3.Connection, sqlite3.Connection], monkeypatch: pytest.MonkeyPatch
) -> None:
    holder, waiter = two
    pauses: list[float] = []

    def pause(duration_seconds: float) -> None:
        pauses.append(duration_seconds)
        if len(pauses) == 20:
            holder.execute("ROLLBACK")

    monkeypatch.setattr(group, "pause", pause)
    begin_immediate(waiter)
    assert waiter.in_transaction
    assert len(pauses) == 20
    assert all(0.0002 <= duration <= 0.005 for duration in pauses)
    assert len(set(pauses)) > 10


def test_patience_ends(two: tuple[sqlite3.Connection, sqlite3.Connection], monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(1_000))
    pauses: list[float] = []
    monkeypatch.setattr(group, "seconds", lambda: next(clock))
    monkeypatch.setattr(group, "pause", pauses.append)
    with pytest.raises(sqlite3.OperationalError) as raised:
        begin_immediate(two[1])
    assert raised.value.sqlite_errorcode == sqlite3.SQLITE_BUSY
    assert len(pauses) == limits.BUSY_TIMEOUT_SECONDS


def test_only_a_lock_is_waited_for(
    two: tuple[sqlite3.Connection, sqlite3.Connection], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(group, "pause", None)
    with pytest.raises(sqlite3.OperationalError, match="syntax"):
        retry_while_locked(two[1], "BEGIN SOMEHOW")
