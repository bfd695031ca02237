"""The Postgres store: many tenants in one database, kept apart by row-level security, on any number of machines."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterable, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from itertools import permutations
from threading import Lock
from typing import Final, TypeVar

from credenda.clock import Clock, SystemClock, seconds
from credenda.current_call import check_deadline, read_author
from credenda.errors import Invalid, Unavailable
from credenda.ids import draw_unused_tag
from credenda.storage import postgres, sqlite
from credenda.storage.postgres.connections import Connections, Scope, Session, split_target
from credenda.storage.postgres.erase import LedgerFile
from credenda.storage.postgres.health import describe_server, is_standby
from credenda.storage.postgres.migrate import UndoneError, list_leaks, make_leak_findings, open_database
from credenda.storage.postgres.reader import (
    PostgresReader,
    PostgresWriter,
    SeenRows,
    describe_replica,
    open_replica,
    run_statement,
)
from credenda.storage.sql.reader import renew_indexes, to_tenant
from credenda.storage.sql.server_rows import ServerRows, TenantQueries
from credenda.storage.sql.statements import Cursor, StatementRunner
from credenda.storage.sql.writer import NextIds, clear_name_cache
from credenda.storage.store import Finding, Reader, TenantRecord, Writer
from credenda.storage.transfer import (
    DamagedRow,
    ErasedTenant,
    Erasure,
    ExportHeader,
    ImportRow,
    TenantExport,
    draw_stored_key,
    open_stored_key,
)

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
                self._drop_tenant(session, user_id)
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

    def _drop_tenant(self, session: Session, user_id: str) -> None:
        session.execute("DELETE FROM tenants WHERE user_id = %s", (user_id,))
        self._bind(session, user_id)("drop_tag")

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

    def take_over(self, entries: Iterable[ErasedTenant]) -> None:
        """Add tenants that were erased elsewhere to the ledger."""
        self._check_writable()
        rows = [(one.digest, one.tag, one.key, one.erased_us) for one in entries]

        def add(session: Session) -> None:
            for row in rows:
                session.execute(
                    """INSERT INTO erasures (digest, tag, ledger_key, erased_at) VALUES (%s, %s, %s, %s)
                    ON CONFLICT (digest, tag) DO NOTHING""",
                    row,
                )

        self._connections.run_unit(Scope(server=True), add)

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
        scope = self._own(user_id, server=True, patient=True)
        with self._marking(user_id), self._connections.transaction(scope, write=True) as session:
            counts = postgres.erase.load_rows(
                session, self._bind(session, user_id), user_id, origin=origin, placed=rows
            )
            session.execute("DELETE FROM erasures WHERE tag = %s", (origin.tag,))
        if self._ledger is not None and origin.tag:
            self._ledger.lift(origin.tag)
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
