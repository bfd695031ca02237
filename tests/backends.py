"""Run tests of the whole product on another backend: whatever opens a file then opens a Postgres database instead.

`CREDENDA_TEST_BACKEND=postgres` does so for every test that is selected; see `ON_BOTH` in `tests/flows/conftest.py` for
those that the suite runs on both. A file keeps its database for one test, so that it can be opened again, by several
stores, and for several users. Tests about the file itself have the marker `sqlite_file` and stay on SQLite.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

from credenda import bootstrap
from credenda.clock import Clock
from credenda.storage.store import Store

from .postgres_server import Database, get_server

__all__ = ["CHOSEN", "open_databases"]

CHOSEN: Final = os.environ.get("CREDENDA_TEST_BACKEND", "sqlite")
"""The backend of the tests that do not say on which they run."""


@contextmanager
def open_databases(patch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let `bootstrap.open_store` open a database in the place of a file, until the block ends."""
    lent: dict[str, Database] = {}
    open_store = bootstrap.open_store

    def open_instead(
        target: str | Path | None, *, clock: Clock | None = None, read_only: bool = False, key: bytes = b""
    ) -> Store:
        place = bootstrap.resolve_target(target)
        if "://" not in place:
            name = str(Path(place).absolute())
            if name not in lent:
                lent[name] = get_server().lend()
            place = lent[name].url()
        return open_store(place, clock=clock, read_only=read_only, key=key)

    patch.setattr(bootstrap, "open_store", open_instead)
    try:
        yield
    finally:
        for database in lent.values():
            get_server().take_back(database)
