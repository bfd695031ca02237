"""The schema of a next version, made up here: beside it, the files of today are older ones."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

import pytest

from credenda.storage.sqlite import migrate

OLD: Final = migrate.get_latest_version()
NEXT: Final = OLD + 1
MIGRATION: Final = (NEXT, "notes", "CREATE TABLE notes (user_id TEXT NOT NULL PRIMARY KEY, text TEXT) WITHOUT ROWID;")


@contextmanager
def upgraded() -> Generator[None]:
    """Let the code of this process be that of the next version."""
    known = (*migrate.load_migrations(), MIGRATION)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(migrate, "load_migrations", lambda: known)
        yield
