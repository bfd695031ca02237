"""The browser, one for each module, and a server with the demo conversation.

A browser is closed with its module, because its event loop would keep tests of other modules from starting theirs.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from importlib.resources import as_file, files
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from credenda import Credenda
from tests.waiting import PATIENCE_SECONDS

from .rig import Server, launch, serve


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with the conversation that ships with the package, read; copy it before it is changed."""
    path = tmp_path_factory.mktemp("demo") / "demo.db"
    with (
        as_file(files("credenda") / "data" / "demo_conversation.jsonl") as conversation,
        Credenda.open(path, user="ana", workers=False) as memory,
    ):
        memory.data.import_(conversation, format="conversation")
        memory.settle(PATIENCE_SECONDS)
    return path


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A real browser."""
    with launch() as found:
        yield found


@pytest.fixture(scope="module")
def server(demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with a copy of the demo, of the module's own."""
    folder = tmp_path_factory.mktemp("server")
    copy = folder / "memory.db"
    shutil.copy(demo, copy)
    with serve(copy, folder) as found:
        yield found
