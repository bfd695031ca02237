"""The backends that keep the contract of `credenda.storage.store`, each in a place of its own for one test.

A new backend joins with one line in `BACKENDS`; the tests beside this file then define it, unchanged.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from credenda.clock import Clock
from credenda.storage.sqlite.store import SqliteStore
from credenda.storage.store import Store

from .build import SetClock

StoreFactory = Callable[[], Store]
"""Opens the test's database; each call gives another store object over the same rows."""


def sqlite(folder: Path, clock: Clock) -> Store:
    return SqliteStore(str(folder / "memory.db"), clock=clock)


BACKENDS: dict[str, Callable[[Path, Clock], Store]] = {
    "sqlite": sqlite,
}


@pytest.fixture
def clock() -> SetClock:
    return SetClock()


@pytest.fixture(params=list(BACKENDS))
def store_factory(request: pytest.FixtureRequest, tmp_path: Path, clock: SetClock) -> Iterator[StoreFactory]:
    opened: list[Store] = []

    def open_store() -> Store:
        opened.append(BACKENDS[request.param](tmp_path, clock))
        return opened[-1]

    yield open_store
    for store in opened:
        store.close()


@pytest.fixture
def store(store_factory: StoreFactory) -> Store:
    return store_factory()
