"""The files of a folder or a zip, in a fixed order.

Nothing is unpacked to disk: names in a zip are only shown and matched, never used as paths.
"""

from __future__ import annotations

import gzip
import lzma
import os
import re
import stat
import zipfile
import zlib
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from io import BufferedReader, FileIO
from pathlib import Path, PurePosixPath
from typing import Any, Final, NamedTuple, cast
from zipfile import BadZipFile

from credenda import limits
from credenda.clock import from_datetime
from credenda.errors import Corrupt, CredendaError, Invalid, LimitExceeded, NotFound
from credenda.paths import find_path_kind, make_file_error

# Read foreign files in bounded memory: line by line or in chunks, gzipped or not.


Progress = Callable[[int, int | None], None]
"""Called with the bytes read and the total (None if unknown)."""

LINE_BYTES_MAX: Final = limits.IMPORT_ITEM_BYTES
HEAD_BYTES: Final = 1 << 16
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
        return self._call(self._file.peek, HEAD_BYTES)[:HEAD_BYTES]

    def __iter__(self) -> Iterator[Line]:
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
        return self._count(self._call(self._file.read, size))

    def _line(self) -> bytes:
        return self._count(self._call(self._file.readline, LINE_BYTES_MAX + 1))

    def _call(self, read: Callable[[int], bytes], size: int) -> bytes:
        try:
            return read(size)
        except DAMAGED as error:
            raise Corrupt(
                f"{self._name} cannot be read after line {self.number}",
                why="its compressed data are damaged or truncated",
                fix="get an intact copy of the file",
                line=str(self.number + 1),
            ) from error

    def _count(self, data: bytes) -> bytes:
        self._unpacked += len(data)
        if self._quota is not None:
            self._quota.take(len(data))
        if self._unpacked - self._told >= _PROGRESS_BYTES:
            self._told = self._unpacked
            self._meter.tell(self._position(self._unpacked) if self._position else self._unpacked)
        return data


@contextmanager
def open_lines(path: Path, progress: Progress | None = None, *, meter: Meter | None = None) -> Generator[Lines]:
    """Open a file for reading; raises `NotFound`, `Invalid` for a folder, or `Unavailable`."""
    if find_path_kind(path) == "folder":
        raise Invalid(f"{path} is a folder", fix="give a file")
    try:
        raw = BufferedReader(FileIO(path), HEAD_BYTES)
    except FileNotFoundError as error:
        raise NotFound(f"there is no file {path}", fix="check the path") from error
    except OSError as error:
        raise make_file_error(path, error, "opened") from error
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


# Stream the items of a JSON array that may be larger than memory.


_CHUNK_BYTES: Final = 1 << 16
_PLAIN: Final = re.compile(rb'(?:[^"{}\[\]]++|"(?:[^"\\]++|\\.)*+")*+', re.DOTALL)
"""The text between two brackets, strings included; stops before a string that does not end in the buffer."""
_STRING: Final = re.compile(rb'(?:[^"\\]++|\\.)*+', re.DOTALL)
_KEY: Final = re.compile(rb'"([A-Za-z_]{1,64})"\s*:\s*$')
_BETWEEN: Final = b" \t\r\n,"
_OPENING: Final = frozenset(b"[{")
_BOM: Final = b"\xef\xbb\xbf"
_QUOTE: Final = ord('"')
_KEY_DEPTH: Final = 3
"""An array with a key is in the outermost object, or in an object there."""
_SHOWN_BYTES: Final = 200
"""The number of bytes to keep before a bracket: a key, or an item that is not an object."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Element:
    """An item of an array, counted from 1; `wrong` tells why it could not be read, and then `data` is empty."""

    number: int
    data: bytes = b""
    wrong: str = ""


def read_sections(lines: Lines, *keys: str) -> Iterator[tuple[str, Element]]:
    """Yield the items of all arrays under `keys`, each with its key; the key is "" if the file itself is an array.

    The arrays are in the object that is the file, or in an object in it. Items count from 1 in each array.
    """
    scan = _Scan(lines)
    depth, found = 0, False
    while True:
        key, depth = _enter_array(scan, keys, depth)
        if key is None:
            break
        found = True
        for element in _read_items(scan):
            yield key, element
        if scan.ended:
            return
        depth -= 1
    if not found:
        yield "", Element(number=1, wrong="the file contains no list of items")
    elif depth:
        yield "", Element(number=1, wrong="the file ends after its lists: it is truncated")


def _read_items(scan: _Scan) -> Iterator[Element]:
    """Read up to the end of the array that was just entered."""
    number = 0
    while True:
        between = scan.plain()
        if between.strip(_BETWEEN):
            number += 1
            yield Element(number=number, data=between.strip(_BETWEEN))
        sign = scan.bracket()
        if sign is None:
            scan.ended = True
            yield Element(number=number + 1, wrong="the file ends inside its list: it is truncated")
            return
        if sign not in _OPENING:
            return
        number += 1
        yield _read_item(scan, number)
        if scan.ended:
            return


def _enter_array(scan: _Scan, keys: tuple[str, ...], depth: int) -> tuple[str | None, int]:
    """Go to the first item of the next array; return its key, or None at the end of the file, and the depth."""
    while True:
        before = scan.plain()
        sign = scan.bracket()
        if sign is None:
            return None, depth
        if sign not in _OPENING:
            depth -= 1
            continue
        depth += 1
        if sign == ord("["):
            if depth == 1:
                return "", depth
            key = _KEY.search(before)
            if depth <= _KEY_DEPTH and key and key[1].decode() in keys:
                return key[1].decode(), depth


def _read_item(scan: _Scan, number: int) -> Element:
    """Read up to the bracket that closes the item whose opening bracket was just read."""
    scan.keep()
    depth = 1
    while depth:
        scan.plain()
        sign = scan.bracket()
        if sign is None:
            scan.release()
            return Element(number=number, wrong="the file ends inside it: it is truncated")
        depth += 1 if sign in _OPENING else -1
    data = scan.release()
    if data is None:
        return Element(number=number, wrong=f"it is larger than {limits.IMPORT_ITEM_BYTES} bytes")
    return Element(number=number, data=data)


class _Scan:
    """The position of the scan; buffers the current item, unless it grows too large."""

    def __init__(self, lines: Lines) -> None:
        self._lines = lines
        self._buffer = lines.read(_CHUNK_BYTES).removeprefix(_BOM)
        self._at = 0
        self._begun = 0
        self._start: int | None = None
        self._in_string = False
        self.ended = False

    def plain(self) -> bytes:
        """Go to the next bracket, or to the end, and return the last bytes before it."""
        self._begun = self._at
        while True:
            if self._in_string:
                # Continue in a string that did not end in the buffer.
                self._at = self._end(_STRING)
                if self._at < len(self._buffer) and self._buffer[self._at] == _QUOTE:
                    self._at, self._in_string = self._at + 1, False
            if not self._in_string:
                self._at = self._end(_PLAIN)
                if self._at < len(self._buffer) and self._buffer[self._at] != _QUOTE:
                    return self._buffer[max(self._begun, self._at - _SHOWN_BYTES) : self._at]
                if self._at < len(self._buffer):
                    self._at, self._in_string = self._at + 1, True
                    continue
            if not self._fill():
                self._at, self.ended = len(self._buffer), True
                return b""

    def bracket(self) -> int | None:
        """Read the bracket at this position; None at the end of the file."""
        if self._at >= len(self._buffer):
            return None
        self._at += 1
        return self._buffer[self._at - 1]

    def keep(self) -> None:
        """Buffer the input from the last bracket on."""
        self._start = self._at - 1

    def release(self) -> bytes | None:
        """Return the buffered bytes; None if there were too many."""
        start, self._start = self._start, None
        if start is None or self._at - start > limits.IMPORT_ITEM_BYTES:
            return None
        return self._buffer[start : self._at]

    def _end(self, expression: re.Pattern[bytes]) -> int:
        found = expression.match(self._buffer, self._at)
        return found.end() if found else self._at

    def _fill(self) -> bool:
        """Read on, as much again as is buffered, so that no byte is copied often."""
        if self._start is not None and len(self._buffer) - self._start > limits.IMPORT_ITEM_BYTES:
            self._start = None
        kept = max(self._begun, self._at - _SHOWN_BYTES) if self._start is None else self._start
        more = self._lines.read(max(_CHUNK_BYTES, len(self._buffer) - kept))
        self._buffer = self._buffer[kept:] + more
        self._at -= kept
        self._begun = max(0, self._begun - kept)
        self._start = None if self._start is None else 0
        return bool(more)


_SIGNATURES: Final = (b"PK\x03\x04", b"PK\x05\x06")
_ENCRYPTED: Final = 0x1
_FOREIGN: Final = "__MACOSX"


@dataclass(frozen=True, slots=True)
class Place:
    """The path of a file, and how to read the files around it, hidden ones too: empty if missing or unreadable."""

    path: PurePosixPath
    load: Callable[[PurePosixPath], bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One file of a folder or zip. `name` is its path inside; `size_bytes` is its share of the progress.

    A file in a zip has a `place` there.

    A link is an entry too, so that the report can name it, but opening it raises `Invalid`.
    """

    name: str
    path: Path
    size_bytes: int
    open: Callable[[Meter], AbstractContextManager[Lines]]
    link: bool = False
    place: Place | None = None


def is_zip(head: bytes) -> bool:
    """Return whether a file with this beginning is a zip."""
    return head.startswith(_SIGNATURES)


def list_folder(folder: Path) -> list[Entry]:
    """List all files and links below a folder, by name, without hidden ones; links are not followed."""
    entries: list[Entry] = []
    for path in _walk_files(folder):
        if len(entries) == limits.IMPORT_FILES:
            raise _make_too_many_error(folder.name)
        name = path.relative_to(folder).as_posix()
        linked = path.is_symlink()
        size = 0 if linked else _read_size(path)
        entries.append(Entry(name=name, path=path, size_bytes=size, open=_make_opener(path), link=linked))
    return entries


def _read_size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:  # removed meanwhile: opening it raises the error
        return 0


def _make_opener(path: Path) -> Callable[[Meter], AbstractContextManager[Lines]]:
    def open_file(meter: Meter) -> AbstractContextManager[Lines]:
        if path.is_symlink():
            raise Invalid(
                f"{path.name} is a link", why="it is a link, and links are not followed", fix="import its target"
            )
        return open_lines(path, meter=meter)

    return open_file


def _walk_files(folder: Path) -> Iterator[Path]:
    """Walk depth first, by name, without recursion, so that depth is unlimited."""
    waiting = [folder]
    while waiting:
        path = waiting.pop()
        if path != folder and path.is_symlink():
            yield path
            continue
        if path != folder and find_path_kind(path) != "folder":
            if find_path_kind(path) == "file":
                yield path
            continue
        try:
            found = sorted((one for one in path.iterdir() if not one.name.startswith(".")), reverse=True)
        except OSError as error:
            raise make_file_error(path, error, "opened") from error
        waiting += found


@contextmanager
def open_zip(path: Path) -> Generator[list[Entry]]:
    """Open a zip and list its files by name; raise `Corrupt` for a damaged or truncated one."""
    try:
        archive = zipfile.ZipFile(path)
    except (*DAMAGED, ValueError) as error:
        raise Corrupt(
            f"{path.name} cannot be read",
            why="its list of files is damaged or truncated",
            fix="get an intact copy of it",
        ) from error
    with archive:
        size = path.stat().st_size
        quota = Quota(path.name, lambda: size)
        infos = [info for info in archive.infolist() if _is_file(info)]
        if len(infos) > limits.IMPORT_FILES:
            raise _make_too_many_error(path.name)
        load = partial(
            _load_member, archive, {PurePosixPath(info.filename): info for info in archive.infolist()}, quota
        )
        yield [
            Entry(
                name=info.filename,
                path=path / PurePosixPath(info.filename).name,
                size_bytes=info.compress_size,
                open=partial(_open_member, archive, info, quota),
                place=Place(PurePosixPath(info.filename), load),
            )
            for info in sorted(infos, key=lambda info: (info.filename, info.header_offset))
        ]


def _is_file(info: zipfile.ZipInfo) -> bool:
    parts = PurePosixPath(info.filename).parts
    hidden = any(part.startswith(".") and part not in {".", ".."} for part in parts)
    linked = stat.S_ISLNK(info.external_attr >> 16)
    return not (info.is_dir() or hidden or linked or _FOREIGN in parts)


@contextmanager
def _open_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, quota: Quota, meter: Meter) -> Generator[Lines]:
    name = info.filename
    if info.flag_bits & _ENCRYPTED:
        raise Invalid(f"{name} is encrypted", fix="unpack the zip with its password, and import the result")
    try:
        raw = archive.open(info)
    except (*DAMAGED, RuntimeError, ValueError) as error:
        raise Corrupt(
            f"{name} cannot be read", why="its compressed data are damaged", fix="get an intact copy of the zip"
        ) from error
    with raw, BufferedReader(cast("Any", raw), HEAD_BYTES) as file:
        try:
            modified_us = from_datetime(datetime(*info.date_time, tzinfo=UTC))
        except ValueError:
            modified_us = None
        yield Lines(
            file,
            name,
            meter=meter,
            quota=quota,
            position=lambda unpacked: info.compress_size * min(unpacked, info.file_size) // max(1, info.file_size),
            modified_us=modified_us,
        )
        meter.finish(info.compress_size)


def _load_member(
    archive: zipfile.ZipFile, members: Mapping[PurePosixPath, zipfile.ZipInfo], quota: Quota, path: PurePosixPath
) -> bytes:
    try:
        with _open_member(archive, members[path], quota, Meter()) as lines:
            return lines.read(limits.IMPORT_ITEM_BYTES)
    except (KeyError, Corrupt, Invalid):
        return b""


def _make_too_many_error(name: str) -> CredendaError:
    return LimitExceeded(
        f"{name} holds more than {limits.IMPORT_FILES} files", fix="import its parts one after the other"
    )
