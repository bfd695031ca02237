"""The file behind an open database: the file is recognised by device and inode, and a foreign log is set aside.

SQLite opens the write-ahead log by name. If another file takes the place of an open database, a connection goes on
writing to the file that is gone, and whoever opens the new file finds the log of the old one beside it: SQLite would
write that log into the new file. So a store compares the file before each use, and looks for a foreign log before it
connects.
"""

from __future__ import annotations

import logging
import os
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Final

from credenda.errors import Conflict, Unavailable
from credenda.paths import make_file_error

__all__ = ["OpenFile", "set_aside_foreign_log"]

_log: Final = logging.getLogger(__name__)
_MAGIC: Final = b"SQLite format 3\0"
_ROLLBACK: Final = b"\x01\x01"
"""Bytes 18 and 19 of a database without a write-ahead log. They change before the log gets its first byte."""
_VERSIONS: Final = slice(18, 20)
_REOPEN: Final = "close this memory and open it again"
_Key = tuple[int, int]
_opening: Final = Lock()
_open_files: Final[Counter[_Key]] = Counter()
"""The files that stores of this process have open, by device and inode."""


def _find_key(path: str) -> _Key | None:
    try:
        found = os.stat(path)  # noqa: PTH116 - each read and each commit calls it, and a Path costs as much again
    except (FileNotFoundError, NotADirectoryError):
        return None
    return found.st_dev, found.st_ino


class OpenFile:
    """The file of one store."""

    def __init__(self, path: str) -> None:
        """Bind to a path; nothing is opened."""
        self._path = path
        self._key: _Key | None = None

    @contextmanager
    def opened(self, *, read_only: bool) -> Generator[None]:
        """Set a foreign log aside, and recognise the file that the block connects to.

        Raises `Unavailable` if another file takes its place meanwhile, `Conflict` for a foreign log that cannot be set
        aside. The lock is needed because reading the first bytes of a file and closing it releases the locks that
        SQLite has on it in this process.
        """
        with _opening:
            before = self._find()
            if before not in _open_files:
                set_aside_foreign_log(self._path, read_only=read_only)
            yield
            self._key = self._find()
            if before is not None and self._key != before:
                raise self._make_error()
            if self._key is not None:
                _open_files[self._key] += 1

    def check(self) -> None:
        """Raise `Unavailable` if another file, or none, has the place of the one that was opened."""
        if self._find() != self._key:
            raise self._make_error()

    def _find(self) -> _Key | None:
        try:
            return _find_key(self._path)
        except OSError as error:
            raise make_file_error(self._path, error, "written or opened") from error

    def release(self) -> None:
        """Count the file as closed."""
        with _opening:
            key, self._key = self._key, None
            if key is not None:
                _open_files[key] -= 1
                if not _open_files[key]:
                    del _open_files[key]

    def _make_error(self) -> Unavailable:
        gone = self._find() is None
        return Unavailable(
            f"{self._path} was {'removed' if gone else 'replaced'} while it was open",
            why="the open database is no longer the file at this path, and what it wrote now would be lost",
            fix=f"{_REOPEN}; nothing was written",
        )


def set_aside_foreign_log(path: str, *, read_only: bool = False) -> None:
    """Rename a write-ahead log that cannot be that of the file at a path, and remove the index of that log.

    A log is foreign beside no database, an empty one, or one without a write-ahead log. Raises `Conflict` if it must
    stay. The order matters: a file that another process is just switching to a log gets its log last.
    """
    log, index = Path(f"{path}-wal"), Path(f"{path}-shm")
    try:
        if not (index.exists() or (log.exists() and log.stat().st_size)):
            return
        if not _is_without_log(path):
            return
        if read_only:
            raise OSError(0, "the memory was opened to be read only")  # noqa: TRY301 - told like any other reason
        index.unlink(missing_ok=True)
        if log.exists():
            log.rename(_find_free_name(log))
            _log.warning("the log of another database was set aside")
    except OSError as error:
        raise Conflict(
            f"{log} is the log of another database",
            why=f"it cannot be set aside: {make_file_error(log, error).why}",
            fix="close every program that has that database open, then move the log away",
        ) from error


def _is_without_log(path: str) -> bool:
    """Return whether a file is missing or empty, or a database in a mode without a write-ahead log."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - as above
            head = file.read(_VERSIONS.stop)
    except FileNotFoundError:
        return True
    return not head or (head.startswith(_MAGIC) and head[_VERSIONS] == _ROLLBACK)


def _find_free_name(log: Path) -> Path:
    number = 1
    while (place := Path(f"{log}.aside-{number}")).exists():
        number += 1
    return place
