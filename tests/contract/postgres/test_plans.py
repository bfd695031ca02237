"""Statements are planned once for a connection, with a plan that stays right when tables grow and columns are added."""

# ruff: noqa: SLF001, S608 - what is tested lies behind the verbs of a store
from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from credenda.errors import CredendaError
from credenda.storage.postgres import connections
from credenda.storage.postgres.connections import Scope, Session
from credenda.storage.postgres.statements import load_statements
from credenda.storage.postgres.store import PostgresStore
from credenda.storage.store import EventFilter, Job, MemoryFilter, Writer
from tests.contract.store.build import ANA, add, held, put, said, see
from tests.postgres_server import Database

_PREPARED = "SELECT count(*) AS n FROM pg_prepared_statements"


@pytest.fixture
def store(database: Database) -> Iterator[PostgresStore]:
    """A store without a pooler, behind which nothing is prepared."""
    opened = PostgresStore(database.url(direct=True))
    yield opened
    opened.close()


@pytest.fixture
def warm(store: PostgresStore) -> PostgresStore:
    """A store whose connection has been used often enough to prepare statements."""
    for _ in range(connections._COLD_TRANSACTIONS):
        count_prepared(store)
    return store


def count_prepared(store: PostgresStore) -> int:
    with store._connections.transaction(Scope(ANA)) as session:
        row = session.execute(_PREPARED).fetchone()
    return 0 if row is None else int(row["n"])


def read_all(store: PostgresStore) -> list[str]:
    events = see(store, ANA, lambda reader: reader.find_events(EventFilter()))
    memories = see(store, ANA, lambda reader: reader.find(MemoryFilter()))
    return [one.text for one in (*events, *memories)]


def test_a_connection_prepares_statements_only_once_it_is_used_again(store: PostgresStore) -> None:
    read_all(store)
    assert count_prepared(store) == 0
    for _ in range(connections._COLD_TRANSACTIONS):
        read_all(store)
    assert count_prepared(store) >= 3
    held_before = count_prepared(store)
    read_all(store)
    assert count_prepared(store) == held_before


def test_nothing_is_prepared_through_a_pooler(store: PostgresStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pooler tells a number that is not that of the server's process."""
    honest = psycopg.ConnectionInfo.backend_pid
    monkeypatch.setattr(psycopg.ConnectionInfo, "backend_pid", property(lambda info: honest.fget(info) + 1))  # type: ignore[misc]
    for _ in range(connections._COLD_TRANSACTIONS + 2):
        put(store, ANA, said("One."))
        read_all(store)
    assert count_prepared(store) == 0


def test_a_unit_that_is_undone_leaves_the_statements_prepared(warm: PostgresStore) -> None:
    """Planning them anew would take longer than most units."""
    put(warm, ANA, said("One."))
    before = count_prepared(warm)

    def work(writer: Writer) -> None:
        writer.put(said("Never."))
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        warm.commit(ANA, work)
    assert count_prepared(warm) == before > 0
    assert read_all(warm) == ["One."]


def test_a_connection_whose_prepared_statements_are_gone_is_replaced(warm: PostgresStore) -> None:
    put(warm, ANA, said("One."))
    assert read_all(warm) == ["One."]
    with warm._connections.transaction(Scope(ANA)) as session:
        session._connection.pgconn.exec_(b"DEALLOCATE ALL")  # unknown to the driver
    with pytest.raises(CredendaError):
        read_all(warm)
    assert read_all(warm) == ["One."]


def test_a_prepared_statement_outlives_a_new_column(warm: PostgresStore, database: Database) -> None:
    """Older processes go on while a newer version adds columns."""
    put(warm, ANA, said("One."), Job(kind="extract"))
    add(warm, ANA, held("Two."))
    assert read_all(warm) == ["One.", "Two."]
    tables = ("events", "memories")
    try:
        with database.connect("credenda") as owner:
            for table in tables:
                owner.execute(f"ALTER TABLE credenda.{table} ADD COLUMN later bigint")
        assert read_all(warm) == ["One.", "Two."]
    finally:
        with database.connect("credenda") as owner:
            for table in tables:
                owner.execute(f"ALTER TABLE credenda.{table} DROP COLUMN later")


def test_no_statement_reads_whatever_columns_there_are() -> None:
    loose = [name for name, statement in load_statements().items() if _reads_any_column(statement)]
    assert loose == []


def _reads_any_column(statement: str) -> bool:
    return "SELECT * FROM" in statement.replace("SELECT * FROM (", "")


@pytest.fixture
def grown(warm: PostgresStore) -> Iterator[Session]:
    with warm._connections.transaction(Scope(ANA)) as session:
        yield session


@pytest.mark.parametrize("table", ["events", "memories", "evidence", "changes", "operations", "words", "embeddings"])
def test_a_plan_made_for_empty_tables_reads_an_index_of_one_partition(grown: Session, table: str) -> None:
    """The plan holds all partitions; the executor takes the others out before it begins."""
    grown.execute(f"PREPARE of_{table} (text) AS SELECT count(*) FROM {table} WHERE user_id = $1")
    plan = [row[0] for row in grown.execute(f"EXPLAIN (COSTS OFF) EXECUTE of_{table} ('ana')")]
    grown.execute(f"DEALLOCATE of_{table}")
    assert any("Subplans Removed: 15" in line for line in plan)
    scans = [line for line in plan if "Scan" in line]
    assert scans
    assert not any("Seq Scan" in line for line in scans)
