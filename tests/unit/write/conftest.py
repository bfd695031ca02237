from collections.abc import Iterator
from pathlib import Path

import pytest

from credenda.storage.sqlite.store import SqliteStore
from credenda.testing import ManualClock

from .build import House


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    clock = ManualClock("2026-03-01T09:00:00Z")
    store = SqliteStore(str(tmp_path / "memory.db"), clock=clock)
    yield House(store, clock)
    store.close()
