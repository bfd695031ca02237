"""A database of the test server for each test."""

from collections.abc import Iterator

import pytest

from credenda.storage.postgres.store import PostgresStore
from tests.postgres_server import Database, get_server


@pytest.fixture
def database() -> Iterator[Database]:
    server = get_server()
    lent = server.lend()
    yield lent
    server.take_back(lent)


@pytest.fixture
def store(database: Database) -> Iterator[PostgresStore]:
    opened = PostgresStore(database.url())
    yield opened
    opened.close()
