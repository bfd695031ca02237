"""SQLite's errors in our words: one clear error each, nothing lost."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from credenda.errors import Corrupt, CredendaError, Unavailable

__all__ = ["is_busy", "translate", "translated"]

_PRIMARY: Final = 0xFF
_BUSY: Final = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
_LOCK_FAILURES: Final = frozenset({
    sqlite3.SQLITE_IOERR_LOCK,
    sqlite3.SQLITE_IOERR_UNLOCK,
    sqlite3.SQLITE_IOERR_RDLOCK,
    sqlite3.SQLITE_IOERR_CHECKRESERVEDLOCK,
    sqlite3.SQLITE_IOERR_SHMLOCK,
    sqlite3.SQLITE_IOERR_SHMMAP,
    sqlite3.SQLITE_IOERR_SHMOPEN,
    sqlite3.SQLITE_PROTOCOL,
    sqlite3.SQLITE_NOLFS,
})


def _code(error: sqlite3.Error) -> int:
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)


def is_busy(error: sqlite3.Error) -> bool:
    """Say whether another connection merely holds the lock."""
    return _code(error) & _PRIMARY in _BUSY


def translate(error: sqlite3.Error, path: str) -> CredendaError:
    """Give the error of ours that a failed statement means."""
    code = _code(error)
    primary = code & _PRIMARY
    if code in _LOCK_FAILURES:
        return Unavailable(
            f"{path} cannot be locked",
            why="its file system does not lock files as a database needs, as network folders often do not",
            fix="put the file on a local disk, or use a Postgres target",
        )
    if primary in _BUSY:
        return Unavailable(
            f"{path} is busy",
            why="another process has held its write lock too long",
            fix="try again, and look for a process that keeps a transaction open",
        )
    if primary == sqlite3.SQLITE_FULL:
        return Unavailable(f"{path} cannot grow", why="the disk is full", fix="free some space and try again")
    if primary in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_AUTH):
        return Unavailable(
            f"{path} cannot be written or opened",
            why="the file or its folder is missing, read-only or not permitted",
            fix="check that the folder exists and its permissions, or open with --read-only",
        )
    if primary in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return Corrupt(
            f"{path} is not a sound database",
            why="SQLite finds it damaged, or it is another kind of file",
            fix="run `credenda doctor`, or restore a backup; nothing was changed",
        )
    if primary == sqlite3.SQLITE_IOERR:
        return Unavailable(
            f"{path} could not be read or written",
            why=f"the disk reported an error ({getattr(error, 'sqlite_errorname', 'I/O')})",
            fix="check the disk and try again; what was acknowledged is safe",
        )
    return Corrupt(
        f"{path} refused a statement",
        why=f"{type(error).__name__} {getattr(error, 'sqlite_errorname', '')}".strip(),
        fix="run `credenda doctor`; nothing was changed",
    )


@contextmanager
def translated(path: str) -> Iterator[None]:
    """Raise our error for any of SQLite's."""
    try:
        yield
    except sqlite3.Error as error:
        raise translate(error, path) from error
