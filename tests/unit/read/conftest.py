"""A fresh world for each test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from .build import World


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path / "memory.db")
    yield made
    made.store.close()
