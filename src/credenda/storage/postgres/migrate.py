"""The schema of Postgres: its versions, and the walls that every table gets.

A version has two halves. `NNNN_pre_….sql` adds what the new code needs and leaves what the old code reads: it runs when
the first new node opens the database. `NNNN_post_….sql` takes away what only the old code read: it runs when `migrate`
is told that no old node is left, and at once in an empty database. Between the two, old nodes serve, and may start.
Each half runs in one transaction with its record. It gives up a lock that it cannot have soon, and tries again: while
it waits for one, everybody else who needs the table waits behind it.

After each version every table with a column `user_id` gets its policies, so that no migration can forget them.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, Final, LiteralString, NamedTuple, cast

import psycopg
from psycopg import sql

from credenda.clock import Clock, SystemClock
from credenda.errors import Conflict, Forbidden, NotFound
from credenda.storage.postgres.connections import Session, connect, split_target, translate_errors
from credenda.storage.postgres.nominees import create_nominees
from credenda.storage.store import Finding

# Who may do what: the owner of the tables, the role of the service, and the refusal to work with too much power.


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


_OLDEST_SERVER: Final = 160_000
_TAKE_TURN: Final = "SET LOCAL statement_timeout = 0; SELECT pg_advisory_xact_lock(0x6372656465)"
"""Each half has its turn, and may take its time, whatever limit the role or the database has."""
_LOCK_TIMEOUT: Final = "SET LOCAL lock_timeout = '3s'"
_TRIES: Final = 20
_RECORD: Final = """
CREATE TABLE IF NOT EXISTS credenda.schema_version (
    version bigint NOT NULL,
    half text NOT NULL CHECK (half IN ('pre', 'post')),
    applied_at bigint NOT NULL,
    description text NOT NULL,
    PRIMARY KEY (version, half)
)
"""
SERVER_TABLES: Final = frozenset({"api_tokens", "members", "server_secrets", "audit_subjects", "audit_names"})
"""Tables that are looked up to find the tenant: a transaction of the server sees them whole, a tenant its own rows."""
LISTED_TABLES: Final = {"tenants": "CURRENT_USER", "operations": "CURRENT_USER", "tenant_tags": "PUBLIC"}
"""Tables that a transaction of the server may read, to find the tenants and their due jobs, but not write, and who is
shown the rows: the owner alone where the service reads a view that leaves out the other columns."""
UNOWNED_TABLES: Final = frozenset({"audit_records", "audit_head", "erasures"})
"""Tables of the server whose rows belong to no tenant."""
TABLE_WALLS: Final = """
SELECT c.relname, coalesce(p.relname, c.relname), c.relrowsecurity AND c.relforcerowsecurity,
    EXISTS (
        SELECT 1 FROM pg_attribute AS a WHERE a.attrelid = c.oid AND a.attname = 'user_id' AND NOT a.attisdropped
    )
FROM pg_class AS c
LEFT JOIN pg_inherits AS i ON i.inhrelid = c.oid LEFT JOIN pg_class AS p ON p.oid = i.inhparent
WHERE c.relnamespace = 'credenda'::regnamespace AND c.relkind IN ('r', 'p')
ORDER BY c.relname
"""
"""Every table with the one that it is a part of, whether row-level security is forced, and whether it has a tenant."""
_WITH_POLICY: Final = """
SELECT c.relname FROM pg_policy AS p JOIN pg_class AS c ON c.oid = p.polrelid
WHERE c.relnamespace = 'credenda'::regnamespace
"""
_OWN: Final = "user_id = NULLIF(current_setting('app.current_user_id', true), '')"
_SERVER: Final = "current_setting('app.scope', true) = 'server'"


class Step(NamedTuple):
    """One half of a version."""

    version: int
    half: str
    description: str
    script: str


@cache
def load_steps() -> tuple[Step, ...]:
    """Return every half of every version, in the order in which they run."""
    found: list[Step] = []
    for source in (files("credenda.storage.postgres") / "migrations").iterdir():
        stem, _, ending = source.name.rpartition(".")
        if ending == "sql":
            number, half, description = stem.split("_", 2)
            found.append(Step(int(number), half, description.replace("_", " "), source.read_text("utf-8")))
    return tuple(sorted(found, key=lambda step: (step.version, step.half != "pre")))


def get_latest_version() -> int:
    """Return the schema version that this code writes."""
    return load_steps()[-1].version


def read_schema_version(connection: psycopg.Connection[Any]) -> int:
    """Return the version whose first half is applied; 0 without a schema."""
    return max((version for version, half in _read_applied(connection) if half == "pre"), default=0)


def _read_applied(connection: psycopg.Connection[Any]) -> set[tuple[int, str]]:
    there = connection.execute("SELECT to_regclass('credenda.schema_version')").fetchone()
    if there is None or there[0] is None:
        return set()
    return {(row[0], row[1]) for row in connection.execute("SELECT version, half FROM credenda.schema_version")}


def open_database(url: str, clock: Clock | None = None, *, read_only: bool = False) -> str | None:
    """Check who logged in and bring the schema up to date; return the role that transactions take (None for the login).

    The owner, who may be the first to come, creates the schema and then works as the role of the service. Any other
    login needs that role granted. Raises `Forbidden` for a login with too much power, `Conflict` for a schema that is
    older or newer than this code, `NotFound` without a schema and `read_only`.
    """
    with translate_errors(), connect(split_target(url)[0]) as connection:
        login = read_login(connection)
        _check_server(login)
        if login.is_owner and not read_only:
            older = read_schema_version(connection)
            if _migrate(connection, login, clock or SystemClock(), post=older == 0) and older:
                _report_upgrade(older)
            _add_nominees(connection, login)
        elif login.owner is None:
            _check_version(frozenset(), login)
        role = check_service(connection, login)
        _check_version(_read_applied(connection), login)
        return role


def _report_upgrade(older: int) -> None:
    warnings.warn(
        f"this database had schema version {older} and has {get_latest_version()} now, which older nodes may go on"
        " using; backups are the server's affair. When every node is new, end the upgrade as docs/how-to/postgres.md"
        " says",
        RuntimeWarning,
        stacklevel=2,
    )


def _check_server(login: Login) -> None:
    if login.server < _OLDEST_SERVER:
        raise Conflict(
            "this Postgres is too old", why=f"it has version {login.server // 10_000}", fix="use version 16 or later"
        )
    if login.encoding != "UTF8":
        raise Conflict(
            f"this database has the encoding {login.encoding}",
            why="it cannot store every letter",
            fix="create one with `CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0`",
        )


def _check_version(applied: Collection[tuple[int, str]], login: Login) -> None:
    """Refuse a schema that lacks something, or from which something was taken away, that this code reads."""
    version = max((number for number, half in applied if half == "pre"), default=0)
    if version == 0:
        raise NotFound(
            "there is no memory in this database",
            why="its schema was not created yet",
            fix="open it once for writing as the owner of the database",
        )
    taken = max((number for number, half in applied if half == "post"), default=0)
    if taken > get_latest_version():
        raise Conflict(
            f"this database has schema version {taken}",
            why=f"a newer Credenda took away what only older ones read; this one knows {get_latest_version()}",
            fix="install a newer version of Credenda; nothing was changed",
        )
    if version < get_latest_version():
        raise Conflict(
            f"this database has schema version {version}",
            why=f"an older Credenda wrote it; this one reads {get_latest_version()}",
            fix=f"open it once for writing as its owner, {login.owner}, which brings it up to date and loses nothing",
        )


def migrate(url: str, clock: Clock | None = None, *, post: bool = False) -> list[str]:
    """Bring the schema up to date as its owner, and return the halves that ran, such as "1 pre".

    With `post` also the halves that take away what only older code reads; an empty database gets both. Safe beside
    other processes that do the same. Raises `Forbidden` for a login that does not own the schema.
    """
    with translate_errors(), connect(split_target(url)[0]) as connection:
        login = read_login(connection)
        _check_server(login)
        if not login.is_owner:
            raise Forbidden(
                f"{login.name} does not own the schema", why=f"{login.owner} does", fix=f"log in as {login.owner}"
            )
        ran = _migrate(connection, login, clock or SystemClock(), post=post or read_schema_version(connection) == 0)
        _add_nominees(connection, login)
        return ran


def _migrate(connection: psycopg.Connection[Any], login: Login, clock: Clock, *, post: bool) -> list[str]:
    ran: list[str] = []
    wanted = [step for step in load_steps() if post or step.half == "pre"]
    if {(step.version, step.half) for step in wanted} <= _read_applied(connection):
        return ran
    if login.owner is None and not login.creates_schemas:
        raise Forbidden(
            f"{login.name} may not create the schema in this database",
            why="it does not own the database, and nobody has opened it as its owner yet",
            fix=f"open it once as its owner, or make {login.name} the owner; {GUIDE}",
        )
    for step in wanted:
        for tried in range(_TRIES):
            try:
                if _run_step(connection, login, step, clock.now_us()):
                    ran.append(f"{step.version} {step.half}")
                break
            except psycopg.errors.LockNotAvailable:
                if tried + 1 == _TRIES:
                    raise
    return ran


def _add_nominees(connection: psycopg.Connection[Any], login: Login) -> None:
    """Create the tables for pgvector once an administrator has installed it."""
    with connection.transaction():
        connection.execute(_TAKE_TURN)
        if create_nominees(connection):
            raise_walls(connection)
            grant_tables(connection, login)


def _run_step(connection: psycopg.Connection[Any], login: Login, step: Step, now_us: int) -> bool:
    """Run one half, unless another process has; return whether it was run here."""
    with connection.transaction():
        connection.execute(_TAKE_TURN)
        if (step.version, step.half) in _read_applied(connection):
            return False
        connection.execute(_LOCK_TIMEOUT)
        ensure_service_role(connection, login)
        connection.execute("CREATE SCHEMA IF NOT EXISTS credenda")
        connection.execute("SET LOCAL search_path = credenda, pg_temp")
        connection.execute(_RECORD)
        connection.execute(cast("LiteralString", step.script))
        raise_walls(connection)
        grant_tables(connection, login)
        connection.execute(
            "INSERT INTO schema_version VALUES (%s, %s, %s, %s)", (step.version, step.half, now_us, step.description)
        )
    return True


def get_wall(family: str, *, is_tenant: bool) -> str | None:
    """Return the condition that the rows of a table meet which a transaction sees and writes; None without a wall."""
    if not (is_tenant or family in UNOWNED_TABLES):
        return None
    return f"{_OWN} OR {_SERVER}" if family in SERVER_TABLES else _OWN if is_tenant else _SERVER


def raise_walls(connection: psycopg.Connection[Any]) -> None:
    """Enable and force row-level security on every table of tenants, partitions too, and on those of the server."""
    known = {row[0] for row in connection.execute(_WITH_POLICY)}
    for name, family, _, is_tenant in connection.execute(cast("LiteralString", TABLE_WALLS)).fetchall():
        wall = get_wall(family, is_tenant=is_tenant)
        if wall is None or name in known:
            continue
        table = sql.Identifier("credenda", name)
        condition = sql.SQL(cast("LiteralString", wall))
        connection.execute(sql.SQL("ALTER TABLE {} ENABLE ROW LEVEL SECURITY").format(table))
        connection.execute(sql.SQL("ALTER TABLE {} FORCE ROW LEVEL SECURITY").format(table))
        connection.execute(
            sql.SQL("CREATE POLICY tenant ON {} USING ({}) WITH CHECK ({})").format(table, condition, condition)
        )
        if family in LISTED_TABLES:
            server = sql.SQL(cast("LiteralString", _SERVER))
            whom = sql.SQL(cast("LiteralString", LISTED_TABLES[family]))
            connection.execute(
                sql.SQL("CREATE POLICY listed ON {} FOR SELECT TO {} USING ({})").format(table, whom, server)
            )


# A live trial of the walls: rows of one made-up user, and the eyes of another, in a transaction that is undone.


_TABLES: Final = """
SELECT c.relname AS name FROM pg_class AS c
JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attname = 'user_id' AND NOT a.attisdropped
WHERE c.relnamespace = 'credenda'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
    AND has_table_privilege(c.oid, 'SELECT')
ORDER BY c.relname
"""
_FOREIGN: Final = "SELECT EXISTS (SELECT 1 FROM credenda.{} WHERE user_id <> %s) AS found"


class UndoneError(Exception):
    """Undoes the transaction of a trial."""


def list_leaks(session: Session, asker: str) -> Iterator[str]:
    """Yield each table that shows rows of another to a user, or to nobody, when it is asked without a filter."""
    for user_id in (asker, ""):
        session.execute("SELECT set_config('app.current_user_id', %s, true)", (user_id,))
        for row in session.execute(_TABLES).fetchall():
            table = sql.SQL(cast("LiteralString", _FOREIGN)).format(sql.Identifier(row["name"]))
            if any(found["found"] for found in session.execute(table, (user_id,))):
                yield f"table {row['name']}"


def make_leak_findings(leaks: Iterable[str]) -> list[Finding]:
    """Make a finding for each leak."""
    return [
        Finding(
            check="walls",
            detail="a made-up user reads rows of another user",
            where=name,
            fix="stop the servers of this database, mend the walls that are named here, or report this",
        )
        for name in sorted(set(leaks))
    ]
