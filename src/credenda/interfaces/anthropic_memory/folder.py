"""A folder on disk, accessed by open handles, so that no name or link can lead outside.

Every step opens the next folder relative to the open one and refuses links, so that replacing a folder by a link during
an access has no effect. Files are written atomically. A lock allows one command at a time to change the folder, across
processes.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import shutil
import stat
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from credenda import limits
from credenda.errors import Invalid, Unavailable
from credenda.ids import draw_key
from credenda.interfaces.anthropic_memory.paths import Refused, fold
from credenda.paths import create_folder

try:
    import fcntl
except ImportError:  # such a system has no folder handles either, and is refused below
    fcntl = None

__all__ = ["Folder", "Item", "Kind"]

_STATE: Final = ".credenda"
_LOCK: Final = "pages.lock"
_PART: Final = re.compile(r"\.[0-9a-f]{64}\.part")
_FOLDER_MODE: Final = 0o700
_FILE_MODE: Final = 0o600
_NOFOLLOW: Final = getattr(os, "O_NOFOLLOW", 0)
_NONBLOCK: Final = getattr(os, "O_NONBLOCK", 0)
_OPEN_FOLDER: Final = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | _NOFOLLOW
_LINK: Final = frozenset({errno.ELOOP, errno.EMLINK})
Names = Sequence[str]


class Kind(NamedTuple):
    """The kind of a path; all fields are False when nothing is there, or neither a file nor a folder."""

    folder: bool = False
    file: bool = False
    size: int = 0
    other: bool = False


class Item(NamedTuple):
    """One name in a folder."""

    name: str
    kind: Kind


class Folder:
    """A folder of pages."""

    def __init__(self, root: str | Path) -> None:
        """Open a folder; create it if it does not exist.

        Raises `Invalid` for a path that is not a folder, `Unavailable` where the system cannot refuse links safely.
        """
        if fcntl is None or os.open not in os.supports_dir_fd or not _NOFOLLOW:
            raise Unavailable("pages need a POSIX system", why="links cannot be refused safely here")
        self.root = Path(root).expanduser()
        if self.root.exists() and not self.root.is_dir():
            raise Invalid(f"{root} is not a folder", fix="give a folder; it is created if it does not exist")
        try:
            create_folder(self.root)
            self.root = self.root.resolve()
            (self.root / _STATE).mkdir(mode=_FOLDER_MODE, exist_ok=True)
        except OSError as error:
            raise Unavailable(f"cannot use {root}", why=error.strerror or "", fix="check the folder") from error

    @contextmanager
    def locked(self) -> Generator[None]:
        """Hold the lock of the folder, which excludes commands of this and other processes."""
        with self._open((_STATE,)) as state:
            handle = os.open(_LOCK, os.O_RDWR | os.O_CREAT | _NOFOLLOW, _FILE_MODE, dir_fd=state)
            try:
                if fcntl is not None:
                    fcntl.flock(handle, fcntl.LOCK_EX)
                yield
            finally:
                os.close(handle)

    @contextmanager
    def _open(self, names: Names, *, make: bool = False) -> Generator[int]:
        """Open the folder at the end of these names; raise `Refused` if a link or a file is on the way."""
        handle = os.open(self.root, _OPEN_FOLDER)
        try:
            for name in names:
                if make:
                    with contextlib.suppress(FileExistsError):
                        os.mkdir(name, _FOLDER_MODE, dir_fd=handle)
                following = os.open(name, _OPEN_FOLDER, dir_fd=handle)
                os.close(handle)
                handle = following
            yield handle
        finally:
            os.close(handle)

    @contextmanager
    def _beside(self, names: Names, *, make: bool = False) -> Generator[tuple[int, str]]:
        """Open the parent folder of a path, and return it with the last name."""
        try:
            with self._open(names[:-1], make=make) as handle:
                yield handle, names[-1]
        except OSError as error:
            raise _make_refusal(error, names) from error

    def kind(self, names: Names) -> Kind:
        """Return the kind of a path; refuse a link."""
        if not names:
            return Kind(folder=True, size=self.root.lstat().st_size)
        try:
            with self._open(names[:-1]) as handle:
                return _find_kind(os.lstat(names[-1], dir_fd=handle), names)
        except (FileNotFoundError, NotADirectoryError):
            return Kind()
        except OSError as error:
            raise _make_refusal(error, names) from error

    def items(self, names: Names) -> list[Item]:
        """List a folder by name, without links and hidden files."""
        found: list[Item] = []
        try:
            with self._open(names) as handle, os.scandir(handle) as inside:
                for entry in inside:
                    if not entry.name.startswith(".") and not entry.is_symlink():
                        with contextlib.suppress(OSError):
                            found.append(Item(entry.name, _find_kind(entry.stat(follow_symlinks=False), ())))
        except OSError:
            return []
        return sorted(found)

    def read(self, names: Names) -> str:
        """Read a page; raise `Refused` if it is not text or too large."""
        path = _join_path(names)
        with self._beside(names) as (folder, name):
            handle = os.open(name, os.O_RDONLY | _NOFOLLOW | _NONBLOCK, dir_fd=folder)
            try:
                if not stat.S_ISREG(os.fstat(handle).st_mode):
                    raise Refused(f"Unsupported file type for {path}")
                data = _read(handle)
            finally:
                os.close(handle)
        if len(data) > limits.PAGE_BYTES:
            raise Refused(f"File {path} exceeds maximum size of {limits.PAGE_BYTES:,} bytes.")
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise Refused(f"path {path!r} is not valid utf-8") from error

    def write(self, names: Names, text: str, *, new: bool = False, bytes_max: int = limits.PAGE_BYTES) -> bool:
        """Write a page atomically; with `new`, return False if the page exists.

        Raises `Refused` for a page that is too large, or a folder that is full.
        """
        data = encode_text(text)
        if len(data) > bytes_max:
            raise Refused(f"File {_join_path(names)} exceeds maximum size of {bytes_max:,} bytes.")
        with self._beside(names, make=new) as (folder, name):
            if new and len(_list_names(folder)) >= limits.PAGES_IN_FOLDER:
                raise Refused(f"The folder of {_join_path(names)} holds {limits.PAGES_IN_FOLDER:,} pages already")
            if new and fold(name) in {fold(other) for other in _list_names(folder)}:
                return False
            _remove_leftovers(folder)
            beside = f".{draw_key().hex()}.part"
            try:
                _write_new(folder, beside, data)
                if new:
                    os.link(beside, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
                else:
                    os.replace(beside, name, src_dir_fd=folder, dst_dir_fd=folder)
            except FileExistsError:
                return False
            finally:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(beside, dir_fd=folder)
            os.fsync(folder)
        return True

    def remove(self, names: Names) -> None:
        """Remove a page, or a folder with its contents; links inside are removed, never followed."""
        with self._beside(names) as (folder, name):
            if stat.S_ISDIR(os.lstat(name, dir_fd=folder).st_mode):
                shutil.rmtree(name, dir_fd=folder)
            else:
                os.unlink(name, dir_fd=folder)
            os.fsync(folder)

    def move(self, old: Names, new: Names) -> bool:
        """Rename a page or folder; return False if the new name exists."""
        with self._beside(old) as (source, name), self._beside(new, make=True) as (target, other):
            if fold(other) in {fold(one) for one in _list_names(target)}:
                return False
            os.rename(name, other, src_dir_fd=source, dst_dir_fd=target)
            os.fsync(target)
        return True

    def load_state(self, name: str) -> str:
        """Read a state file of the folder; "" if there is none."""
        with self._open((_STATE,)) as folder:
            try:
                handle = os.open(name, os.O_RDONLY | _NOFOLLOW, dir_fd=folder)
            except OSError:
                return ""
            try:
                return _read(handle, limits.PAGE_STATE_BYTES).decode("utf-8", "replace")
            finally:
                os.close(handle)

    def save_state(self, name: str, text: str) -> None:
        """Write a state file of the folder."""
        self.write((_STATE, name), text, bytes_max=limits.PAGE_STATE_BYTES)


def encode_text(text: str) -> bytes:
    """Encode a text as UTF-8; raise `Refused` for lone surrogates."""
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise Refused("The text is not valid utf-8") from error


def _write_new(folder: int, name: str, data: bytes) -> None:
    handle = os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY | _NOFOLLOW, _FILE_MODE, dir_fd=folder)
    try:
        left = memoryview(data)
        while left:
            left = left[os.write(handle, left) :]
        os.fsync(handle)
    finally:
        os.close(handle)


def _read(handle: int, bytes_max: int = limits.PAGE_BYTES) -> bytes:
    """Read a file, at most one byte more than its allowed size."""
    pieces: list[bytes] = []
    left = bytes_max + 1
    while left > 0 and (piece := os.read(handle, left)):
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)


def _remove_leftovers(folder: int) -> None:
    """Remove temporary files of killed writers; the caller has locked the folder, so no other writer is active."""
    for name in filter(_PART.fullmatch, _list_names(folder)):
        os.unlink(name, dir_fd=folder)


def _list_names(folder: int) -> list[str]:
    with os.scandir(folder) as inside:
        return [entry.name for entry in inside]


def _find_kind(found: os.stat_result, names: Names) -> Kind:
    if stat.S_ISLNK(found.st_mode):
        raise Refused(f"Path {_join_path(names)} would escape /memories directory via symlink")
    if stat.S_ISDIR(found.st_mode):
        return Kind(folder=True, size=found.st_size)
    return Kind(file=True, size=found.st_size) if stat.S_ISREG(found.st_mode) else Kind(other=True)


def _make_refusal(error: OSError, names: Names) -> Refused:
    path = _join_path(names)
    if error.errno in _LINK:
        return Refused(f"Path {path} would escape /memories directory via symlink")
    if isinstance(error, FileNotFoundError):
        return Refused(f"The path {path} does not exist")
    if isinstance(error, NotADirectoryError):
        return Refused(f"The path {path} leads through a file or a link")
    return Refused(f"{path} cannot be used: {error.strerror or type(error).__name__}")


def _join_path(names: Names) -> str:
    return "/".join(["/memories", *names])
