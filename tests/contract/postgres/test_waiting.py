"""Calls that must end: a read stops at its deadline or when its caller leaves, a write waits its turn no longer."""

# ruff: noqa: SLF001 - what is tested lies behind the verbs of a store
from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from threading import Event

import pytest

from credenda.current_call import allow_stop, limit_duration
from credenda.errors import Unavailable
from credenda.storage.postgres import connections
from credenda.storage.postgres.connections import AUDIT_TURN, Scope, compute_lock
from credenda.storage.postgres.store import PostgresStore
from credenda.storage.store import EventFilter, Writer
from tests.contract.store.build import ANA, BEN, put, said, see, texts
from tests.postgres_server import Database
from tests.waiting import PATIENCE_SECONDS

LONG = "SELECT pg_sleep(60)"


def read_long(store: PostgresStore) -> None:
    with store._connections.transaction(Scope(ANA)) as session:
        session.execute(LONG)


def run_long(store: PostgresStore, *, write: bool) -> None:
    with store._connections.transaction(Scope(ANA), write=write) as session:
        session.execute(LONG)


def test_a_read_stops_at_the_deadline_of_its_call(store: PostgresStore) -> None:
    with limit_duration(0.1), pytest.raises(Unavailable, match="too long"):
        read_long(store)
    put(store, ANA, said("One."))
    assert texts(see(store, ANA, lambda reader: reader.find_events(EventFilter()))) == ["One."]


def test_a_read_stops_when_its_caller_leaves(store: PostgresStore) -> None:
    with allow_stop() as stop, ThreadPoolExecutor(1) as pool:
        reading = pool.submit(copy_context().run, read_long, store)
        stop.set()
        with pytest.raises(Unavailable, match="cancelled"):
            reading.result(timeout=PATIENCE_SECONDS)
    assert see(store, ANA, lambda reader: reader.tenant.tag) == ""


def test_a_call_that_is_over_begins_nothing(store: PostgresStore) -> None:
    with limit_duration(0), pytest.raises(Unavailable, match="too long"):
        put(store, ANA, said("One."))
    assert see(store, ANA, lambda reader: reader.tenant.tag) == ""


def test_a_unit_that_has_begun_goes_on_beyond_the_deadline(store: PostgresStore) -> None:
    def work(writer: Writer) -> None:
        with allow_stop() as stop:
            stop.set()
            writer.put(said("Kept."))

    store.commit(ANA, work)
    assert len(see(store, ANA, lambda reader: reader.find_events(EventFilter()))) == 1


def test_a_unit_waits_for_the_tenant_no_longer_than_its_call_may(store: PostgresStore, database: Database) -> None:
    other = PostgresStore(database.url())
    begun, go_on = Event(), Event()

    def hold(writer: Writer) -> None:
        begun.set()
        assert go_on.wait(timeout=PATIENCE_SECONDS), "nobody let it go on"
        writer.put(said("First."))

    with ThreadPoolExecutor(1) as pool:
        held = pool.submit(store.commit, ANA, hold)
        assert begun.wait(timeout=PATIENCE_SECONDS), "the other call has not begun"
        with limit_duration(0.2), pytest.raises(Unavailable):
            put(other, ANA, said("Never."))
        put(other, BEN, said("Units of two tenants run side by side."))
        go_on.set()
        held.result(timeout=PATIENCE_SECONDS)
    assert texts(see(other, ANA, lambda reader: reader.find_events(EventFilter()))) == ["First."]
    other.close()


def test_a_statement_may_not_take_longer_than_its_time(store: PostgresStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "_STATEMENT_MS", 50)
    for write in (False, True):
        with pytest.raises(Unavailable, match="took too long"):
            run_long(store, write=write)


def test_a_unit_waits_for_a_lock_no_longer_than_its_time(
    store: PostgresStore, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(store, ANA, said("One."))
    with database.connect() as other:  # past a pooler, which would keep the session and its lock
        other.execute("SELECT pg_advisory_lock(%s)", (connections.compute_lock(f"tenant {ANA}"),))
        monkeypatch.setattr(connections, "_LOCK_MS", 50)
        with pytest.raises(Unavailable, match="busy"):
            put(store, ANA, said("Never."))
        put(store, BEN, said("Two."))
    monkeypatch.undo()
    put(store, ANA, said("Three."))
    assert texts(see(store, ANA, lambda reader: reader.find_events(EventFilter()))) == ["One.", "Three."]


def test_callers_in_line_for_one_tenant_leave_connections_to_others(store: PostgresStore) -> None:
    """Thirty callers wait for Ana; there are fewer connections than that, and Ben is served."""
    begun, go_on = Event(), Event()

    def hold(writer: Writer) -> None:
        begun.set()
        assert go_on.wait(timeout=PATIENCE_SECONDS), "nobody let it go on"
        writer.put(said("First."))

    with ThreadPoolExecutor(31) as pool:
        held = pool.submit(store.commit, ANA, hold)
        assert begun.wait(timeout=PATIENCE_SECONDS), "the other call has not begun"
        waiting = [pool.submit(put, store, ANA, said(f"Turn {turn}.")) for turn in range(30)]
        put(store, BEN, said("Served."))
        go_on.set()
        for future in (held, *waiting):
            future.result(timeout=PATIENCE_SECONDS)
    assert len(see(store, ANA, lambda reader: reader.find_events(EventFilter()))) == 31


def test_an_erasure_also_takes_the_name_that_a_record_of_the_audit_is_just_adding(
    store: PostgresStore, database: Database
) -> None:
    """The record of a call has found its user before the erasure begins, and is stored only after it has begun."""
    put(store, ANA, said("One."))
    with database.connect() as recording, ThreadPoolExecutor(1) as pool:
        recording.execute("BEGIN")
        recording.execute("SELECT pg_advisory_xact_lock(%s)", (compute_lock(AUDIT_TURN),))
        recording.execute(
            "INSERT INTO credenda.audit_subjects (user_id, pseudonym, input_key) VALUES (%s, 'p', '\\x00')", (ANA,)
        )
        erasing = pool.submit(store.erase, ANA)
        with database.connect() as watching:
            while not watching.execute("SELECT 1 FROM pg_locks WHERE NOT granted").fetchall():
                assert not erasing.done(), "the erasure has not waited"
        recording.execute("COMMIT")
        assert erasing.result(timeout=PATIENCE_SECONDS).held
