from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from credenda import Credenda
from credenda.testing import ManualClock


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock("2026-03-01T09:00:00Z")


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
