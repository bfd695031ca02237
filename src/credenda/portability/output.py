"""Writing a file whole or not at all."""

from __future__ import annotations

import gzip
import os
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final, cast

from credenda.errors import Invalid, Unavailable

__all__ = ["whole_file"]

_BUFFER_BYTES: Final = 1 << 18


@contextmanager
def whole_file(path: Path) -> Generator[IO[bytes]]:
    """Write beside `path` and put the result in its place once it is complete and on disk; `.gz` is compressed.

    A file that was there is replaced; only its owner may read the new one. When anything fails, the place is as it was.
    The same bytes always give the same file: the compressed form names no time and no file.
    """
    if path.exists() and not path.is_file():
        raise Invalid(f"{path} is not a file", why="a folder or device is never overwritten", fix="give a file name")
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:64]}.", suffix=".part")
    except OSError as error:
        raise _unwritable(path, error) from error
    try:
        with os.fdopen(handle, "wb", buffering=_BUFFER_BYTES) as raw:
            with _compressed(raw, path) as file:
                yield file
            raw.flush()
            os.fsync(raw.fileno())
        Path(name).replace(path)
        _sync_folder(path.parent)
    except OSError as error:
        raise _unwritable(path, error) from error
    finally:
        Path(name).unlink(missing_ok=True)


@contextmanager
def _compressed(raw: IO[bytes], path: Path) -> Generator[IO[bytes]]:
    if path.suffix.casefold() != ".gz":
        yield raw
        return
    with gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0, compresslevel=6) as packed:
        yield cast("IO[bytes]", packed)


def _sync_folder(folder: Path) -> None:
    """Make the new name durable where the system lets folders be synced."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:  # a system without folder handles: the rename is as durable as it makes it
        return
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _unwritable(path: Path, error: OSError) -> Unavailable:
    return Unavailable(
        f"{path} cannot be written",
        why=error.strerror or type(error).__name__,
        fix="check that its folder exists, is writable and has room",
    )
