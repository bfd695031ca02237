"""The backends that keep the contract of `credenda.storage.store`, each in a place of its own for one test.

A new backend joins with one line in `BACKENDS`; the tests beside this file then define it, unchanged.
"""

from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from credenda.clock import Clock
from credenda.storage.postgres.store import PostgresStore
from credenda.storage.sqlite.store import SqliteStore
from credenda.storage.store import Store
from tests.postgres_server import get_server

from .build import SetClock

StoreFactory = Callable[[], Store]
"""Opens the test's database; each call gives another store object over the same rows."""


@contextmanager
def sqlite(folder: Path, clock: Clock) -> Generator[StoreFactory]:
    yield lambda: SqliteStore(str(folder / "memory.db"), clock=clock)


@contextmanager
def postgres(_: Path, clock: Clock) -> Generator[StoreFactory]:
    server = get_server()
    database = server.lend()
    yield lambda: PostgresStore(database.url(), clock=clock)
    server.take_back(database)


BACKENDS: dict[str, Callable[[Path, Clock], AbstractContextManager[StoreFactory]]] = {
    "sqlite": sqlite,
    "postgres": postgres,
}


@pytest.fixture
def clock() -> SetClock:
    return SetClock()


@pytest.fixture(params=list(BACKENDS))
def store_factory(request: pytest.FixtureRequest, tmp_path: Path, clock: SetClock) -> Iterator[StoreFactory]:
    opened: list[Store] = []
    with BACKENDS[request.param](tmp_path, clock) as make:

        def open_store() -> Store:
            opened.append(make())
            return opened[-1]

        yield open_store
        for store in opened:
            store.close()


@pytest.fixture
def store(store_factory: StoreFactory) -> Store:
    return store_factory()
