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
import re
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from contextvars import Context, copy_context
from decimal import Decimal
from functools import lru_cache
from itertools import count
from threading import Condition, Lock, Thread
from typing import Any, ClassVar, Final, NamedTuple, TypeVar
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

import psycopg
import psycopg_pool
from psycopg import adapt, sql
from psycopg.abc import Buffer
from psycopg.conninfo import conninfo_to_dict
from psycopg.types.numeric import Int8Dumper

from credenda.clock import pause, seconds
from credenda.current_call import check_deadline, get_seconds_left, has_deadline, is_over
from credenda.errors import Conflict, Corrupt, CredendaError, Invalid, Unavailable
from credenda.ids import draw_fraction
from credenda.storage.records import TURN_SECONDS, Turns

# Rows by place and by name, as `sqlite3.Row` gives them, and the types of Python values.


class Row(tuple[Any, ...]):
    """A row of a query: its cells by place, or by the name of their column."""

    __slots__ = ()
    places: ClassVar[dict[str, int]]

    def __getitem__(self, key: Any, /) -> Any:
        """Return the cell at a place, or of a column."""
        return super().__getitem__(self.places[key] if type(key) is str else key)

    def keys(self) -> list[str]:
        """Return the names of the columns."""
        return list(self.places)


@lru_cache(maxsize=512)
def _make_row_class(names: tuple[str, ...]) -> type[Row]:
    return type("Row", (Row,), {"__slots__": (), "places": {name: place for place, name in enumerate(names)}})


def make_rows(cursor: psycopg.Cursor[Any]) -> type[Row]:
    """Return what makes the rows of a cursor; a row factory of psycopg."""
    return _make_row_class(tuple(column.name for column in cursor.description or ()))


class _FlagDumper(adapt.Dumper):
    """Sends True and False as 1 and 0, which the columns of flags hold; the server decides the type."""

    oid = 0

    def dump(self, obj: bool) -> Buffer:  # noqa: FBT001 - the signature is psycopg's
        return b"1" if obj else b"0"


class _SumLoader(adapt.Loader):
    """Reads a `numeric`, which only sums have here, as an integer where it is one."""

    def load(self, data: Buffer) -> int | float:
        number = Decimal(bytes(data).decode())
        return int(number) if number == number.to_integral_value() else float(number)


def register_types(connection: psycopg.Connection[Any]) -> None:
    """Let a connection send every integer as eight bytes, so that one statement has one form."""
    connection.adapters.register_dumper(int, Int8Dumper)
    connection.adapters.register_dumper(bool, _FlagDumper)
    connection.adapters.register_loader("numeric", _SumLoader)


# The address of a database: the part of it that is ours, and how a connection to it is opened.


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


# Mapping of Postgres errors to Credenda errors. No message of the server is passed on: it may quote a row.


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


def to_credenda_error(error: Exception) -> CredendaError:
    """Build our error for a failed statement or connection."""
    if isinstance(error, psycopg_pool.PoolTimeout):
        return Unavailable(
            "all connections to the database are in use", why="more calls run than it has", fix="try again later"
        )
    code = getattr(error, "sqlstate", None) or ""
    if code:
        meaning = next((family for family in _FAMILIES if code.startswith(family.begin)), _ANYTHING_ELSE)
    elif isinstance(error, psycopg.DataError):
        meaning = next(family for family in _FAMILIES if family.begin == "22")
    else:
        meaning = _LOST if isinstance(error, psycopg.OperationalError) else _ANYTHING_ELSE
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


# Stop the statements of a call that is over: a thread that looks at the deadlines of all reads in progress.


_LOOK_SECONDS: Final = 0.02
_CANCEL_SECONDS: Final = 2.0


class _Watched:
    """A connection, and the context of the call that uses it."""

    __slots__ = ("connection", "context", "done", "lock")

    def __init__(self, connection: psycopg.Connection[Any], context: Context) -> None:
        self.connection = connection
        self.context = context
        self.lock = Lock()
        self.done = False

    def stop_if_over(self) -> None:
        """Cancel the statement in progress; the lock keeps the connection from its next user meanwhile.

        The call may be between two statements just now, so this is repeated until it has ended.
        """
        with self.lock:
            if not self.done and self.context.run(is_over):
                with suppress(psycopg.Error):
                    self.connection.cancel_safe(timeout=_CANCEL_SECONDS)


class StatementWatch:
    """Watches reads that have a deadline; the thread exists only once there was one."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._watched: set[_Watched] = set()
        self._thread: Thread | None = None
        self._closed = False

    @contextmanager
    def stopping(self, connection: psycopg.Connection[Any]) -> Generator[None]:
        """Stop the statements of a connection inside the block when the current call is over."""
        if not has_deadline():
            yield
            return
        one = _Watched(connection, copy_context())
        with self._changed:
            self._watched.add(one)
            if self._thread is None and not self._closed:
                self._thread = Thread(target=self._run, name="credenda-deadlines", daemon=True)
                self._thread.start()
            self._changed.notify()
        try:
            yield
        finally:
            with self._changed:
                self._watched.discard(one)
            with one.lock:
                one.done = True

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._watched and not self._closed:
                    self._changed.wait()
                if self._closed:
                    return
                watched = list(self._watched)
            for one in watched:
                one.stop_if_over()
            with self._changed:
                if not self._closed:
                    self._changed.wait(_LOOK_SECONDS)

    def close(self) -> None:
        """End the thread."""
        with self._changed:
            self._closed = True
            self._changed.notify()
            thread, self._thread = self._thread, None
        if thread is not None:
            thread.join()


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
