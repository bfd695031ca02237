"""Reading foreign files line by line: gzip'd or not, in bounded memory, whatever they hold."""

from __future__ import annotations

import gzip
import os
import stat
import zlib
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from io import BufferedReader, FileIO
from pathlib import Path
from typing import Final, NamedTuple

from credenda.errors import Corrupt, CredendaError, Invalid, LimitExceeded, NotFound, Unavailable

__all__ = ["LINE_BYTES_MAX", "Line", "Lines", "Progress", "open_lines", "unreadable"]

Progress = Callable[[int, int | None], None]
"""Told how many bytes of the file are read, and how many it has (None where that cannot be known)."""

LINE_BYTES_MAX: Final = 64 << 20
"""Longest line: a conversation is one line, and ten million tokens of talk are some 45 MB."""
UNPACKED_RATIO_MAX: Final = 200
"""Talk packs 3 to 20 times smaller; gzip itself can reach a thousand."""
UNPACKED_FREE_BYTES: Final = 64 << 20
"""What a small file may unpack to before the ratio is looked at."""
_BUFFER_BYTES: Final = 1 << 16
_PROGRESS_BYTES: Final = 1 << 20
_GZIP: Final = b"\x1f\x8b"


class Line(NamedTuple):
    """A line with its end, counted from 1; `data` is empty for one that is longer than may be read."""

    number: int
    data: bytes
    too_long: bool = False


class Lines:
    """The lines of an open file, to be read once; raises `Corrupt` or `LimitExceeded` where they cannot be."""

    def __init__(self, raw: BufferedReader[FileIO], path: Path, progress: Progress | None) -> None:
        """Take over an open file; a gzip'd one is recognised by its first bytes."""
        self._raw = raw
        self._path = path
        self._file = gzip.GzipFile(fileobj=raw) if raw.peek(2)[:2] == _GZIP else raw
        self._progress = progress
        self._unpacked = 0
        self._told = 0
        self.number = 0
        status = os.fstat(raw.fileno())
        regular = stat.S_ISREG(status.st_mode)
        self.total_bytes = status.st_size if regular else None
        self.modified_us = status.st_mtime_ns // 1_000 if regular else None

    def head(self) -> bytes:
        """Return what the file begins with, without reading on."""
        try:
            return self._file.peek(_BUFFER_BYTES)[:_BUFFER_BYTES]
        except (OSError, EOFError, zlib.error) as error:
            raise self._broken() from error

    def __iter__(self) -> Iterator[Line]:
        """Yield the lines that are left."""
        while True:
            data = self._read()
            if not data:
                self._tell(last=True)
                return
            self.number += 1
            if len(data) <= LINE_BYTES_MAX:
                yield Line(self.number, data)
                continue
            while data and not data.endswith(b"\n"):
                data = self._read()
            yield Line(self.number, b"", too_long=True)

    def _read(self) -> bytes:
        try:
            data = self._file.readline(LINE_BYTES_MAX + 1)
        except (OSError, EOFError, zlib.error) as error:
            raise self._broken() from error
        self._unpacked += len(data)
        if self._file is not self._raw:
            self._check_ratio()
        if self._unpacked - self._told >= _PROGRESS_BYTES:
            self._tell()
        return data

    def _check_ratio(self) -> None:
        if self._unpacked > UNPACKED_FREE_BYTES and self._unpacked > UNPACKED_RATIO_MAX * self._raw.tell():
            raise LimitExceeded(
                f"{self._path.name} unpacks to more than {UNPACKED_RATIO_MAX} times its size",
                why="files of talk do not, and such a file may be meant to fill the disk",
                fix="unpack it yourself if you trust it, and import the result",
            )

    def _tell(self, *, last: bool = False) -> None:
        self._told = self._unpacked
        if self._progress is not None and self.total_bytes is not None:
            self._progress(self.total_bytes if last else self._raw.tell(), self.total_bytes)
        elif self._progress is not None:
            self._progress(self._unpacked, None)

    def _broken(self) -> Corrupt:
        return Corrupt(
            f"{self._path.name} cannot be read after line {self.number}",
            why="its compressed data are damaged or cut off",
            fix="get an intact copy of the file",
            line=str(self.number + 1),
        )


@contextmanager
def open_lines(path: Path, progress: Progress | None = None) -> Generator[Lines]:
    """Open a file for reading; raises `NotFound`, `Invalid` for a folder, or `Unavailable`."""
    if path.is_dir():
        raise Invalid(f"{path} is a folder", fix="give a file; to read many, import them one by one")
    try:
        raw = BufferedReader(FileIO(path), _BUFFER_BYTES)
    except FileNotFoundError as error:
        raise NotFound(f"there is no file {path}", fix="check the path") from error
    except OSError as error:
        raise unreadable(path, error) from error
    with raw:
        yield Lines(raw, path, progress)


def unreadable(path: Path, error: OSError) -> CredendaError:
    """Translate an error of the file system."""
    return Unavailable(
        f"{path} cannot be opened", why=error.strerror or type(error).__name__, fix="check its permissions"
    )
