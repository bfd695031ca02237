"""Validation and inspection of paths from callers, with our own errors only."""

from __future__ import annotations

import os
import stat
from os import PathLike
from pathlib import Path
from typing import Literal, cast

from credenda.errors import Invalid, Unavailable

__all__ = ["check_path", "find_path_kind"]


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
