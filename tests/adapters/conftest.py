"""What holds for the tests of adapters: they run with the frameworks installed, by `scripts/adapters`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from credenda import Credenda
from credenda.testing import ManualClock

os.environ["CREDENDA_EMBEDDER"] = "none"


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock("2026-03-01T09:00:00Z")


@pytest.fixture
def memory(tmp_path: Path, clock: ManualClock) -> Iterator[Credenda]:
    with Credenda.open(tmp_path / "memory.db", user="ana", clock=clock, workers=False) as opened:
        yield opened
