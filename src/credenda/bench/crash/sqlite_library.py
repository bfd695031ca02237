"""The SQLite library that the standard module `sqlite3` uses, and the C structures of its file layer.

The structures follow https://sqlite.org/c3ref/vfs.html and https://sqlite.org/c3ref/io_methods.html, version 3.
"""

from __future__ import annotations

import _sqlite3
import ctypes
import sqlite3
from collections.abc import Iterator
from ctypes import CFUNCTYPE, POINTER, Structure, c_char_p, c_int, c_int64, c_void_p
from pathlib import Path
from typing import ClassVar, Final

from credenda.errors import Unavailable

__all__ = ["Closed", "Deleted", "IoMethods", "Opened", "Synced", "Truncated", "Vfs", "Written", "find_library"]

_SYMBOL: Final = "sqlite3_vfs_register"
Opened = CFUNCTYPE(c_int, c_void_p, c_void_p, c_void_p, c_int, c_void_p)
Deleted = CFUNCTYPE(c_int, c_void_p, c_char_p, c_int)
Closed = CFUNCTYPE(c_int, c_void_p)
Written = CFUNCTYPE(c_int, c_void_p, c_void_p, c_int, c_int64)
Truncated = CFUNCTYPE(c_int, c_void_p, c_int64)
Synced = CFUNCTYPE(c_int, c_void_p, c_int)


class Vfs(Structure):
    """`sqlite3_vfs`: opens and deletes files. Functions that are only passed on have no type."""

    _fields_: ClassVar = [
        ("version", c_int),
        ("file_bytes", c_int),
        ("path_max", c_int),
        ("next", c_void_p),
        ("name", c_char_p),
        ("data", c_void_p),
        ("open", Opened),
        ("delete", Deleted),
        ("others", c_void_p * 14),
    ]


class IoMethods(Structure):
    """`sqlite3_io_methods`: reads, writes and locks one open file."""

    _fields_: ClassVar = [
        ("version", c_int),
        ("close", Closed),
        ("read", c_void_p),
        ("write", Written),
        ("truncate", Truncated),
        ("sync", Synced),
        ("others", c_void_p * 13),
    ]


def _iterate_candidates() -> Iterator[ctypes.CDLL]:
    """Open the libraries that may hold the SQLite in use: the extension module, its neighbours, the program itself."""
    place = getattr(_sqlite3, "__file__", None)
    if place is not None:
        yield ctypes.CDLL(place)  # also finds what a shared library exports that the module is linked with
        beside = Path(place).with_name("sqlite3.dll")  # Windows
        if beside.is_file():
            yield ctypes.CDLL(str(beside))
    yield ctypes.CDLL(None)


def find_library() -> ctypes.CDLL:
    """Return the SQLite library in use.

    Raises `Unavailable` where it hides its functions, as a Python with a private copy of SQLite may do.
    """
    for library in _iterate_candidates():
        if not hasattr(library, _SYMBOL):
            continue
        version = library.sqlite3_libversion
        version.restype = c_char_p
        if version().decode() == sqlite3.sqlite_version:
            library.sqlite3_vfs_find.restype = POINTER(Vfs)
            library.sqlite3_vfs_find.argtypes = [c_char_p]
            library.sqlite3_vfs_register.argtypes = [POINTER(Vfs), c_int]
            library.sqlite3_vfs_unregister.argtypes = [POINTER(Vfs)]
            return library
    raise Unavailable(
        "writes below SQLite cannot be recorded with this Python",
        why="its SQLite library does not export the functions of its file layer",
        fix="use a Python that is linked with a shared libsqlite3, such as that of a Linux distribution",
    )
