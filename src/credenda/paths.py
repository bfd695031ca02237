"""Validation and inspection of paths from callers, with our own errors only."""

from __future__ import annotations

import logging
import os
import stat
from os import PathLike
from pathlib import Path
from typing import Final, Literal, cast

from credenda.errors import Invalid, Unavailable

__all__ = [
    "check_path",
    "close_open_files",
    "create_file",
    "create_folder",
    "find_open_paths",
    "find_path_kind",
    "warn_about_open_paths",
]

_LOG: Final = logging.getLogger(__name__)
_warned: Final[set[str]] = set()
_FILE_MODE: Final = 0o600
_FOLDER_MODE: Final = 0o700
_OTHERS: Final = 0o077
_OTHERS_WRITE: Final = 0o022
_COMPANIONS: Final = ("", "-wal", "-shm", "-journal", ".erasures")


def check_path(path: object) -> Path:
    """Check that a value can name a file or folder, without accessing it; raises `Invalid` otherwise."""
    given = os.fspath(cast("PathLike[str]", path)) if isinstance(path, PathLike) else path
    if not isinstance(given, str):
        kind = type(cast("object", path)).__name__
        raise Invalid("a path must be text", why=f"it is a {kind}", fix="give a string or a Path")
    if not given.strip():
        raise Invalid("no file or folder is named", why="the path is empty", fix="give its path")
    try:
        usable = b"\x00" not in os.fsencode(given)
    except UnicodeEncodeError:
        usable = False
    if not usable:
        raise Invalid(f"{given!r} is not a path", why="no file can have that name", fix="check the path")
    return Path(given)


def find_path_kind(path: str | Path) -> Literal["file", "folder", "other"] | None:
    """Return the kind of file at a path, links followed; None for nothing. Raises `Unavailable` if inaccessible."""
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116 - on a text or a Path alike
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise Unavailable(f"{path} cannot be opened", why=why, fix="check the path and its permissions") from error
    if stat.S_ISDIR(mode):
        return "folder"
    return "file" if stat.S_ISREG(mode) else "other"


def create_folder(path: str | Path) -> None:
    """Create a folder and its missing parents for their owner only; an existing folder stays as it is."""
    folder = Path(path)
    missing = [one for one in (folder, *folder.parents) if not one.exists()]
    for one in reversed(missing):
        one.mkdir(mode=_FOLDER_MODE, exist_ok=True)
    if not folder.is_dir():
        folder.mkdir(mode=_FOLDER_MODE, exist_ok=True)


def create_file(path: str | Path) -> None:
    """Create an empty file for its owner only; an existing file stays as it is.

    The file is not opened where the system allows that: closing it would drop locks that SQLite holds on it.
    """
    place = Path(path)
    if os.name == "nt" or place.exists():
        return
    try:
        os.mknod(place, stat.S_IFREG | _FILE_MODE)
    except FileExistsError:
        return
    except OSError:  # only root may do this on some systems
        try:
            os.close(os.open(place, os.O_CREAT | os.O_EXCL | os.O_WRONLY, _FILE_MODE))
        except FileExistsError:
            return


def find_open_paths(database: str | Path) -> list[Path]:
    """Return the files of a database that other users may read or write, and its folder if others may write to it.

    A folder with the sticky bit, such as /tmp, does not count. Returns nothing on Windows.
    """
    if os.name == "nt":
        return []
    files = [Path(f"{database}{end}") for end in _COMPANIONS]
    found = [one for one in files if _read_mode(one) & _OTHERS]
    folder = Path(database).absolute().parent
    mode = _read_mode(folder)
    return [*found, *([folder] if mode & _OTHERS_WRITE and not mode & stat.S_ISVTX else [])]


def warn_about_open_paths(database: str | Path) -> None:
    """Log once for each database which of its files other users may read or write."""
    name = str(database)
    if name in _warned:
        return
    _warned.add(name)
    if found := find_open_paths(database):
        _LOG.warning(
            "other users of this computer can read or change the memory: %s; `credenda doctor --repair` closes files",
            ", ".join(map(str, found)),
        )


def close_open_files(database: str | Path) -> None:
    """Take the permissions of other users from the files of a database; its folder stays as it is."""
    folder = Path(database).absolute().parent
    for one in find_open_paths(database):
        if one != folder:
            one.chmod(_FILE_MODE)


def _read_mode(path: Path) -> int:
    try:
        return stat.S_IMODE(path.stat().st_mode)
    except OSError:
        return 0
