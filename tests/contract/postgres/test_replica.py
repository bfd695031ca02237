"""Searches on a replica: never older than what this process wrote or saw, never with more power than the primary.

The replica of these tests is a copy of the database, which stands still until it is copied again.
"""

# ruff: noqa: SLF001 - what is tested lies behind the verbs of a store
from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from urllib.parse import quote

import pytest
from psycopg import sql

from credenda import Credenda
from credenda.errors import Forbidden, Invalid
from credenda.storage.postgres import connections
from credenda.storage.postgres.connections import Scope, Session, split_target
from credenda.storage.postgres.store import PostgresStore, SeenRows
from credenda.storage.store import EventFilter
from tests.contract.store.build import ANA, BEN, put, said
from tests.postgres_server import Database, get_server

COPY = "replica_of_tests"
_LEAVE = "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = %s"
"""Ends the connections that a pooler keeps to a database."""


def copy_database(database: Database) -> Database:
    """Copy a database that nobody uses, in the place of the last copy."""
    with Database("postgres", database.server).connect() as connection:
        connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(COPY)))
        connection.execute(_LEAVE, (database.name,))
        names = [sql.Identifier(name) for name in (COPY, database.name, "credenda")]
        connection.execute(sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY file_copy OWNER {}").format(*names))
    return Database(COPY, database.server)


def join(primary: Database, replica: Database, user: str = "credenda") -> str:
    return f"{primary.url()}&replica={quote(replica.url(user), safe='')}"


@pytest.fixture
def copied(database: Database) -> Iterator[Database]:
    """A replica that has one message of Ana and one of Ben."""
    store = PostgresStore(database.url())
    put(store, ANA, said("One."))
    put(store, BEN, said("Green tea."))
    store.close()
    yield copy_database(database)
    with Database("postgres", get_server()).connect() as connection:
        connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(COPY)))


def read_texts(store: PostgresStore, user: str, *, may_lag: bool = True) -> list[str]:
    with store.reader(user, may_lag=may_lag) as reader:
        return [event.text for event in reader.find_events(EventFilter())]


def count_reads(store: PostgresStore, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Note each transaction that the replica serves."""
    served: list[str] = []
    assert store._replica is not None
    begin = store._replica.transaction

    def note(scope: Scope) -> AbstractContextManager[Session]:
        served.append(scope.user_id)
        return begin(scope)

    monkeypatch.setattr(store._replica, "transaction", note)
    return served


def test_a_user_is_read_from_the_replica_once_it_has_what_the_primary_showed(
    database: Database, copied: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = PostgresStore(join(database, copied))
    served = count_reads(store, monkeypatch)
    with copied.connect() as connection:
        connection.execute("UPDATE credenda.tenants SET listed = 77")
    with store.reader(ANA, may_lag=True) as reader:
        assert _listed(reader) != 77
    with store.reader(ANA, may_lag=True) as reader:
        assert _listed(reader) == 77
    with store.reader(ANA) as reader:
        assert _listed(reader) != 77
    assert served
    store.close()


def _listed(reader: object) -> int:
    return reader._run("tenant_and_tips").fetchone()["listed"]  # type: ignore[attr-defined]


def test_who_writes_reads_the_own_writes(database: Database, copied: Database) -> None:
    store = PostgresStore(join(database, copied))
    assert read_texts(store, ANA) == ["One."]
    assert read_texts(store, ANA) == ["One."]
    put(store, ANA, said("Three."))
    for _ in range(3):
        assert read_texts(store, ANA) == ["One.", "Three."]
    assert read_texts(store, BEN) == read_texts(store, BEN) == ["Green tea."]
    store.close()


def test_what_was_deleted_here_does_not_return_from_the_replica(database: Database, copied: Database) -> None:
    with Credenda.open(join(database, copied), user=BEN, workers=False, embedder="none", llm=None) as memory:
        assert memory.search("tea").hits[0].quote == memory.search("tea").hits[0].quote
        memory.delete(memory.search("tea").hits[0].id)
        for _ in range(3):
            assert not memory.search("tea").hits


def test_who_was_erased_here_does_not_return_from_the_replica(database: Database, copied: Database) -> None:
    store = PostgresStore(join(database, copied))
    assert read_texts(store, ANA) == read_texts(store, ANA) == ["One."]
    store.erase(ANA)
    assert read_texts(store, ANA) == read_texts(store, ANA) == []
    put(store, ANA, said("Anew."))
    assert read_texts(store, ANA) == read_texts(store, ANA) == ["Anew."]
    store.close()


def test_what_another_process_wrote_is_missed_at_most_until_it_was_seen_here(
    database: Database, copied: Database
) -> None:
    store, other = PostgresStore(join(database, copied)), PostgresStore(database.url())
    assert read_texts(store, ANA) == ["One."]
    put(other, ANA, said("Three."))
    assert read_texts(store, ANA) == ["One."]
    assert read_texts(store, ANA, may_lag=False) == ["One.", "Three."]
    assert read_texts(store, ANA) == ["One.", "Three."]
    store.close()
    other.close()


def test_a_replica_that_is_gone_costs_no_search(database: Database, copied: Database) -> None:
    address = join(database, copied)
    with Database("postgres", get_server()).connect() as connection:
        connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(COPY)))
    with Credenda.open(address, user="ana", workers=False, embedder="none", llm=None) as memory:
        memory.remember("I live in Linz.")
        memory.settle()
        assert memory.search("Linz").hits
        assert "not used" in memory.data.doctor().backend["replica"]


def test_a_replica_that_goes_away_is_left_alone_for_a_while(
    database: Database, copied: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = PostgresStore(join(database, copied))
    served = count_reads(store, monkeypatch)
    assert read_texts(store, ANA) == read_texts(store, ANA) == ["One."]
    monkeypatch.setattr(connections, "_POOL_LOOK_SECONDS", 0.05)
    with Database("postgres", get_server()).connect() as connection:
        connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(COPY)))
    served.clear()
    for _ in range(3):
        assert read_texts(store, ANA) == ["One."]
    assert served == [ANA]
    monkeypatch.setattr(store, "_replica_at", 0.0)
    assert read_texts(store, ANA) == ["One."]
    assert served == [ANA, ANA]
    store.close()


def test_a_search_of_the_product_may_use_the_replica(database: Database, copied: Database) -> None:
    with Credenda.open(join(database, copied), user=BEN, workers=False, embedder="none", llm=None) as memory:
        assert memory.search("tea").hits[0].quote == memory.search("tea").hits[0].quote == "Green tea."
        assert memory.data.doctor().backend["replica"].startswith("in use")


def test_a_login_with_too_much_power_is_refused_on_the_replica_too(database: Database, copied: Database) -> None:
    with pytest.raises(Forbidden, match="postgres"):
        PostgresStore(join(database, copied, "postgres"))


@pytest.mark.parametrize("query", ["replica=db2", "replica=", "replica=postgresql://a&replica=postgresql://b"])
def test_an_address_that_is_none_is_refused(query: str) -> None:
    with pytest.raises(Invalid, match="replica"):
        split_target(f"postgresql://credenda@localhost/credenda?{query}")


def test_a_read_that_began_before_a_write_proves_nothing(store: PostgresStore) -> None:
    put(store, ANA, said("One."))
    seen = SeenRows(users_max=2)
    with store.reader(ANA) as view:
        begun = seen.begin(ANA)
        seen.mark_written(ANA)
        seen.note(ANA, begun, view)
        assert not seen.is_covered(ANA, view)
        seen.note(ANA, seen.begin(ANA), view)
        assert seen.is_covered(ANA, view)
        for other in (BEN, "eva"):
            seen.begin(other)
        assert not seen.is_covered(ANA, view)
