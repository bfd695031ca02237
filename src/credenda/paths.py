"""Validation and inspection of paths from callers, with our own errors only."""

from __future__ import annotations

import errno
import logging
import os
import stat
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Final, Literal, cast

from credenda.errors import Invalid, Unavailable

_LOG: Final = logging.getLogger(__name__)
_warned: Final[set[str]] = set()
_FILE_MODE: Final = 0o600
_FOLDER_MODE: Final = 0o700
_OTHERS: Final = 0o077
_OTHERS_WRITE: Final = 0o022
_COMPANIONS: Final = ("", "-wal", "-shm", "-journal", ".erasures")
_MEANINGS: Final = {
    errno.ENOSPC: ("the disk is full", "free some space and try again"),
    errno.EDQUOT: ("your disk quota is used up", "free some space and try again"),
    errno.EFBIG: ("the file would be larger than the system allows", "raise the limit, or choose another disk"),
    errno.EROFS: ("the disk is mounted read-only", "choose a path on a disk that can be written"),
    errno.EACCES: ("permission was denied", "check the permissions of the file and of its folder"),
    errno.EPERM: ("the system does not permit it", "check the permissions of the file and of its folder"),
    errno.ENAMETOOLONG: ("its name is too long", "choose a shorter name"),
    errno.ENOENT: ("no such file or folder exists", "check the path, and create the folder first"),
    errno.ENOTDIR: ("a part of its path is a file, not a folder", "check the path"),
    errno.EISDIR: ("it is a folder", "give the name of a file"),
    errno.ELOOP: ("its links lead in a circle", "check the path"),
    errno.EMFILE: ("too many files are open", "close some, or raise the limit with `ulimit -n`"),
    errno.ENFILE: ("too many files are open", "close some programs"),
    errno.EIO: ("the disk reported an error", "check the disk and try again"),
}
"""The reason and the remedy for the errors that a file commonly meets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Folders:
    """The settings folders of the user's programs; `system` is Python's name of the platform."""

    home: Path
    config: Path
    app_data: Path | None
    codex: Path | None
    system: str
    claude: Path | None = None


def make_file_error(path: object, error: OSError, what: str = "written") -> Unavailable:
    """Build our error for a file that cannot be `what`, from the error of the system."""
    why, fix = _MEANINGS.get(error.errno or 0, (error.strerror or type(error).__name__, "check the path and try again"))
    return Unavailable(f"{path} cannot be {what}", why=why, fix=fix)


def find_obstacle(path: str) -> OSError | None:
    """Return the reason why a file cannot be written, as far as the system shows it; None without one."""
    if not hasattr(os, "statvfs"):  # another system than POSIX
        return None
    folder = os.path.dirname(path) or "."  # noqa: PTH120 - a Path drops the trailing slash
    try:
        found = os.stat(path if os.path.lexists(path) else folder)  # noqa: PTH116 - as above
        room = os.statvfs(folder)
    except OSError as error:
        return error
    if os.path.lexists(path) and stat.S_ISDIR(found.st_mode):
        return IsADirectoryError(errno.EISDIR, "")
    if room.f_flag & os.ST_RDONLY:
        return OSError(errno.EROFS, "")
    if room.f_blocks and not room.f_bavail:
        return OSError(errno.ENOSPC, "")
    places = (folder, path) if os.path.lexists(path) else (folder,)
    return None if all(os.access(one, os.W_OK) for one in places) else PermissionError(errno.EACCES, "")


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
        raise make_file_error(path, error, "opened") from error
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
