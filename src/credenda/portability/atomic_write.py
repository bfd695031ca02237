"""Write a file atomically."""

from __future__ import annotations

import gzip
import os
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final, cast

from credenda.errors import Conflict, Invalid
from credenda.paths import make_file_error

_BUFFER_BYTES: Final = 1 << 18
_DATABASE: Final = b"SQLite format 3\0"
"""The first bytes of every SQLite database."""
_COMPANIONS: Final = ("-wal", "-shm", "-journal", ".erasures")
"""Suffixes of the files that belong to a database."""


@contextmanager
def replace_file(path: Path) -> Generator[IO[bytes]]:
    """Write a temporary file beside `path`, and rename it when it is complete and on disk; `.gz` is compressed.

    An existing file is replaced; only its owner may read the new one. On an error `path` stays unchanged. Equal bytes
    give equal files: the compressed form contains no time or name. Raises `Invalid` for a folder or device, `Conflict`
    for a database or a file that belongs to one.
    """
    try:
        # Refuse to overwrite a database, above all the one being exported.
        if path.exists() and not path.is_file():
            raise Invalid(
                f"{path} is not a file", why="a folder or device is never overwritten", fix="give a file name"
            )
        owners = [Path(str(path).removesuffix(end)) for end in _COMPANIONS if path.name.endswith(end)]
        if any(map(_is_database, [path, *owners])):
            why = "a database and its files are never overwritten"
            raise Conflict(f"{path} is part of a database", why=why, fix="give another file name")
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:64]}.", suffix=".part")
    except OSError as error:
        raise make_file_error(path, error) from error
    try:
        with os.fdopen(handle, "wb", buffering=_BUFFER_BYTES) as raw:
            with _compress(raw, path) as file:
                yield file
            raw.flush()
            os.fsync(raw.fileno())
        Path(name).replace(path)
        _sync_folder(path.parent)
    except OSError as error:
        raise make_file_error(path, error) from error
    finally:
        Path(name).unlink(missing_ok=True)


def _is_database(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(_DATABASE)) == _DATABASE


@contextmanager
def _compress(raw: IO[bytes], path: Path) -> Generator[IO[bytes]]:
    if path.suffix.casefold() != ".gz":
        yield raw
        return
    with gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0, compresslevel=6) as packed:
        yield cast("IO[bytes]", packed)


def _sync_folder(folder: Path) -> None:
    """Sync the folder to make the new name durable, where the system supports that."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:  # a system without folder handles
        return
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
