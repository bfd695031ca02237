"""What the tests of storage share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from .sharing import Shared


@pytest.fixture
def shared(tmp_path: Path) -> Iterator[Shared]:
    made = Shared(tmp_path / "group.db")
    yield made
    made.close()
