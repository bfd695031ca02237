"""Units that the server undid because they met another transaction are run again, a few times, and file once."""

# ruff: noqa: SLF001 - what is tested lies behind the verbs of a store
from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import pairwise
from threading import Event
from typing import NoReturn

import psycopg
import pytest

from credenda.current_call import limit_duration
from credenda.errors import Unavailable
from credenda.storage.postgres import connections
from credenda.storage.postgres.connections import Scope, Session, compute_lock
from credenda.storage.postgres.store import PostgresStore
from credenda.storage.sql.statements import StatementRunner
from credenda.storage.store import EventFilter, Watermark, Writer
from tests.contract.store.build import ANA, put, said, see, texts
from tests.postgres_server import Database
from tests.waiting import PATIENCE_SECONDS

UNDONE = ("40001", "40P01", "55P03")


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    taken: list[float] = []
    monkeypatch.setattr(connections, "pause", taken.append)
    return taken


def raise_in_server(store: PostgresStore, code: str) -> NoReturn:
    with store._connections.transaction(Scope()) as session:
        session.execute(f"DO $$ BEGIN RAISE EXCEPTION 'met another' USING ERRCODE = '{code}'; END $$")
    raise AssertionError(code)


def wait_until_one_waits(watching: psycopg.Connection, future: Future[None]) -> None:
    """Return when a transaction waits for a lock."""
    while not watching.execute("SELECT 1 FROM pg_locks WHERE NOT granted").fetchall():
        assert not future.done(), "it has not waited"


def mark(writer: Writer, name: str) -> None:
    writer.put(Watermark(name=name, value=(writer.duties.watermark(name) or 0) + 1, at_us=1))


@pytest.fixture
def other(database: Database) -> Iterator[psycopg.Connection]:
    with database.connect() as connection:
        yield connection


def test_a_unit_that_the_server_undid_after_a_deadlock_files_once(
    store: PostgresStore, database: Database, other: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other transaction waits for a row of the unit, and then the unit for one of the other; the unit is undone."""
    put(store, ANA, Watermark(name="first", value=1, at_us=1), Watermark(name="second", value=1, at_us=1))
    touch = "UPDATE credenda.watermarks SET value = value + 10 WHERE user_id = %s AND name = %s"
    tried: list[int] = []
    meeting: list[Future[None]] = []
    committed = Event()

    def wait_for_the_other(_: float) -> None:
        assert committed.wait(PATIENCE_SECONDS), "the other unit was not committed"

    def meet() -> None:
        other.execute(touch, (ANA, "first"))  # returns when the server has undone the unit
        other.execute("COMMIT")
        committed.set()

    def work(writer: Writer) -> None:
        tried.append(len(tried))
        writer.put(said("Once."))
        mark(writer, "first")
        if len(tried) == 1:
            meeting.append(pool.submit(meet))
            wait_until_one_waits(watching, meeting[0])
        mark(writer, "second")

    monkeypatch.setattr(connections, "pause", wait_for_the_other)
    other.execute("SET deadlock_timeout = '60s'")
    other.execute("BEGIN")
    other.execute(touch, (ANA, "second"))
    with database.connect() as watching, ThreadPoolExecutor(1) as pool:
        store.commit(ANA, work)
        meeting[0].result(timeout=PATIENCE_SECONDS)
    assert len(tried) == 2
    assert texts(see(store, ANA, lambda reader: reader.find_events(EventFilter()))) == ["Once."]
    assert see(store, ANA, lambda reader: [reader.duties.watermark(one) for one in ("first", "second")]) == [12, 12]


def test_a_unit_that_cannot_be_serialised_is_decided_anew_from_the_rows_of_the_other(
    store: PostgresStore, other: psycopg.Connection, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its transaction began before the other one committed; under snapshot isolation the server then refuses it."""
    put(store, ANA, Watermark(name="first", value=1, at_us=1))
    monkeypatch.setattr(connections, "_BEGIN_WRITE", "BEGIN ISOLATION LEVEL REPEATABLE READ READ WRITE")
    tried: list[int] = []

    def work(writer: Writer) -> None:
        tried.append(len(tried))
        writer.put(said("Once."))
        mark(writer, "first")

    other.execute("BEGIN")
    other.execute("SELECT pg_advisory_xact_lock(%s)", (compute_lock(f"tenant {ANA}"),))
    other.execute("UPDATE credenda.watermarks SET value = 5 WHERE user_id = %s", (ANA,))
    with database.connect() as watching, ThreadPoolExecutor(1) as pool:
        done = pool.submit(store.commit, ANA, work)
        wait_until_one_waits(watching, done)
        other.execute("COMMIT")
        done.result(timeout=PATIENCE_SECONDS)
    assert len(tried) == 2
    assert see(store, ANA, lambda reader: reader.duties.watermark("first")) == 6
    assert texts(see(store, ANA, lambda reader: reader.find_events(EventFilter()))) == ["Once."]


def test_a_unit_whose_lock_was_not_given_in_time_asks_again(
    store: PostgresStore, other: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(store, ANA, said("One."))
    other.execute("SELECT pg_advisory_lock(%s)", (compute_lock(f"tenant {ANA}"),))
    monkeypatch.setattr(connections, "_LOCK_MS", 20)
    waited: list[float] = []

    def wait(duration_seconds: float) -> None:
        waited.append(duration_seconds)
        if len(waited) == 2:
            other.execute("SELECT pg_advisory_unlock_all()")

    monkeypatch.setattr(connections, "pause", wait)
    put(store, ANA, said("Two."))
    assert len(waited) == 2
    assert texts(see(store, ANA, lambda reader: reader.find_events(EventFilter()))) == ["One.", "Two."]


@pytest.mark.parametrize("code", UNDONE)
def test_a_unit_is_tried_four_times_with_growing_pauses(store: PostgresStore, pauses: list[float], code: str) -> None:
    tries: list[int] = []

    def fail(failures: int) -> Callable[[Writer], int]:
        def work(writer: Writer) -> int:
            tries.append(writer.tenant.number)
            writer.put(said("Once."))
            if len(tries) <= failures:
                raise_in_server(store, code)
            return len(tries)

        return work

    assert store.commit(ANA, fail(3)) == 4
    assert store.commits == 1
    assert [0.005 * 2**tried <= taken <= 0.01 * 2**tried for tried, taken in enumerate(pauses)] == [True] * 3
    assert all(before < after for before, after in pairwise(pauses))
    tries.clear()
    with pytest.raises(Unavailable):
        store.commit(ANA, fail(9))
    assert len(tries) == 4
    assert texts(see(store, ANA, lambda reader: reader.find_events(EventFilter()))) == ["Once."]


@pytest.mark.parametrize("code", UNDONE)
def test_a_change_of_the_servers_tables_is_tried_again_too(
    store: PostgresStore, pauses: list[float], code: str
) -> None:
    tries: list[int] = []

    def change(run: StatementRunner) -> int:
        tries.append(len(run("users", after_user="", limit=1).fetchall()))
        if len(tries) < 3:
            raise_in_server(store, code)
        return len(tries)

    assert store._change_tables(change) == 3
    assert len(pauses) == 2


def test_nothing_is_tried_again_once_the_bound_is_reached_or_the_call_is_over(
    store: PostgresStore, pauses: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    tries: list[int] = []

    def fail(_: Writer) -> None:
        tries.append(len(tries))
        raise_in_server(store, "40P01")

    monkeypatch.setattr(connections, "_UNIT_SECONDS", -1.0)
    with pytest.raises(Unavailable, match="undid a transaction"):
        store.commit(ANA, fail)
    assert (len(tries), pauses) == (1, [])
    monkeypatch.undo()

    def pass_the_deadline(_: float) -> None:
        monkeypatch.setattr("credenda.current_call.seconds", lambda: float("inf"))

    monkeypatch.setattr(connections, "pause", pass_the_deadline)
    with limit_duration(60), pytest.raises(Unavailable, match="took too long"):
        store.commit(ANA, fail)
    monkeypatch.undo()
    assert len(tries) == 2


def test_other_errors_and_a_failed_commit_are_raised_at_once(
    store: PostgresStore, pauses: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody knows what a COMMIT has done that did not answer; here the server itself refuses it."""
    tries: list[int] = []

    def fail(writer: Writer) -> None:
        tries.append(writer.tenant.number)
        raise_in_server(store, "53300")

    with pytest.raises(Unavailable, match="resources"):
        store.commit(ANA, fail)
    refused = "DO $$ BEGIN RAISE EXCEPTION 'at the end' USING ERRCODE = '40001'; END $$"
    monkeypatch.setattr(connections, "_COMMIT", refused)

    def work(session: Session) -> None:
        tries.append(len(session.execute("SELECT 1").fetchall()))

    with pytest.raises(Unavailable, match="undid a transaction"):
        store._connections.run_unit(Scope(ANA), work)
    assert (len(tries), pauses) == (2, [])
