"""What a transaction of the server sees of all tenants: their names, and which have work; no payload and no key."""

# ruff: noqa: SLF001, S608 - what is tested lies behind the verbs of a store
from __future__ import annotations

from credenda.storage.postgres.connections import Scope
from credenda.storage.postgres.store import PostgresStore
from credenda.storage.store import Job, JobStatus
from tests.contract.store.build import ANA, BEN, put

COLUMNS = ("user_id", "kind", "status", "run_after", "lease_until", "created_at")


def fill(store: PostgresStore) -> None:
    for user in (ANA, BEN):
        put(store, user, Job(kind="call", payload=f"secret of {user}"))
        put(store, user, Job(kind="extract", status=JobStatus.COMPLETE, payload=f"done by {user}"))


def test_the_server_reads_no_row_of_a_table_of_jobs_or_tenants(store: PostgresStore) -> None:
    fill(store)
    with store._connections.transaction(Scope(server=True)) as session:
        for table in ("operations", "tenants"):
            assert session.execute(f"SELECT * FROM {table}").fetchall() == []
    with store._connections.transaction(Scope(ANA, server=True)) as session:
        found = session.execute("SELECT DISTINCT user_id FROM operations").fetchall()
        assert [tuple(row) for row in found] == [(ANA,)]


def test_the_server_reads_the_names_and_the_waiting_jobs_of_all(store: PostgresStore) -> None:
    fill(store)
    with store._connections.transaction(Scope(server=True)) as session:
        waiting = session.execute("SELECT * FROM waiting_jobs ORDER BY user_id")
        assert tuple(column.name for column in waiting.description or ()) == COLUMNS
        assert [(row["user_id"], row["kind"]) for row in waiting] == [(ANA, "call"), (BEN, "call")]
        assert [tuple(row) for row in session.execute("SELECT * FROM tenant_names ORDER BY 1")] == [(ANA,), (BEN,)]
    assert store.users(limit=9) == [ANA, BEN]
    assert store.find_oldest_waiting({"call"}) is not None
    assert store.find_oldest_waiting({"extract"}) is None


def test_a_transaction_of_a_tenant_reads_its_own_through_these_views_alone(store: PostgresStore) -> None:
    fill(store)
    with store._connections.transaction(Scope(ANA)) as session:
        for view in ("waiting_jobs", "tenant_names"):
            found = session.execute(f"SELECT user_id FROM {view}").fetchall()
            assert [tuple(row) for row in found] == [(ANA,)]
    with store._connections.transaction(Scope()) as session:
        for view in ("waiting_jobs", "tenant_names"):
            assert session.execute(f"SELECT user_id FROM {view}").fetchall() == []
