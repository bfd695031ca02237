from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from credenda import Credenda, bootstrap
from credenda.model.event import Event
from credenda.storage.store import EventFilter
from credenda.testing import ManualClock

Events = Callable[[], list[Event]]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@pytest.fixture
def mem(path: Path, clock: ManualClock) -> Iterator[Credenda]:
    with Credenda.open(path, user="ana", clock=clock, workers=False) as opened:
        yield opened


@pytest.fixture
def as_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave every setting at its default, with all extras installed; name it in `usefixtures`."""
    monkeypatch.delenv("CREDENDA_EMBEDDER")


@pytest.fixture
def say(mem: Credenda, clock: ManualClock) -> object:
    """Say sentences one after the other, some days apart, each read before the next."""

    def tell(*sentences: str, days: float = 1, session: str | None = None) -> None:
        for sentence in sentences:
            mem.remember(sentence, session=session)
            mem.settle()
            clock.advance(timedelta(days=days))

    return tell


@pytest.fixture
def synced(mem: Credenda, say: Callable[..., None], vault: Path) -> Path:
    """A folder with the pages of four memories."""
    say("I live in Linz.", "I like tea.", "I play chess.", "My sister Mara lives in Wels.")
    mem.data.sync_files(vault)
    return vault


@pytest.fixture
def events(path: Path) -> Events:
    """Read every event of the memory from its file, oldest first."""

    def read() -> list[Event]:
        store = bootstrap.open_store(path, read_only=True)
        try:
            with store.reader("ana") as reader:
                return reader.find_events(EventFilter())
        finally:
            store.close()

    return read
