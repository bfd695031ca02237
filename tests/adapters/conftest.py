"""What holds for the tests of adapters: they run with the frameworks installed, by `scripts/adapters`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from credenda import Credenda
from credenda.testing import ManualClock

os.environ["CREDENDA_EMBEDDER"] = "none"
os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"
os.environ["AGNO_TELEMETRY"] = "false"
os.environ["CREWAI_DISABLE_TELEMETRY"] = "true"


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock("2026-03-01T09:00:00Z")


@pytest.fixture
def memory(tmp_path: Path, clock: ManualClock) -> Iterator[Credenda]:
    with Credenda.open(tmp_path / "memory.db", user="ana", clock=clock, workers=False) as opened:
        yield opened


@pytest.fixture
def known(memory: Credenda) -> Credenda:
    """A memory that answers "Which database do we use for billing?"."""
    memory.remember("For billing we use the database Postgres.", session="before")
    memory.settle()
    return memory


@pytest.fixture
def said(memory: Credenda) -> Callable[[str], list[tuple[str, str]]]:
    """Return the messages of a session, oldest first, as pairs of role and text."""
    return lambda session: [(one.role.value, one.text) for one in memory.inspect.session(session).events]
