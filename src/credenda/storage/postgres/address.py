"""The address of a database: the part of it that is ours, and how a connection to it is opened."""

from __future__ import annotations

import re
from typing import Any, Final
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

import psycopg
from psycopg.conninfo import conninfo_to_dict

from credenda.errors import Invalid, Unavailable

_PARAMETER: Final = "replica"
_PATIENCE: Final = {
    "connect_timeout": 10,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}
"""After how long a machine that is silent counts as gone, unless the address or the environment says otherwise."""

_REFUSAL: Final = re.compile(r"connection to server .*? failed: (?:\S+:  )?(.+)")


def split_target(url: str) -> tuple[str, str | None]:
    """Take the address of a replica out of a target; raise `Invalid` for one that is no address of Postgres.

    >>> split_target("postgresql://app@db1/mine?replica=postgresql%3A%2F%2Fapp%40db2%2Fmine&sslmode=require")
    ('postgresql://app@db1/mine?sslmode=require', 'postgresql://app@db2/mine')
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        raise _make_address_error() from None
    named = parse_qsl(parts.query, keep_blank_values=True)
    found = [value for name, value in named if name == _PARAMETER]
    if not found:
        return url, None
    if len(found) > 1 or not found[0].startswith(("postgresql://", "postgres://")):
        raise Invalid(
            "the address of the replica cannot be read",
            why=f"`{_PARAMETER}` is one address of Postgres, with its own characters percent-encoded",
            fix="write ?replica=postgresql%3A%2F%2Fuser%40host%2Fdatabase",
        )
    make_arguments(found[0])
    rest = urlencode([one for one in named if one[0] != _PARAMETER], quote_via=quote)
    return urlunsplit(parts._replace(query=rest)), found[0]


def make_arguments(url: str) -> dict[str, Any]:
    """Return what a connection is opened with, beside its address; raise `Invalid` for one that cannot be read.

    The driver would quote the part that it cannot read, which may be one of a password.
    """
    try:
        given = conninfo_to_dict(url)
        numbers = [str(given.get("connect_timeout") or 0), *str(given.get("port") or 0).split(",")]
    except (ValueError, psycopg.ProgrammingError):
        raise _make_address_error() from None
    if "@" in str(given.get("host") or "")[1:] or not all(number.isdigit() for number in numbers if number):
        raise _make_address_error()
    usual = {one.keyword.decode() for one in psycopg.pq.Conninfo.get_defaults() if one.val}
    patience = {name: value for name, value in _PATIENCE.items() if name not in {*given, *usual}}
    return {"autocommit": True, "application_name": "credenda", "client_encoding": "utf8", **patience}


def connect(url: str) -> psycopg.Connection[Any]:
    """Open a connection that no pool keeps, for whoever gave the address: an error has the words of the refusal.

    They come before a row is read, and name the role and the database. Remote callers never see them.
    """
    arguments = make_arguments(url)
    try:
        return psycopg.connect(url, **arguments)
    except psycopg.OperationalError as error:
        words = _REFUSAL.findall(str(error))
        raise Unavailable(
            "the database cannot be reached",
            why=words[-1].strip() if words else "no connection could be made",
            fix="check that it runs, and the address, role and password; try again",
        ) from error


def _make_address_error() -> Invalid:
    return Invalid(
        "the address of the database cannot be read",
        why="it is not of the form postgresql://user@host:port/database?parameter=value",
        fix="write what is special in a name or password as %40 for @, %2F for /, %25 for %, and check the parameters; "
        "a password may stand in PGPASSWORD or ~/.pgpass instead",
    )
