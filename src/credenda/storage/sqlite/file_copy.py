"""Copies of a whole database file: all of it or nothing at the target, safe on disk."""

from __future__ import annotations

import os
import sqlite3
import tempfile
import warnings
from collections.abc import Generator
from contextlib import closing, contextmanager, suppress
from itertools import count
from pathlib import Path

from credenda.paths import make_file_error
from credenda.storage.erasure_ledger import locate_ledger
from credenda.storage.sqlite.connection import connect, translate_errors


@contextmanager
def make_temporary_file(place: Path) -> Generator[Path]:
    """Create a temporary file beside the target and remove what remains of it at the end."""
    try:
        handle, name = tempfile.mkstemp(dir=place.parent, prefix=f".{place.name[:64]}.", suffix=".part")
    except OSError as error:
        raise make_file_error(place, error) from error
    os.close(handle)
    try:
        yield Path(name)
    finally:
        for ending in ("", "-wal", "-shm", "-journal"):
            Path(f"{name}{ending}").unlink(missing_ok=True)
        locate_ledger(name).unlink(missing_ok=True)


def copy_database(source: sqlite3.Connection, part: Path) -> None:
    """Copy a database in one step from one consistent view, without a log."""
    with closing(sqlite3.connect(part, isolation_level=None)) as copy:
        source.backup(copy)
        copy.execute("PRAGMA journal_mode = DELETE")


def keep_older_copy(path: str, version: int) -> Path:
    """Copy a file as its older schema version left it to a free name beside it, and return the copy.

    It says so; the caller, who has the write lock, upgrades the file. Raises `Unavailable` if it cannot be copied.
    """
    first = Path(f"{path}.schema-{version}")
    names = (first if number == 1 else Path(f"{first}-{number}") for number in count(1))
    place = next(name for name in names if not name.exists())
    with make_temporary_file(place) as part:
        with translate_errors(str(place)), closing(connect(path, query_only=True, create=False)) as reading:
            copy_database(reading, part)
        sync_and_replace(part, place)
    warnings.warn(
        f"{path} has schema version {version} and is upgraded; {place} keeps it as it was, and an older Credenda opens"
        " only that. Delete it when you do not go back",
        RuntimeWarning,
        stacklevel=2,
    )
    return place


def sync_and_replace(part: Path, place: Path) -> None:
    """Sync a file to disk and rename it to its target."""
    try:
        handle = os.open(part, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
        part.replace(place)
        with suppress(OSError):  # a system without folder handles
            folder = os.open(place.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
    except OSError as error:
        raise make_file_error(place, error) from error
