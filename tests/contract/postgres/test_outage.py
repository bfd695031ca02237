"""A database that goes away and comes back: calls say so soon, and the next one works as soon as it can."""

# ruff: noqa: SLF001 - the pool is behind the store
from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import quote

import pytest

from credenda.errors import Unavailable
from credenda.storage.postgres import connections
from credenda.storage.postgres.connections import Scope
from credenda.storage.postgres.store import PostgresStore
from credenda.storage.store import EventFilter
from tests.contract.store.build import ANA, put, said, see, texts
from tests.postgres_server import Database

KILL = "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = %s AND pid <> pg_backend_pid()"
CONNECTIONS = 6


def kill_connections(database: Database) -> None:
    """End every connection to a database, as a restart of the server does."""
    with database.connect() as connection:
        connection.execute(KILL, (database.name,))


@pytest.fixture
def way(database: Database, tmp_path: Path) -> Path:
    """A link to the folder of the server's socket; without it no connection can be made."""
    link = tmp_path / "server"
    link.symlink_to(database.server.folder)
    return link


@pytest.fixture
def linked(database: Database, way: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[PostgresStore]:
    """A store that reaches the server through the link, and soon asks why it gets no connection."""
    monkeypatch.setattr(connections, "_POOL_LOOK_SECONDS", 0.05)
    store = PostgresStore(f"postgresql://credenda@/{database.name}?host={quote(str(way), safe='')}")
    yield store
    store.close()


def test_a_server_that_is_away_is_told_and_used_again(linked: PostgresStore, way: Path, database: Database) -> None:
    put(linked, ANA, said("One."))
    way.unlink()
    kill_connections(database)
    for _ in range(2):
        with pytest.raises(Unavailable, match="cannot be reached") as away:
            put(linked, ANA, said("Two."))
        assert "credenda" not in str(away.value), "a remote caller learns no name of a role or database"
    way.symlink_to(database.server.folder)
    put(linked, ANA, said("Three."))
    assert texts(see(linked, ANA, lambda reader: reader.find_events(EventFilter()))) == ["One.", "Three."]


def test_a_call_finds_a_connection_where_all_pooled_ones_are_dead(store: PostgresStore, database: Database) -> None:
    with ExitStack() as held:
        for _ in range(CONNECTIONS):
            held.enter_context(store._connections.transaction(Scope(ANA)))
    kill_connections(database)
    put(store, ANA, said("One."))
    assert texts(see(store, ANA, lambda reader: reader.find_events(EventFilter()))) == ["One."]


def test_callers_wait_for_a_connection_that_this_process_has(
    linked: PostgresStore, way: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server without a connection to spare serves those that it has given."""
    monkeypatch.setattr(connections, "_POOL_PATIENCE_SECONDS", 0.3)
    with linked._connections.transaction(Scope(ANA)):
        way.unlink()
        with pytest.raises(Unavailable, match="in use"):
            see(linked, ANA, lambda reader: reader.counts())
    assert see(linked, ANA, lambda reader: reader.tenant.tag) == ""
