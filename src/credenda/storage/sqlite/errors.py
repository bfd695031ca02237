"""Mapping of SQLite errors to Credenda errors."""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final, NamedTuple

from credenda.errors import Conflict, Corrupt, CredendaError, Unavailable
from credenda.paths import find_obstacle, make_file_error
from credenda.storage.damage import SAVE_THE_REST

__all__ = ["is_busy", "to_credenda_error", "translate_errors"]

_PRIMARY: Final = 0xFF
_BUSY: Final = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})


class _ErrorMapping(NamedTuple):
    """The error for a family of result codes; `{path}` and `{name}` (of the code) are filled in."""

    codes: frozenset[int]
    error: type[CredendaError]
    what: str
    why: str
    fix: str


_LOCKS: Final = _ErrorMapping(
    frozenset(
        {
            sqlite3.SQLITE_IOERR_LOCK,
            sqlite3.SQLITE_IOERR_UNLOCK,
            sqlite3.SQLITE_IOERR_RDLOCK,
            sqlite3.SQLITE_IOERR_CHECKRESERVEDLOCK,
            sqlite3.SQLITE_IOERR_SHMLOCK,
            sqlite3.SQLITE_IOERR_SHMMAP,
            sqlite3.SQLITE_IOERR_SHMOPEN,
            sqlite3.SQLITE_PROTOCOL,
            sqlite3.SQLITE_NOLFS,
        }
    ),
    Unavailable,
    "{path} cannot be locked",
    "its file system does not lock files as a database needs, as network folders often do not",
    "put the file on a local disk",
)
_FAMILIES: Final = (
    _ErrorMapping(
        _BUSY,
        Unavailable,
        "{path} is busy",
        "another process has held its write lock too long",
        "try again, and look for a process that keeps a transaction open",
    ),
    _ErrorMapping(
        frozenset({sqlite3.SQLITE_FULL}),
        Unavailable,
        "{path} cannot grow",
        "the disk is full",
        "free some space and try again",
    ),
    _ErrorMapping(
        frozenset({sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_AUTH}),
        Unavailable,
        "{path} cannot be written or opened",
        "the file or its folder is missing, read-only or not permitted",
        "check that the folder exists and its permissions, or open with --read-only",
    ),
    _ErrorMapping(
        frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}),
        Corrupt,
        "{path} is not a sound database",
        "SQLite finds it damaged, or it is another kind of file",
        f"run `credenda doctor`; then {SAVE_THE_REST}; nothing was changed",
    ),
    _ErrorMapping(
        frozenset({sqlite3.SQLITE_IOERR}),
        Unavailable,
        "{path} could not be read or written",
        "the disk reported an error ({name})",
        "check the disk and try again; acknowledged data is safe",
    ),
    _ErrorMapping(
        frozenset({sqlite3.SQLITE_CONSTRAINT}),
        Conflict,
        "{path} refused a row",
        "it contradicts recorded data, or a rule of the schema ({name})",
        "read the recorded data again; nothing was changed",
    ),
)
_MOVED: Final = _ErrorMapping(
    frozenset({sqlite3.SQLITE_READONLY_DBMOVED}),
    Unavailable,
    "{path} was replaced or removed while it was open",
    "the open database is no longer the file at this path",
    "close this memory and open it again",
)
_PLACE: Final = frozenset({sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM})
"""Codes whose reason the file system may know better."""
_ANYTHING_ELSE: Final = _ErrorMapping(
    frozenset(),
    Corrupt,
    "{path} refused a statement",
    "SQLite says {name}",
    "run `credenda doctor`; nothing was changed",
)


def _extract_code(error: sqlite3.Error) -> int:
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)


def is_busy(error: sqlite3.Error) -> bool:
    """Return whether another connection only has the lock."""
    return _extract_code(error) & _PRIMARY in _BUSY


def _find_mapping(code: int) -> _ErrorMapping:
    for exact in (_LOCKS, _MOVED):
        if code in exact.codes:
            return exact
    return next((family for family in _FAMILIES if code & _PRIMARY in family.codes), _ANYTHING_ELSE)


def to_credenda_error(error: sqlite3.Error | UnicodeDecodeError, path: str) -> CredendaError:
    """Build our error for a failed statement, or for a cell that is not valid UTF-8."""
    if isinstance(error, UnicodeDecodeError):
        why, fix = "a text in it is not UTF-8", f"run `credenda doctor`; then {SAVE_THE_REST}; nothing was changed"
        return Corrupt(f"{path} is not a sound database", why=why, fix=fix)
    code = _extract_code(error)
    meaning = _find_mapping(code)
    if code & _PRIMARY in _PLACE | {sqlite3.SQLITE_IOERR} and meaning is not _MOVED:
        obstacle = find_obstacle(path)
        if obstacle is not None and (code & _PRIMARY in _PLACE or obstacle.errno == errno.ENOSPC):
            return make_file_error(path, obstacle, "written or opened")
    name = getattr(error, "sqlite_errorname", type(error).__name__)
    why = meaning.why.replace("{name}", str(name))
    return meaning.error(meaning.what.replace("{path}", path), why=why, fix=meaning.fix)


@contextmanager
def translate_errors(path: str) -> Generator[None]:
    """Raise our error in place of SQLite's, and in place of a decoding error."""
    try:
        yield
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise to_credenda_error(error, path) from error
