"""A database of the test server for each test."""

from collections.abc import Iterator

import pytest
from psycopg import sql

from credenda.storage.postgres.store import PostgresStore
from tests.postgres_server import APP, Database, get_server


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


@pytest.fixture(scope="session")
def indexed() -> Database:
    """A database on whose server an administrator has installed pgvector; a test clears it."""
    database = get_server().create_empty("nominees")
    with database.connect() as connection:
        connection.execute("CREATE EXTENSION vector")
    PostgresStore(database.url()).close()
    with database.connect() as connection:
        connection.execute(sql.SQL("GRANT credenda_service TO {}").format(sql.Identifier(APP)))
    return database
