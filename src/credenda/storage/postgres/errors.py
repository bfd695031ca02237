"""Mapping of Postgres errors to Credenda errors. No message of the server is passed on: it may quote a row."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Final, NamedTuple

import psycopg
import psycopg_pool

from credenda.deadline import check_deadline
from credenda.errors import Conflict, Corrupt, CredendaError, Invalid, Unavailable

_REPEATABLE: Final = frozenset({"40001", "40P01", "55P03"})
"""Codes of a serialization failure, of a deadlock, and of a lock that was waited for too long."""


class _ErrorMapping(NamedTuple):
    """The error for codes that begin with a text; `{code}` is filled in."""

    begin: str
    error: type[CredendaError]
    what: str
    why: str
    fix: str


_FAMILIES: Final = (
    _ErrorMapping(
        "57014",
        Unavailable,
        "the database took too long",
        "a statement ran longer than it may, and was stopped",
        "try again, or ask for less",
    ),
    _ErrorMapping(
        "55P03",
        Unavailable,
        "the database is busy",
        "another transaction has held a lock too long",
        "try again, and look for a transaction that stays open",
    ),
    _ErrorMapping("40", Unavailable, "the database undid a transaction", "it met another one ({code})", "try again"),
    _ErrorMapping(
        "53",
        Unavailable,
        "the database is out of resources",
        "it has no space, memory or connections left ({code})",
        "free some and try again; acknowledged data is safe",
    ),
    _ErrorMapping(
        "57P", Unavailable, "the database is not available", "it is shutting down or starting up", "try again later"
    ),
    _ErrorMapping("08", Unavailable, "the database cannot be reached", "the connection was lost", "try again"),
    _ErrorMapping(
        "28",
        Unavailable,
        "the database refused the login",
        "the role or its password is not accepted ({code})",
        "check the user and password of the target, and pg_hba.conf",
    ),
    _ErrorMapping(
        "3D", Unavailable, "there is no such database", "the server does not know its name", "create it, or check it"
    ),
    _ErrorMapping(
        "25006",
        Unavailable,
        "the database is read only",
        "it is a standby, or was set to refuse writes",
        "open the primary to write",
    ),
    _ErrorMapping(
        "0A000",
        Unavailable,
        "the database cannot do this now",
        "it is a standby, which only reads, or its schema was just changed ({code})",
        "open the primary to write, or try again",
    ),
    _ErrorMapping(
        "25P0",
        Unavailable,
        "the database ended a transaction",
        "it took longer than the role or the database may ({code})",
        "raise transaction_timeout or idle_in_transaction_session_timeout, and try again",
    ),
    _ErrorMapping(
        "42501",
        Unavailable,
        "the database refused a statement",
        "the role lacks a privilege, or a row belongs to another user",
        "grant the role of the service to it; see the guide to Postgres",
    ),
    _ErrorMapping(
        "23",
        Conflict,
        "the database refused a row",
        "it contradicts recorded data, or a rule of the schema ({code})",
        "read the recorded data again; nothing was changed",
    ),
    _ErrorMapping(
        "22",
        Invalid,
        "the database cannot store a value",
        "it is out of range, or a text with a NUL character ({code})",
        "correct the value; nothing was changed",
    ),
    _ErrorMapping(
        "XX", Corrupt, "the database is damaged", "the server reports {code}", "run `credenda doctor`, or restore it"
    ),
    _ErrorMapping("58", Unavailable, "the database cannot be read", "its disk reported an error", "check the disk"),
)
_LOST: Final = _ErrorMapping(
    "",
    Unavailable,
    "the database cannot be reached",
    "the connection was lost, or none could be made",
    "check that it runs; try again",
)
_ANYTHING_ELSE: Final = _ErrorMapping(
    "", Corrupt, "the database refused a statement", "the server reports {code}", "run `credenda doctor`"
)


def is_repeatable(error: BaseException) -> bool:
    """Return whether a transaction met another one and was undone for it, so that another try may succeed."""
    return isinstance(error, psycopg.Error) and error.sqlstate in _REPEATABLE


def _find_mapping(error: Exception) -> _ErrorMapping:
    code = getattr(error, "sqlstate", None) or ""
    if code:
        return next((family for family in _FAMILIES if code.startswith(family.begin)), _ANYTHING_ELSE)
    if isinstance(error, psycopg.DataError):
        return next(family for family in _FAMILIES if family.begin == "22")
    return _LOST if isinstance(error, psycopg.OperationalError) else _ANYTHING_ELSE


def to_credenda_error(error: Exception) -> CredendaError:
    """Build our error for a failed statement or connection."""
    if isinstance(error, psycopg_pool.PoolTimeout):
        return Unavailable(
            "all connections to the database are in use", why="more calls run than it has", fix="try again later"
        )
    meaning = _find_mapping(error)
    code = str(getattr(error, "sqlstate", None) or type(error).__name__)
    return meaning.error(meaning.what, why=meaning.why.replace("{code}", code), fix=meaning.fix)


@contextmanager
def translate_errors() -> Generator[None]:
    """Raise our error in place of the driver's; the deadline of the call comes first."""
    try:
        yield
    except psycopg.Error as error:
        if getattr(error, "sqlstate", None) == "57014":
            check_deadline()
        raise to_credenda_error(error) from error
