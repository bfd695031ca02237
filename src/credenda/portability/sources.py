"""The files of a folder or a zip, in a fixed order.

Nothing is unpacked to disk: names in a zip are only shown and matched, never used as paths.
"""

from __future__ import annotations

import stat
import zipfile
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from io import BufferedReader
from pathlib import Path, PurePosixPath
from typing import Any, Final, cast

from credenda import limits
from credenda.clock import from_datetime
from credenda.errors import Corrupt, CredendaError, Invalid, LimitExceeded
from credenda.paths import find_path_kind
from credenda.portability.line_reader import DAMAGED, Lines, Meter, Quota, make_unreadable_error, open_lines

_SIGNATURES: Final = (b"PK\x03\x04", b"PK\x05\x06")
_BUFFER_BYTES: Final = 1 << 16
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
            raise make_unreadable_error(path, error) from error
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
    with raw, BufferedReader(cast("Any", raw), _BUFFER_BYTES) as file:
        yield Lines(
            file,
            name,
            meter=meter,
            quota=quota,
            position=lambda unpacked: info.compress_size * min(unpacked, info.file_size) // max(1, info.file_size),
            modified_us=_read_modified_us(info),
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


def _read_modified_us(info: zipfile.ZipInfo) -> int | None:
    try:
        return from_datetime(datetime(*info.date_time, tzinfo=UTC))
    except ValueError:
        return None


def _make_too_many_error(name: str) -> CredendaError:
    return LimitExceeded(
        f"{name} holds more than {limits.IMPORT_FILES} files", fix="import its parts one after the other"
    )
