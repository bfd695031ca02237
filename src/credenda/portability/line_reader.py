"""Read foreign files in bounded memory: line by line or in chunks, gzipped or not."""

from __future__ import annotations

import gzip
import lzma
import os
import stat
import zlib
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from io import BufferedReader, FileIO
from pathlib import Path
from typing import Any, Final, NamedTuple
from zipfile import BadZipFile

from credenda import limits
from credenda.errors import Corrupt, CredendaError, Invalid, LimitExceeded, NotFound
from credenda.paths import find_path_kind, make_file_error

__all__ = [
    "DAMAGED",
    "LINE_BYTES_MAX",
    "Line",
    "Lines",
    "Meter",
    "Progress",
    "Quota",
    "make_unreadable_error",
    "open_lines",
]

Progress = Callable[[int, int | None], None]
"""Called with the bytes read and the total (None if unknown)."""

LINE_BYTES_MAX: Final = limits.IMPORT_ITEM_BYTES
_BUFFER_BYTES: Final = 1 << 16
_PROGRESS_BYTES: Final = 1 << 20
_GZIP: Final = b"\x1f\x8b"
DAMAGED: Final = (OSError, EOFError, zlib.error, lzma.LZMAError, BadZipFile, NotImplementedError)
"""Errors of damaged compressed data; `zipfile` raises `NotImplementedError` for an unsupported compression
or encryption method."""


class Line(NamedTuple):
    """A line with its end, counted from 1; `data` is empty for a line that is too long."""

    number: int
    data: bytes
    too_long: bool = False


class Meter:
    """The progress of an import, over all its files."""

    def __init__(self, progress: Progress | None = None, total_bytes: int | None = None) -> None:
        """Bind a callback; without one, progress is not reported."""
        self._progress = progress
        self._total = total_bytes
        self._done = 0

    def tell(self, position: int) -> None:
        """Report the position in the current file."""
        if self._progress is not None:
            self._progress(self._done + position, self._total)

    def finish(self, size_bytes: int) -> None:
        """Count the current file as read."""
        self._done += size_bytes
        self.tell(0)


class Quota:
    """Limits how much compressed data may unpack to, against decompression bombs."""

    def __init__(self, name: str, packed_bytes: Callable[[], int]) -> None:
        """Set the limit from the number of compressed bytes."""
        self._name = name
        self._packed_bytes = packed_bytes
        self._unpacked = 0

    def take(self, count: int) -> None:
        """Count unpacked bytes; raise `LimitExceeded` above the limit."""
        self._unpacked += count
        if self._unpacked <= limits.UNPACKED_FREE_BYTES:
            return
        too_dense = self._unpacked > limits.UNPACKED_RATIO * self._packed_bytes()
        if too_dense or self._unpacked > limits.UNPACKED_BYTES:
            much = f"{limits.UNPACKED_RATIO} times its size" if too_dense else f"{limits.UNPACKED_BYTES >> 30} GiB"
            raise LimitExceeded(
                f"{self._name} unpacks to more than {much}",
                why="conversations do not, and such a file may be a decompression bomb",
                fix="unpack it yourself if you trust it, and import the result",
            )


class Lines:
    """The lines of an open file, read once; raises `Corrupt` or `LimitExceeded` for unreadable data."""

    def __init__(
        self,
        file: Any,  # noqa: ANN401 - a buffered file; the types of gzip and zip members agree in nothing but behaviour
        name: str,
        *,
        meter: Meter,
        quota: Quota | None = None,
        position: Callable[[int], int] | None = None,
        modified_us: int | None = None,
    ) -> None:
        """Read from `file`; `position` maps unpacked bytes to bytes of the file, for the meter."""
        self._file = file
        self._name = name
        self._meter = meter
        self._quota = quota
        self._position = position
        self._unpacked = 0
        self._told = 0
        self.number = 0
        self.modified_us = modified_us

    def head(self) -> bytes:
        """Return the first bytes of the file, without consuming them."""
        try:
            return self._file.peek(_BUFFER_BYTES)[:_BUFFER_BYTES]
        except DAMAGED as error:
            raise self._broken() from error

    def __iter__(self) -> Iterator[Line]:
        """Yield the remaining lines."""
        while data := self._line():
            self.number += 1
            if len(data) <= LINE_BYTES_MAX:
                yield Line(self.number, data)
                continue
            while data and not data.endswith(b"\n"):
                data = self._line()
            yield Line(self.number, b"", too_long=True)

    def read(self, size: int) -> bytes:
        """Return the next bytes, at most `size`; empty at the end."""
        try:
            data: bytes = self._file.read(size)
        except DAMAGED as error:
            raise self._broken() from error
        return self._counted(data)

    def _line(self) -> bytes:
        try:
            data: bytes = self._file.readline(LINE_BYTES_MAX + 1)
        except DAMAGED as error:
            raise self._broken() from error
        return self._counted(data)

    def _counted(self, data: bytes) -> bytes:
        self._unpacked += len(data)
        if self._quota is not None:
            self._quota.take(len(data))
        if self._unpacked - self._told >= _PROGRESS_BYTES:
            self._told = self._unpacked
            self._meter.tell(self._position(self._unpacked) if self._position else self._unpacked)
        return data

    def _broken(self) -> Corrupt:
        return Corrupt(
            f"{self._name} cannot be read after line {self.number}",
            why="its compressed data are damaged or truncated",
            fix="get an intact copy of the file",
            line=str(self.number + 1),
        )


@contextmanager
def open_lines(path: Path, progress: Progress | None = None, *, meter: Meter | None = None) -> Generator[Lines]:
    """Open a file for reading; raises `NotFound`, `Invalid` for a folder, or `Unavailable`."""
    if find_path_kind(path) == "folder":
        raise Invalid(f"{path} is a folder", fix="give a file")
    try:
        raw = BufferedReader(FileIO(path), _BUFFER_BYTES)
    except FileNotFoundError as error:
        raise NotFound(f"there is no file {path}", fix="check the path") from error
    except OSError as error:
        raise make_unreadable_error(path, error) from error
    with raw:
        status = os.fstat(raw.fileno())
        regular = stat.S_ISREG(status.st_mode)
        measured = meter or Meter(progress, status.st_size if regular else None)
        packed = raw.peek(2)[:2] == _GZIP
        lines = Lines(
            gzip.GzipFile(fileobj=raw) if packed else raw,
            path.name,
            meter=measured,
            quota=Quota(path.name, raw.tell) if packed else None,
            position=(lambda _: raw.tell()) if regular else None,
            modified_us=status.st_mtime_ns // 1_000 if regular else None,
        )
        yield lines
        if regular:
            measured.finish(status.st_size)


def make_unreadable_error(path: Path, error: OSError) -> CredendaError:
    """Convert an `OSError` on a path to `Unavailable`."""
    return make_file_error(path, error, "opened")
