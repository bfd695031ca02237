"""A SQLite connection that dies at a chosen statement, and the files as they lay on the disk at that moment."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

SUFFIXES = ("", "-wal", ".erasures")
"""The database, its log, and the ledger of who was erased from it."""


class Fuse:
    """Counts the statements of all connections; when it has burned down nothing works any more."""

    def __init__(self) -> None:
        self.left: int | None = None
        self.path: Path | None = None
        self.image: Path | None = None
        self.asleep = False

    @contextmanager
    def wet(self) -> Generator[None]:
        """Look at the files without burning."""
        asleep, self.asleep = self.asleep, True
        try:
            yield
        finally:
            self.asleep = asleep

    @property
    def lit(self) -> bool:
        return self.left is not None

    @property
    def blown(self) -> bool:
        return self.left == 0

    def light(self, statements: int, path: Path, image: Path) -> None:
        """Die before the n-th statement from now on, and keep the files as they are then."""
        self.left, self.path, self.image = statements, path, image

    def snuff(self) -> None:
        self.left = None

    def burn(self) -> None:
        if self.left is None or self.asleep:
            return
        if self.left > 0:
            self.left -= 1
            if self.left == 0:
                self._keep()
        if self.left == 0:
            error = sqlite3.OperationalError("disk I/O error")
            error.sqlite_errorcode = sqlite3.SQLITE_IOERR
            error.sqlite_errorname = "SQLITE_IOERR"
            raise error

    def _keep(self) -> None:
        assert self.path is not None
        assert self.image is not None
        for suffix in SUFFIXES:
            source = Path(f"{self.path}{suffix}")
            if source.exists():
                shutil.copy(source, f"{self.image}{suffix}")


FUSE = Fuse()


class Fragile(sqlite3.Connection):
    """A connection under the fuse."""

    def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:  # noqa: ANN401 - as sqlite3 has it
        FUSE.burn()
        return super().execute(sql, parameters)


_connect = sqlite3.connect


def connect(path: str, **named: Any) -> sqlite3.Connection:  # noqa: ANN401 - as sqlite3 has it
    """Stand in for `sqlite3.connect`."""
    return _connect(path, factory=Fragile, **named)
