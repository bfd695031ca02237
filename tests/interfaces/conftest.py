from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from credenda import Credenda
from credenda.testing import ManualClock

from .pages import Person
from .served import Site, serving
from .terminal import Terminal


@pytest.fixture
def site(tmp_path: Path, clock: ManualClock, request: pytest.FixtureRequest) -> Iterator[Site]:
    """A server of a new database; a module with the mark `tokens` needs them."""
    tokens = request.node.get_closest_marker("tokens") is not None
    with serving(tmp_path / "memory.db", clock, tokens=tokens) as opened:
        yield opened


@pytest.fixture
def person(site: Site) -> Person:
    return Person(site)


@pytest.fixture
def ana(tmp_path: Path) -> Terminal:
    """The command line of Ana, with a database of its own."""
    return Terminal(tmp_path)


@pytest.fixture
def mem(tmp_path: Path, clock: ManualClock) -> Iterator[Credenda]:
    with Credenda.open(tmp_path / "memory.db", user="ana", clock=clock, workers=False) as opened:
        yield opened


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with a short path: a socket in it has a name that every system takes. What hooks write is there."""
    with TemporaryDirectory(prefix="h", ignore_cleanup_errors=True) as made:  # a process of a hook may still end in it
        monkeypatch.setenv("XDG_DATA_HOME", made)
        yield Path(made).resolve()
