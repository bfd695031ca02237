"""What holds for all tests."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from credenda.bootstrap import _LazyExtractor
from credenda.model.claim import Claim, Turn
from credenda.runtime import Parts
from credenda.services import settle
from credenda.testing import ManualClock

from .backends import CHOSEN, ON_BOTH, Databases, open_databases
from .connections import left_open, opened, watch
from .told import find_told, read_told
from .waiting import PATIENCE_SECONDS

_USUAL_SECONDS = 30.0
_LONG = frozenset({"browser", "crash", "golden", "hosts", "state"})
"""Folders with few tests that take long."""

# A model that embeds each text of ten thousand tests would double their time; what it must not change is tested as
# installed (the fixture `as_installed`). No other setting differs from a user's.
os.environ["CREDENDA_EMBEDDER"] = "none"

# The same examples in every run: a failure is the change's, never the dice's. To search further than that:
# scripts/test --hypothesis-profile default
settings.register_profile("credenda", derandomize=True, deadline=None)
settings.register_profile("deep", deadline=None)
settings.register_profile("deeper", deadline=None)
settings.load_profile("credenda")

_settle = settle.settle


def _settle_patiently(parts: Parts, timeout_seconds: float = _USUAL_SECONDS) -> None:
    """Wait for minutes instead of the half a minute that is usual, which a busy machine may need."""
    _settle(parts, PATIENCE_SECONDS if timeout_seconds == _USUAL_SECONDS else timeout_seconds)


settle.settle = _settle_patiently

watch()


def _all_closed() -> Iterator[None]:
    before = len(opened)
    yield
    found = left_open(before)
    assert not found, "\n".join(["left open, and opened by", *found])


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock("2026-03-01T09:00:00Z")


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    """A folder of pages, which does not exist yet."""
    return tmp_path / "vault"


@pytest.fixture(autouse=True)
def a_test_closes_what_it_opens() -> Iterator[None]:
    """Fail a test that leaves a connection open, but for those of a memory that others made for it."""
    yield from _all_closed()


@pytest.fixture(autouse=True, scope="module")
def a_module_closes_what_it_opens() -> Iterator[None]:
    """Fail the last test of a module of which a fixture leaves a connection open."""
    yield from _all_closed()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run the modules that say so on both backends, but for tests about a file."""
    definition = metafunc.definition
    place = f"{definition.path.parent.name}/{definition.path.name}"
    if CHOSEN == "sqlite" and place in ON_BOTH and not definition.get_closest_marker("sqlite_file"):
        metafunc.parametrize("backend", ["sqlite", "postgres"], indirect=True)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the folders that take long, so that no core waits for one of them at the end."""
    items.sort(key=lambda item: item.path.parent.name not in _LONG)


@pytest.fixture(autouse=True, scope="module")
def given_claims(request: pytest.FixtureRequest) -> Iterator[None]:
    """Give the sentences of a module the claims that stand in `tests/told` for it; see there."""
    path = find_told(request.path.stem)

    def read(extractor: _LazyExtractor, turn: Turn) -> list[Claim]:
        assert path is not None
        return read_told(path, extractor, turn)

    with pytest.MonkeyPatch.context() as patch:
        if path is not None:
            patch.setattr(_LazyExtractor, "extract", read)
        yield


@pytest.fixture(autouse=True, scope="module")
def module_backend() -> Iterator[Databases | None]:
    """The databases of what fixtures of a module open; a module with a file that its tests copy overrides it."""
    if CHOSEN == "sqlite":
        yield None
        return
    with pytest.MonkeyPatch.context() as patch, open_databases(patch) as databases:
        yield databases


@pytest.fixture(autouse=True)
def backend(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, module_backend: Databases | None
) -> Iterator[str]:
    """The backend of this test; everything that it opens by a path is there."""
    chosen = getattr(request, "param", CHOSEN)
    if chosen == "sqlite" or request.node.get_closest_marker("sqlite_file") is not None:
        if module_backend is not None:
            module_backend.unpatch(monkeypatch)
        yield "sqlite"
        return
    with open_databases(monkeypatch) if module_backend is None else module_backend.used():
        yield chosen
