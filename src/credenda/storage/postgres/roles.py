"""Who may do what: the owner of the tables, the role of the service, and the refusal to work with too much power."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, LiteralString, NamedTuple, cast

import psycopg
from psycopg import sql

from credenda.errors import Conflict, Forbidden

GUIDE: Final = "see docs/how-to/postgres.md"
_LOGIN: Final = """
SELECT session_user::text AS name, r.rolsuper AS super, r.rolbypassrls AS bypass, r.rolcreaterole AS creates_roles,
    (SELECT pg_get_userbyid(n.nspowner) FROM pg_namespace AS n WHERE n.nspname = 'credenda') AS owner,
    current_setting('server_version_num')::int AS server, current_setting('server_encoding') AS encoding,
    has_database_privilege(current_database(), 'CREATE') AS creates_schemas
FROM pg_roles AS r WHERE r.rolname = session_user
"""
CURRENT: Final = """
SELECT current_user::text AS name, r.rolsuper AS super, r.rolbypassrls AS bypass,
    (
        SELECT c.relname FROM pg_class AS c
        WHERE c.relnamespace = 'credenda'::regnamespace AND c.relkind IN ('r', 'p')
            AND pg_has_role(current_user, c.relowner, 'MEMBER')
        ORDER BY c.relname LIMIT 1
    ) AS owned,
    has_schema_privilege(current_user, 'credenda', 'USAGE') AS granted
FROM pg_roles AS r WHERE r.rolname = current_user
"""
_WITHOUT_GRANT: Final = frozenset({"schema_version", "identity"})
"""Tables that the service reads only."""


class Login(NamedTuple):
    """The role that logged in, the owner of the schema (None without a schema), and the server with its database."""

    name: str
    super: bool
    bypass: bool
    creates_roles: bool
    owner: str | None
    server: int
    encoding: str
    creates_schemas: bool

    @property
    def is_owner(self) -> bool:
        """Whether this role owns the schema, or may create it."""
        return self.owner is None or self.owner == self.name

    @property
    def service(self) -> str:
        """The role of the service: that of the owner, whose name it has."""
        return f"{self.owner or self.name}_service"


def read_login(connection: psycopg.Connection[Any]) -> Login:
    """Read who logged in; raises `Forbidden` for a role from which row-level security would not protect."""
    row = connection.execute(cast("LiteralString", _LOGIN)).fetchone()
    assert row is not None, "every session has a role"  # noqa: S101 - told to the type checker
    login = Login(*row)
    for power, has in (("is a superuser", login.super), ("has BYPASSRLS", login.bypass)):
        if has:
            raise Forbidden(
                f"the role {login.name} cannot open this memory",
                why=f"it {power}, so that row-level security would not keep users apart",
                fix="connect as an ordinary role: `CREATE ROLE credenda LOGIN CREATEROLE`, and let it own the "
                f"database; {GUIDE}",
            )
    return login


def ensure_service_role(connection: psycopg.Connection[Any], login: Login) -> None:
    """Create the role of the service if it is missing, and let the owner take it; needs a transaction of the owner."""
    role = login.service
    known = connection.execute(
        "SELECT pg_has_role(session_user, oid, 'SET') FROM pg_roles WHERE rolname = %s", (role,)
    ).fetchone()
    if known is not None and known[0]:
        return
    names = {"role": sql.Identifier(role), "owner": sql.Identifier(login.name)}
    try:
        with connection.transaction():
            if known is None:
                connection.execute(sql.SQL("CREATE ROLE {role} NOLOGIN").format(**names))
            connection.execute(sql.SQL("GRANT {role} TO {owner} WITH SET TRUE, INHERIT FALSE").format(**names))
    except psycopg.errors.InsufficientPrivilege as error:
        raise Forbidden(
            f"{login.name} may not create the role {role}",
            why="the service works as a role that owns nothing, and it does not exist yet, or cannot be taken",
            fix=f'let an administrator run `CREATE ROLE "{role}" NOLOGIN; GRANT "{role}" TO "{login.name}"`; {GUIDE}',
        ) from error


def list_verbs(table: str, *, is_view: bool) -> tuple[str, ...]:
    """Return the rights that the service needs on a table."""
    return ("SELECT",) if is_view or table in _WITHOUT_GRANT else ("SELECT", "INSERT", "UPDATE", "DELETE")


def grant_tables(connection: psycopg.Connection[Any], login: Login) -> None:
    """Let the service read and write the tables, but not their partitions, which are reached through them alone."""
    role = sql.Identifier(login.service)
    connection.execute(sql.SQL("GRANT USAGE ON SCHEMA credenda TO {}").format(role))
    tables = connection.execute(
        """SELECT relname, relkind = 'v' FROM pg_class
        WHERE relnamespace = 'credenda'::regnamespace AND relkind IN ('r', 'p', 'v') AND NOT relispartition"""
    ).fetchall()
    for table, is_view in tables:
        verbs = ", ".join(list_verbs(table, is_view=is_view))
        connection.execute(
            sql.SQL("GRANT {} ON credenda.{} TO {}").format(
                sql.SQL(cast("LiteralString", verbs)), sql.Identifier(table), role
            )
        )


def list_powers(row: Sequence[Any]) -> list[str]:
    """Return the powers of a role, as `CURRENT` reads them, from which row-level security does not protect."""
    _, is_super, bypass, owned, _ = row
    powers = (
        (is_super, "it is a superuser"),
        (bypass, "it has BYPASSRLS"),
        (owned is not None, f"it owns the table {owned}, or can become its owner"),
    )
    return [power for has, power in powers if has]


def check_service(connection: psycopg.Connection[Any], login: Login) -> str | None:
    """Return the role that transactions take, None for that of the login.

    Raises `Forbidden` where it could pass the walls, and says which power it has; `Conflict` for one without access.
    """
    role = login.service if login.is_owner else None
    with connection.transaction():
        if role is not None:
            connection.execute(sql.SQL("SET LOCAL ROLE {}").format(sql.Identifier(role)))
        row = connection.execute(cast("LiteralString", CURRENT)).fetchone()
    assert row is not None, "every session has a role"  # noqa: S101 - told to the type checker
    name, granted = row[0], row[4]
    for power in list_powers(row):
        raise Forbidden(
            f"the service cannot work as the role {name}",
            why=f"{power}, so that row-level security would not keep users apart",
            fix=f"let the service log in as a role of its own that owns nothing; {GUIDE}",
        )
    if not granted:
        raise Conflict(
            f"the role {name} has no access to this memory",
            why="the role of the service was not granted to it, or without INHERIT",
            fix=f'let the owner run `GRANT "{login.service}" TO "{name}" WITH INHERIT TRUE`; {GUIDE}',
        )
    return role
