"""The Postgres store: many tenants in one database, kept apart by row-level security, on any number of machines."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable, Collection, Generator, Iterable, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from itertools import count, islice, permutations, product
from threading import Lock
from typing import Any, Final, TypeVar

import psycopg

from credenda.clock import Clock, SystemClock, seconds
from credenda.current_call import check_deadline, read_author
from credenda.errors import Invalid, Unavailable
from credenda.ids import draw_unused_tag
from credenda.storage import postgres, sqlite
from credenda.storage.postgres import nominees
from credenda.storage.postgres.connections import (
    Connections,
    Row,
    Scope,
    Session,
    connect,
    split_target,
    translate_errors,
)
from credenda.storage.postgres.erase import LedgerFile
from credenda.storage.postgres.health import describe_server, is_standby
from credenda.storage.postgres.migrate import (
    UndoneError,
    check_service,
    list_leaks,
    make_leak_findings,
    open_database,
    read_login,
)
from credenda.storage.postgres.statements import get_positional_statement, list_words, load_statements, shorten_word
from credenda.storage.rows import draw_stored_key, open_stored_key, to_tenant
from credenda.storage.sql.reader import SqlReader, ViewStart, analyse_term, renew_indexes
from credenda.storage.sql.server_rows import ServerRows, TenantQueries
from credenda.storage.sql.statements import Cursor, StatementRunner
from credenda.storage.sql.writer import NextIds, SqlWriter, clear_name_cache
from credenda.storage.store import Finding, IndexPosition, Reader, TenantRecord, VectorCopies, Writer, pack_code
from credenda.storage.transfer import (
    DamagedRow,
    Erasure,
    ExportHeader,
    ImportRow,
    TenantExport,
)

# The rows of one tenant in Postgres, and the documents that its table of words finds.


_PREFIXED: Final = 64
"""Words that begin with a character, of which the documents are looked up."""
_COMBINATIONS: Final = 128
"""Combinations of words and stems of one term that are looked up."""
_LAST_CHARACTER: Final = chr(0x10FFFF)


def run_statement(session: Session, name: str, parameters: dict[str, object], key: bytes = b"") -> psycopg.Cursor[Row]:
    """Run a named statement; `key` is that of the tombstone key file."""
    parameters["file_key"] = key
    return session.execute_prepared(load_statements()[name], parameters)


class PostgresReader(SqlReader):
    """A `Reader` inside a transaction of its tenant."""

    def __init__(self, session: Session, tenant: TenantRecord, key: bytes = b"") -> None:
        """Bind a transaction to a tenant; `key` is that of the tombstone key file."""
        super().__init__(tenant, load_statements(), session.execute_prepared, file_key=key)
        self._session = session

    @classmethod
    def of_view(cls, session: Session, user_id: str, key: bytes) -> PostgresReader:
        """Read a tenant and the first rows of every search, inside a read transaction."""
        before = seconds()
        row = run_statement(session, "view", {"user_id": user_id}, key).fetchone()
        nobody = TenantRecord(user_id=user_id, number=0, tag="", key=b"")
        view = cls(session, nobody if row is None else to_tenant(row), key)
        view._start = ViewStart.of(row, (before, seconds()))
        return view

    def _list_codes(self, asked: Mapping[str, str], limit: int, *, memories: bool) -> list[list[int]]:
        low = pack_code(0, memory=memories)
        wanted = [self._list_combinations(term) for term in asked.values()]
        single = {next(iter(one)) for combinations in wanted for one in combinations if len(one) == 1}
        first: dict[str, list[int]] = {term: [] for term in single}
        if single:
            for row in self._run("first_codes", term_list=sorted(single), low=low, limit=limit):
                first[row["term"]].append(row["code"])
        lists: list[list[int]] = []
        for combinations in wanted:
            codes: set[int] = set()
            for one in combinations:
                codes.update(
                    first[next(iter(one))]
                    if len(one) == 1
                    else [row["code"] for row in self._run("common_codes", term_list=sorted(one), low=low, limit=limit)]
                )
            lists.append(sorted(codes)[:limit])
        return lists

    @property
    def by_vector(self) -> nominees.PostgresVectorView:
        """The vectors, for a search without an index in memory."""
        return nominees.PostgresVectorView(self._run, self._session, self._tenant.user_id)

    def _list_combinations(self, term: str) -> list[frozenset[str]]:
        """Return the sets of indexed words, of which a document with the term holds one whole."""
        choices: list[Sequence[frozenset[str]]] = []
        for word, stems, is_prefix in analyse_term(term):
            if is_prefix:
                bounds = {"term": word, "before": word + _LAST_CHARACTER, "limit": _PREFIXED}
                choices.append([frozenset({row["term"]}) for row in self._run("terms_between", **bounds)])
            else:
                choices.append([frozenset(map(shorten_word, one)) for one in ({word}, stems) if one])
        return [frozenset[str]().union(*chosen) for chosen in islice(product(*choices), _COMBINATIONS)]

    def _fetch_tuples(self, found: Any) -> tuple[list[str], list[tuple[Any, ...]]]:  # noqa: ANN401 - the cursor of `_run`
        return [column.name for column in found.description], found.fetchall()


# Which reads a replica may serve: those of a user of whom it has everything that this process has written or seen.


_log = logging.getLogger(__name__)

_STATE: Final = "SELECT extract(epoch FROM now() - pg_last_xact_replay_timestamp())::bigint"
_USERS_MAX: Final = 10_000
"""Users of whom it is known how far their rows have grown; any other one reads the primary first."""


def open_replica(url: str) -> Connections | None:
    """Open a replica whose login the walls bind; None, with a warning, where it cannot be reached.

    Raises `Forbidden` for a login with too much power, as the primary does.
    """
    try:
        with translate_errors(), connect(url) as connection:
            role = check_service(connection, read_login(connection))
    except Unavailable as error:
        _log.warning("the replica is not used", extra={"error": error.code})
        return None
    return Connections(url, role)


def describe_replica(connections: Connections | None) -> str:
    """Say for a person whether a replica serves searches, and how old its last change is."""
    if connections is None:
        return "was not reachable when this process began: not used"
    try:
        with connections.transaction(Scope()) as session:
            row = session.execute(_STATE).fetchone()
    except Unavailable as error:
        return f"not reachable: {error.code}"
    return "in use" if row is None or row[0] is None else f"in use; its last change is {row[0]} s old"


@dataclass(slots=True)
class _Known:
    """How far the rows of a user have grown; None after a write of this process, until the primary was read again."""

    writes: int
    heads: IndexPosition | None = None
    tag: str = ""
    """That of the tenant: a user who was erased has another one, or none."""


class SeenRows:
    """How far the rows of users had grown when this process last read or wrote them. Safe to call from any thread."""

    def __init__(self, *, users_max: int = _USERS_MAX) -> None:
        self._users_max = users_max
        self._lock = Lock()
        self._numbers = count(1)
        self._known: OrderedDict[str, _Known] = OrderedDict()

    def begin(self, user_id: str) -> int:
        """Return what to give to `note` after a read of the primary that begins now."""
        with self._lock:
            return self._find(user_id).writes

    def note(self, user_id: str, begun: int, view: Reader) -> None:
        """Note what the primary has shown, unless this process has written since the read began."""
        with self._lock:
            known = self._known.get(user_id)
            if known is not None and known.writes == begun:
                known.heads, known.tag = view.duties.heads, view.tenant.tag

    def mark_written(self, user_id: str) -> None:
        """Let the next read of a user go to the primary: this process has written."""
        with self._lock:
            known = self._find(user_id)
            known.writes, known.heads = next(self._numbers), None

    def is_covered(self, user_id: str, view: Reader) -> bool:
        """Return whether a view has everything that is known of a user."""
        with self._lock:
            known = self._known.get(user_id)
            if known is None or known.heads is None or known.tag != view.tenant.tag:
                return False
            least, heads = known.heads, view.duties.heads
        return heads.event >= least.event and heads.change >= least.change and heads.vector >= least.vector

    def _find(self, user_id: str) -> _Known:
        if user_id not in self._known:
            self._known[user_id] = _Known(next(self._numbers))
        self._known.move_to_end(user_id)
        if len(self._known) > self._users_max:
            self._known.popitem(last=False)
        return self._known[user_id]


# Insertion of values into Postgres.


class PostgresWriter(SqlWriter, PostgresReader):
    """A `Writer` inside a write transaction of its tenant."""

    def __init__(
        self, session: Session, tenant: TenantRecord, tips: NextIds, clock: Clock, *, key: bytes = b""
    ) -> None:
        """Bind a transaction to a tenant with these next ids; `key` is that of the tombstone key file."""
        PostgresReader.__init__(self, session, tenant, key)
        SqlWriter.__init__(self, tips, clock)

    def _insert(self, name: str, cells: tuple[object, ...]) -> None:
        self._session.execute_prepared(get_positional_statement(name), cells)

    def _copy_vectors(self, copies: VectorCopies) -> str:
        place = nominees.find_nominees(self._session)
        if place is not None:
            nominees.put_nominees(self._session, place, self._tenant.user_id, copies)
        return ""

    def put_words(self, name: str, code: int, body: str) -> None:
        """Add the words of a document to the table of words, or take them out."""
        terms = sorted(list_words(body))
        if name == "delete_words":
            self._run("drop_words", term_list=terms, code=code)
        else:
            self._run("add_words", term_list=terms, code_list=[code] * len(terms))


T = TypeVar("T")
_REPLICA_SECONDS: Final = 30.0
"""How long a replica that could not be reached is left alone, so that not every search waits for it."""


class PostgresStore(ServerRows, TenantQueries):
    """A `Store` in one Postgres database, shared with other processes and machines."""

    log_emptied = True
    """The server's own logs are not ours: what they keep, and for how long, its operator decides."""

    def __init__(
        self, url: str, *, clock: Clock | None = None, read_only: bool = False, key: bytes = b"", ledger: str = ""
    ) -> None:
        """Open a database, as its owner create its schema or bring it up to date, and work as the service's role.

        `ledger` is a file that lists the erasures apart from the database; "" for none.

        Raises `Forbidden` for a login that could pass row-level security, `Conflict` for a schema of another version,
        `Unavailable` for a database that cannot be reached, `NotFound` for one without a schema and `read_only`.
        """
        self.path = url
        self._clock = clock or SystemClock()
        self._key = key
        self._ledger = LedgerFile(ledger) if ledger else None
        self._read_only = read_only
        self._lock = Lock()
        self.commits = 0
        """The number of transactions that this process has committed."""
        primary, replica = split_target(url)
        role = open_database(primary, self._clock, read_only=read_only)
        self._connections = Connections(primary, role)
        self._has_replica = replica is not None
        self._replica = None if replica is None else open_replica(replica)
        self._replica_at = 0.0
        self._seen = SeenRows()

    @contextmanager
    def reader(self, user_id: str, *, may_lag: bool = False) -> Generator[Reader]:
        """Open a consistent view of one tenant, on the replica where `may_lag` allows it."""
        with ExitStack() as held:
            view = self._view_replica(held, user_id) if may_lag else None
            if view is None:
                begun = self._seen.begin(user_id)
                session = held.enter_context(self._connections.transaction(Scope(user_id)))
                view = PostgresReader.of_view(session, user_id, self._key)
                self._seen.note(user_id, begun, view)
            yield view

    def _view_replica(self, held: ExitStack, user_id: str) -> PostgresReader | None:
        """Open a view on the replica; None where it cannot be reached, or lacks what this process knows of a user."""
        if self._replica is None or seconds() < self._replica_at:
            return None
        try:
            with ExitStack() as tried:
                session = tried.enter_context(self._replica.transaction(Scope(user_id)))
                view = PostgresReader.of_view(session, user_id, self._key)
                if not self._seen.is_covered(user_id, view):
                    return None
                held.push(tried.pop_all())
                return view
        except Unavailable:
            check_deadline()
            self._replica_at = seconds() + _REPLICA_SECONDS
            return None

    def commit(self, user_id: str, work: Callable[[Writer], T]) -> T:
        """Run a unit of work and return its result once it is durable."""
        self._check_writable(user_id)

        def run_work(session: Session) -> T:
            tenant, tips, is_new = self._tenant(session, user_id)
            writer = PostgresWriter(session, tenant, tips, self._clock, key=self._key)
            writer.author = read_author()
            result = work(writer)
            if is_new and not writer.wrote:  # such as late work for an erased tenant
                session.execute("DELETE FROM tenants WHERE user_id = %s", (user_id,))
                self._bind(session, user_id)("drop_tag")
            if writer.refolded:
                run = self._bind(session, user_id)
                postgres.statements.rebuild_words(run)
                renew_indexes(run)
            return result

        with self._marking(user_id):
            done = self._connections.run_unit(self._own(user_id), run_work)
        with self._lock:
            self.commits += 1
        return done

    @contextmanager
    def _marking(self, user_id: str) -> Generator[None]:
        """Let the next read of a user go to the primary, whether the write in the block succeeds or not."""
        try:
            yield
        finally:
            self._seen.mark_written(user_id)

    def _check_writable(self, user_id: str = "a user") -> None:
        if self._connections.closed:
            raise Unavailable("this memory is closed", fix="open it again")
        if not user_id:
            raise Invalid("a memory needs a user", why="the name is empty", fix="give the name of one")
        if self._read_only:
            raise Invalid("this memory was opened to be read only", fix="open it without --read-only to write")

    def _tenant(self, session: Session, user_id: str) -> tuple[TenantRecord, NextIds, bool]:
        """Return the tenant, its next ids, and whether it was filed just now."""
        run = self._bind(session, user_id)
        found = run("tenant_and_tips").fetchone()
        if found is not None:
            return to_tenant(found), NextIds.of(found), False
        stored = draw_stored_key(self._key)
        tag = draw_unused_tag(lambda one: run("claim_tag", tag=one).rowcount == 1)
        run("insert_tenant", tag=tag, hmac_key=stored, created_at=self._clock.now_us())
        key = open_stored_key(stored, self._key)
        return TenantRecord(user_id=user_id, number=0, tag=tag, key=key), NextIds(), True

    def _bind(self, session: Session, user_id: str) -> StatementRunner:
        """Return a runner of named statements for one tenant."""

        def run(name: str, /, **parameters: object) -> Cursor:
            return run_statement(session, name, {**parameters, "user_id": user_id}, self._key)

        return run

    def _bind_tables(self, session: Session) -> StatementRunner:
        def run(name: str, /, **parameters: object) -> Cursor:
            return run_statement(session, name, parameters)

        return run

    @contextmanager
    def _view_tables(self, user: str = "") -> Generator[StatementRunner]:
        with self._connections.transaction(Scope(user, server=True)) as session:
            yield self._bind_tables(session)

    def _change_tables(self, work: Callable[[StatementRunner], T], user: str = "", *, alone: str = "") -> T:
        self._check_writable()
        scope = Scope(user, server=True, alone=f"{alone} {user}" if alone else "")
        return self._connections.run_unit(scope, lambda session: work(self._bind_tables(session)))

    @contextmanager
    def dump(
        self, user_id: str, *, only: Collection[str] | None = None, skip_damaged: bool = False
    ) -> Generator[TenantExport]:
        """Open all rows of a tenant, or those of some tables, in one consistent view."""
        damaged: list[DamagedRow] = []
        with self._connections.transaction(Scope(user_id, patient=True)) as session:
            found = postgres.erase.dump_rows(session, user_id, only, damaged if skip_damaged else None)
            with closing(found) as rows:
                origin = postgres.erase.read_origin(session, user_id)
                yield TenantExport(origin=origin, rows=rows, damaged=damaged)

    @contextmanager
    def scratch(self, user_id: str) -> Generator[Writer]:
        """Open a copy of a tenant's journal and tombstones in the memory of this process."""
        with ExitStack() as held:
            with self.dump(user_id, only=sqlite.check.SCRATCH_TABLES) as export:
                copy, writer = sqlite.check.open_scratch(export.origin, export.rows, self._clock, self._key)
                held.callback(copy.close)  # inside the block, because closing the reader may fail
            yield writer

    def load(self, user_id: str, origin: ExportHeader, rows: Iterable[ImportRow]) -> dict[str, int]:
        """Import rows into an empty tenant, in one transaction."""
        self._check_writable()
        if origin.tag:
            open_stored_key(origin.key, self._key)
        lifted = [entry for entry in self.erasures() if entry.matches(user_id, origin.tag)]
        scope = self._own(user_id, server=True, patient=True)
        with self._marking(user_id), self._connections.transaction(scope, write=True) as session:
            counts = postgres.erase.load_rows(
                session, self._bind(session, user_id), user_id, origin=origin, placed=rows
            )
            for entry in lifted:
                session.execute("DELETE FROM erasures WHERE digest = %s AND tag = %s", (entry.digest, entry.tag))
        if self._ledger is not None:
            for entry in lifted:
                self._ledger.lift(entry.id)
        return counts

    def erase(self, user_id: str, *, exported: Mapping[str, int] | None = None) -> Erasure:
        """Delete every row of a tenant in one transaction, and look for rows that are left."""
        self._check_writable()
        scope = self._own(user_id, server=True, patient=True)
        with self._marking(user_id):
            rows = self._connections.run_unit(
                scope, lambda session: postgres.erase.delete_rows(session, user_id, self._clock.now_us(), exported)
            )
        clear_name_cache()
        with self._connections.transaction(Scope(user_id, server=True, patient=True)) as session:
            left = postgres.erase.count_left(session, user_id)
        owed = self.retry_owed()
        return Erasure(rows=rows, held=not left, proof={"remaining_matches": str(left)}, owed=owed)

    def retry_owed(self) -> Mapping[str, str]:
        """Add the erasures of the database to the ledger outside of it; return its path if that fails, and why."""
        return {} if self._ledger is None else self._ledger.add(self.erasures())

    def check(self, user_id: str, *, repair: bool = False) -> list[Finding]:
        """Verify one tenant's rows; repair derived rows."""
        with self._connections.transaction(Scope(user_id, patient=True)) as session:
            run = self._bind(session, user_id)
            row = run("tenant").fetchone()
            findings = [] if row is None else postgres.health.check_rows(session, run, to_tenant(row))
        if repair and findings and not self._read_only:
            found = findings
            findings = self._connections.run_unit(
                self._own(user_id, patient=True),
                lambda session: postgres.health.repair_rows(self._bind(session, user_id), found),
            )
        if self._ledger is None:
            return findings
        return [*findings, *self._ledger.find_problems(self, repair=repair and not self._read_only)]

    def check_server(self, users: tuple[str, str], fill: Callable[[Writer], object]) -> list[Finding]:
        """Find open walls, wrong rights and missing indexes, and try the walls with two made-up users."""
        with self._connections.transaction(Scope()) as session:
            found = postgres.health.find_problems(session)
            reads_only = self._read_only or is_standby(session)
        if reads_only or any(one.check == "permissions" for one in found):
            return found
        leaks: list[str] = []
        for owner, asker in permutations(users):
            scope = Scope(owner, alone="a trial of the walls")
            with suppress(UndoneError), self._connections.transaction(scope, write=True) as session:
                tenant, tips, _ = self._tenant(session, owner)
                fill(PostgresWriter(session, tenant, tips, self._clock, key=self._key))
                leaks += list_leaks(session, asker)
                raise UndoneError
        clear_name_cache()
        return [*found, *make_leak_findings(leaks)]

    @staticmethod
    def _own(user_id: str, *, server: bool = False, patient: bool = False) -> Scope:
        """Return the scope of a unit, which no other unit of the tenant runs beside."""
        return Scope(user_id, server=server, alone=f"tenant {user_id}", patient=patient)

    def describe_backend(self) -> Mapping[str, str]:
        """Return the version of the server, the roles, the state of row-level security, and that of pgvector."""
        with self._connections.transaction(Scope()) as session:
            told = {**describe_server(session), **postgres.health.describe_upkeep(session)}
        if self._has_replica:
            told = {**told, "replica": describe_replica(self._replica)}
        file = "none: a restored backup brings erased users back" if self._ledger is None else self._ledger.path
        return {**told, "erasure_ledger": file}

    def renew_indexes(self, user_id: str) -> None:
        """Drop the snapshots of a tenant's indexes, and make those in memory unusable, in every process."""
        self._check_writable()
        self._connections.run_unit(self._own(user_id), lambda session: renew_indexes(self._bind(session, user_id)))

    def close(self) -> None:
        """Close all connections; a second call does nothing."""
        if not self._connections.closed:
            self._connections.close()
            if self._replica is not None:
                self._replica.close()
