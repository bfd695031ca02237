"""Connections to Postgres. `Connections.transaction` is the only way to one, and it names the tenant.

Each transaction sets for itself, never for its session: the role of the service, the tenant that row-level security
lets through (`app.current_user_id`), whether it may see the tables of the server (`app.scope`), the search path, the
time limits, and how statements are planned. With its end go the cursors, temporary objects, settings and locks that a
session could keep. So a pooled connection carries nothing over, and a pooler in transaction mode may stand between.

Planning a statement over partitioned tables costs many times its execution, so a connection that is used again prepares
the named statements, with one plan for all tenants. Through a pooler, whose connections change hands between two
transactions, nothing is prepared. Pages of all tenants are read in the order of an index: the planner, which cannot
know that a policy lets every row through, would gather and sort all rows first.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from itertools import count
from threading import Lock
from typing import Final, NamedTuple, TypeVar

import psycopg
import psycopg_pool
from psycopg import sql

from credenda.clock import pause, seconds
from credenda.deadline import check_deadline, get_seconds_left
from credenda.errors import Unavailable
from credenda.ids import draw_fraction
from credenda.storage.postgres.address import make_arguments
from credenda.storage.postgres.errors import is_repeatable, translate_errors
from credenda.storage.postgres.rows import Row, make_rows, register_types
from credenda.storage.postgres.watch import StatementWatch
from credenda.storage.turns import TURN_SECONDS, Turns

T = TypeVar("T")
_POOL_MAX: Final = 24
"""Connections of a process; more callers wait for one."""
_POOL_PATIENCE_SECONDS: Final = 30.0
_POOL_LOOK_SECONDS: Final = 2.0
"""After this time without a connection a caller asks the server itself, which says why there is none."""
_STATEMENT_MS: Final = 60_000
_LONG_STATEMENT_MS: Final = 3_600_000
_LOCK_MS: Final = 10_000
_STALE: Final = frozenset({"0A000", "26000"})
"""Codes of a prepared statement that does not fit the tables any more, or is not there: such a connection is closed."""
_UNIT_SECONDS: Final = TURN_SECONDS
"""A unit is not begun again after so long."""
_UNIT_TRIES: Final = 4
_BACKOFF_SECONDS: Final = 0.01
"""Longest pause before the second try of a unit; it doubles. The pause is at least half of it."""
_PREPARED_MAX: Final = 512
"""Statements that a connection keeps; there are about 200 names, a few of them with several types of parameters."""
_COLD_TRANSACTIONS: Final = 4
"""Transactions of a new connection that prepare nothing: a general plan costs more than a special one, and a command
that ends soon would not use it again."""
_TRIES: Final = _POOL_MAX + 1
"""How often a transaction is begun where pooled connections turn out to be dead: all of them are, after a restart."""
_BEGIN_READ: Final = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_BEGIN_WRITE: Final = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
_TIDY: Final = "; CLOSE ALL; UNLISTEN *; RESET ALL; DISCARD TEMP; SELECT pg_advisory_unlock_all()"
"""All that `DISCARD ALL` does, but for the prepared statements. It takes the server some 30 µs."""
_COMMIT: Final = f"COMMIT{_TIDY}"
_ROLLBACK: Final = f"ROLLBACK{_TIDY}".encode()
_SETTINGS: Final = sql.SQL(
    """{begin}; SELECT set_config('role', {role}, true), set_config('search_path', 'credenda, pg_temp', true),
    set_config('app.current_user_id', {user_id}, true), set_config('app.scope', {scope}, true),
    set_config('statement_timeout', {statement_ms}, true), set_config('lock_timeout', {lock_ms}, true),
    set_config('plan_cache_mode', {planning}, true), set_config('enable_seqscan', 'off', true),
    set_config('jit', 'off', true), set_config('max_parallel_workers_per_gather', '0', true),
    set_config('enable_bitmapscan', {gathering}, true), set_config('enable_sort', {gathering}, true)"""
)
AUDIT_TURN: Final = "audit "
"""The name of the lock of those who add records to the audit."""
_LOCK: Final = sql.SQL("; SELECT pg_advisory_xact_lock({lock})")


class Scope(NamedTuple):
    """What a transaction may see: the rows of one tenant, and with `server` the tables of the server."""

    user_id: str = ""
    server: bool = False
    alone: str = ""
    """The name of a lock: no other transaction with it runs meanwhile, in any process."""
    patient: bool = False
    """Whether a statement may take long: it reads or deletes everything of a tenant."""


def compute_lock(name: str) -> int:
    """Return the number of a lock: two names that share one only wait for each other."""
    return int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest(), "big", signed=True)


class PooledConnection(psycopg.Connection[Row]):
    """A connection of the pool; one to a pooler has no `prepare_threshold`."""

    transactions = 0
    """How many transactions were begun."""


class Session:
    """A connection inside a transaction."""

    __slots__ = ("_connection", "_prepares")

    def __init__(self, connection: PooledConnection) -> None:
        """Bind to a connection whose transaction has begun."""
        self._connection = connection
        self._prepares = _is_preparing(connection)

    def execute(
        self, statement: str | sql.Composed, given: Mapping[str, object] | Sequence[object] = ()
    ) -> psycopg.Cursor[Row]:
        """Run a statement with parameters in psycopg's form."""
        return self._connection.execute(statement, given or None, prepare=False)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType, reportCallIssue] - our own statements

    def execute_prepared(self, statement: str, given: Mapping[str, object] | Sequence[object]) -> psycopg.Cursor[Row]:
        """Run a statement of which there are only a few, so that each is planned once for a connection."""
        return self._connection.execute(statement, given or None, prepare=self._prepares)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType, reportCallIssue] - our own statements

    def execute_many(self, statement: str | sql.Composed, given: Sequence[Mapping[str, object]]) -> None:
        """Run a statement once for each set of parameters, without waiting for each answer."""
        with self._connection.cursor() as cursor:
            cursor.executemany(statement, given)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType] - our own statements

    def stream(self, statement: str, given: Mapping[str, object], size: int = 500) -> Iterator[Row]:
        """Yield the rows of a query without holding all of them."""
        with self._connection.cursor(name="credenda_stream") as cursor:
            cursor.itersize = size
            cursor.execute(statement, given)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType, reportCallIssue] - our own statements
            yield from cursor


def _is_preparing(connection: PooledConnection) -> bool:
    return connection.prepare_threshold is not None and connection.transactions > _COLD_TRANSACTIONS


def _set_up(connection: PooledConnection) -> None:
    """Prepare a new connection, and find out whether it is one to a process of the server or to a pooler."""
    register_types(connection)
    connection.prepared_max = _PREPARED_MAX
    row = connection.execute("SELECT pg_backend_pid()", prepare=False).fetchone()
    if row is not None and row[0] == connection.info.backend_pid:
        connection.prepare_threshold = 0


class Connections:
    """A pool of connections to one database, as the role of the service."""

    def __init__(self, url: str, role: str | None) -> None:
        """Create a pool; `role` is that which each transaction takes, None for that of the login."""
        self._role = role or "none"
        self._turns = Turns()
        self._watch = StatementWatch()
        self.closed = False
        self._url, self._arguments = url, make_arguments(url)
        self._lock, self._held = Lock(), 0
        self._pool: psycopg_pool.ConnectionPool[PooledConnection] = psycopg_pool.ConnectionPool(
            url,
            connection_class=PooledConnection,
            kwargs={**self._arguments, "row_factory": make_rows, "prepare_threshold": None},
            configure=_set_up,
            min_size=0,
            max_size=_POOL_MAX,
            reconnect_timeout=_POOL_LOOK_SECONDS / 2,
            open=True,
        )

    @contextmanager
    def transaction(self, scope: Scope, *, write: bool = False) -> Generator[Session]:
        """Provide a connection inside a transaction, which commits at the end of the block and is undone on an error.

        A read transaction is one consistent view. It stops at the deadline of the call; a write transaction that has
        begun goes on to its end.
        """
        check_deadline()
        # Callers in line for one tenant wait here first, so that they do not hold all connections.
        turn = self._turns.take(scope.alone) if scope.alone else nullcontext()
        with translate_errors(), turn, self._begin(scope, write=write) as connection:
            try:
                if write:
                    yield Session(connection)
                else:
                    with self._watch.stopping(connection):
                        yield Session(connection)
            except BaseException as error:
                if isinstance(error, psycopg.Error) and error.sqlstate in _STALE:
                    connection.close()
                else:
                    self._roll_back(connection)
                raise
            connection.execute(_COMMIT, prepare=False)

    def run_unit(self, scope: Scope, work: Callable[[Session], T]) -> T:
        """Run `work` in a write transaction, and return its result once it is durable.

        Where the server undid it whole because it met another transaction, it is run again after a short pause. So
        `work` must depend on nothing but what it reads in its session. A COMMIT is never repeated.
        """
        begun = seconds()
        for tried in count(1):
            has_worked = False
            try:
                with self.transaction(scope, write=True) as session:
                    result = work(session)
                    has_worked = True
                return result
            except Unavailable as error:
                is_last = tried == _UNIT_TRIES or seconds() - begun > _UNIT_SECONDS
                if has_worked or is_last or error.__cause__ is None or not is_repeatable(error.__cause__):
                    raise
            pause(_BACKOFF_SECONDS * 2 ** (tried - 1) * (1 + draw_fraction()) / 2)
        raise AssertionError("the last try returns or raises")

    @contextmanager
    def _begin(self, scope: Scope, *, write: bool) -> Generator[PooledConnection]:
        for tried in range(_TRIES):
            if self.closed:
                raise Unavailable("this memory is closed", fix="open it again")
            connection = self._take_connection()
            try:
                self._open(connection, scope, write=write)
            except psycopg.OperationalError:
                lost = connection.closed
                self._give_back(connection)
                if not lost or tried + 1 == _TRIES:
                    raise
                continue
            except BaseException:
                self._give_back(connection)
                raise
            try:
                yield connection
            finally:
                self._give_back(connection)
            return

    def _take_connection(self) -> PooledConnection:
        """Wait for a connection of the pool while the server gives this process any at all."""
        left = get_seconds_left()
        end = seconds() + (_POOL_PATIENCE_SECONDS if left is None else min(_POOL_PATIENCE_SECONDS, left))
        while True:
            try:
                connection = self._pool.getconn(max(0.01, min(_POOL_LOOK_SECONDS, end - seconds())))
            except psycopg_pool.PoolTimeout:
                check_deadline()
                if seconds() >= end:
                    raise
                if not self._held:
                    psycopg.connect(self._url, **self._arguments).close()
            else:
                with self._lock:
                    self._held += 1
                return connection

    def _open(self, connection: PooledConnection, scope: Scope, *, write: bool) -> None:
        connection.transactions += 1
        left, longest_ms = get_seconds_left(), _LONG_STATEMENT_MS if scope.patient else _STATEMENT_MS
        limit_ms = longest_ms if left is None else max(1, min(longest_ms, int(left * 1000)))
        settings = _SETTINGS.format(
            begin=sql.SQL(_BEGIN_WRITE if write else _BEGIN_READ),
            role=sql.Literal(self._role),
            user_id=sql.Literal(scope.user_id),
            scope=sql.Literal("server" if scope.server else "tenant"),
            statement_ms=sql.Literal(str(longest_ms if write else limit_ms)),
            lock_ms=sql.Literal(str(min(_LOCK_MS, limit_ms))),
            gathering=sql.Literal("off" if scope.server and not scope.user_id else "on"),
            planning=sql.Literal("force_generic_plan" if _is_preparing(connection) else "auto"),
        )
        if scope.alone:
            settings += _LOCK.format(lock=sql.Literal(compute_lock(scope.alone)))
        connection.execute(settings, prepare=False)

    def _give_back(self, connection: PooledConnection) -> None:
        if not connection.closed and connection.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
            self._roll_back(connection)
        with self._lock:
            self._held -= 1
        self._pool.putconn(connection)

    @staticmethod
    def _roll_back(connection: PooledConnection) -> None:
        """Undo a transaction; a connection that cannot even do that is closed, which undoes it too.

        Not by `execute`, which would then forget all prepared statements, in case one names a table that is no more.
        """
        if connection.info.transaction_status == psycopg.pq.TransactionStatus.ACTIVE:
            connection.close()
            return
        try:
            is_done = connection.pgconn.exec_(_ROLLBACK).status == psycopg.pq.ExecStatus.TUPLES_OK
        except psycopg.Error:
            is_done = False
        if not is_done:
            connection.close()

    def close(self) -> None:
        """Close all connections when their transactions have ended."""
        self.closed = True
        self._pool.close()
        self._watch.close()
