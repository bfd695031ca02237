"""The SQLite store: one file, one writer connection per process, many readers, and the rows that they read.

The methods that export, erase and check load their modules themselves: a process that only searches needs none.
"""

from __future__ import annotations

import json
import logging
import os
import re
import sqlite3
import sys
import tempfile
import warnings
from collections.abc import Callable, Collection, Generator, Iterable, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from functools import cache
from importlib.resources import files
from itertools import count
from pathlib import Path
from threading import Lock
from typing import Final, NamedTuple, TypeVar

from credenda import limits
from credenda.clock import Clock, SystemClock, seconds
from credenda.current_call import read_author
from credenda.errors import Conflict, Corrupt, CredendaError, Invalid, NotFound, Unavailable
from credenda.ids import draw_unused_tag
from credenda.paths import find_obstacle, make_file_error
from credenda.storage import sqlite
from credenda.storage.rows import draw_stored_key, open_stored_key, to_tenant
from credenda.storage.sql.reader import SqlReader, ViewStart, renew_indexes
from credenda.storage.sql.server_rows import ServerRows, TenantQueries
from credenda.storage.sql.statements import Dialect, StatementRunner, load_dialect
from credenda.storage.sql.writer import NextIds, SqlWriter, clear_name_cache
from credenda.storage.sqlite.connection import (
    LOG_PATIENCE_MS,
    GroupCommit,
    OpenFile,
    ReadPool,
    begin_immediate,
    connect,
    empty_log,
    grow_log,
    is_there,
    retry_while_locked,
    translate_errors,
)
from credenda.storage.store import CODE_BITS, Finding, Reader, TenantRecord, Writer, pack_code
from credenda.storage.transfer import (
    DamagedRow,
    Erasure,
    ExportHeader,
    ImportRow,
    TenantExport,
    add_to_ledger,
    locate_ledger,
)

# Copies of a whole database file: all of it or nothing at the target, safe on disk.


@contextmanager
def make_temporary_file(place: Path) -> Generator[Path]:
    """Create a temporary file beside the target and remove what remains of it at the end."""
    try:
        handle, name = tempfile.mkstemp(dir=place.parent, prefix=f".{place.name[:64]}.", suffix=".part")
    except OSError as error:
        raise make_file_error(place, error) from error
    os.close(handle)
    try:
        yield Path(name)
    finally:
        for ending in ("", "-wal", "-shm", "-journal"):
            Path(f"{name}{ending}").unlink(missing_ok=True)
        locate_ledger(name).unlink(missing_ok=True)


def copy_database(source: sqlite3.Connection, part: Path) -> None:
    """Copy a database in one step from one consistent view, without a log."""
    with closing(sqlite3.connect(part, isolation_level=None)) as copy:
        source.backup(copy)
        copy.execute("PRAGMA journal_mode = DELETE")


def keep_older_copy(path: str, version: int) -> Path:
    """Copy a file as its older schema version left it to a free name beside it, and return the copy.

    It says so; the caller, who has the write lock, upgrades the file. Raises `Unavailable` if it cannot be copied.
    """
    first = Path(f"{path}.schema-{version}")
    names = (first if number == 1 else Path(f"{first}-{number}") for number in count(1))
    place = next(name for name in names if not name.exists())
    with make_temporary_file(place) as part:
        with translate_errors(str(place)), closing(connect(path, query_only=True, create=False)) as reading:
            copy_database(reading, part)
        sync_and_replace(part, place)
    warnings.warn(
        f"{path} has schema version {version} and is upgraded; {place} keeps it as it was, and an older Credenda opens"
        " only that. Delete it when you do not go back",
        RuntimeWarning,
        stacklevel=2,
    )
    return place


def sync_and_replace(part: Path, place: Path) -> None:
    """Sync a file to disk and rename it to its target."""
    try:
        handle = os.open(part, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
        part.replace(place)
        with suppress(OSError):  # a system without folder handles
            folder = os.open(place.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
    except OSError as error:
        raise make_file_error(place, error) from error


# Schema versions: each migration in its own transaction, together with its record.


_RECORD: Final = """CREATE TABLE IF NOT EXISTS schema_version (
    version INTEGER PRIMARY KEY, applied_at INTEGER NOT NULL, description TEXT NOT NULL
)"""


@cache
def load_migrations() -> tuple[tuple[int, str, str], ...]:
    """Return (version, description, SQL) of every migration, in order."""
    folder = files("credenda.storage.sqlite") / "migrations"
    found: list[tuple[int, str, str]] = []
    for source in folder.iterdir():
        stem, _, ending = source.name.rpartition(".")
        if ending == "sql":
            number, _, description = stem.partition("_")
            found.append((int(number), description.replace("_", " "), source.read_text("utf-8")))
    return tuple(sorted(found))


def get_latest_version() -> int:
    """Return the schema version that this code writes."""
    return load_migrations()[-1][0]


def read_schema_version(connection: sqlite3.Connection) -> int:
    """Return the schema version of a file: 0 for an empty one.

    Raises `Corrupt` for a database of another program.
    """
    tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    if {"schema_version", "tenants"} <= tables:
        row = connection.execute("SELECT max(version) FROM schema_version").fetchone()
        return int(row[0] or 0)
    if tables:
        raise Corrupt(
            "this is not a memory of Credenda",
            why="the SQLite file has the tables of another program",
            fix="give another path",
        )
    return 0


def check_version(version: int) -> None:
    """Raise `Conflict` for a file with a newer schema, or with one of the development before the first release."""
    first = load_migrations()[0][0]
    if 0 < version < first:
        raise Conflict(
            f"this file has schema version {version}",
            why=f"a Credenda from before the first release wrote it; this one reads {first} and later",
            fix="with that Credenda run `credenda export FILE`, here `credenda import FILE`; nothing was changed",
        )
    if version > get_latest_version():
        raise Conflict(
            f"this file has schema version {version}",
            why=f"it was written by a newer Credenda; this one knows {get_latest_version()}",
            fix="install a newer version of Credenda; nothing was changed",
        )


def _split_script(script: str) -> list[str]:
    """Split a script into statements where SQLite sees them complete; triggers and comments stay whole."""
    found: list[str] = []
    pending = ""
    for line in script.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            found.append(pending)
            pending = ""
    return [*found, pending] if pending.strip() else found


def migrate(connection: sqlite3.Connection, now_us: int, *, keep: Callable[[int], object] | None = None) -> int:
    """Migrate a file to the latest version and return the number of migrations that ran.

    `keep` gets the version of an older file before the first of them, under the write lock; a file that another
    process is upgrading is left to that one's.
    Safe beside other processes that do the same: each step checks the version once more under the write lock. A refused
    file (`Conflict`, `Corrupt`) stays unchanged.
    """
    older = read_schema_version(connection)
    check_version(older)
    # Enable the write-ahead log; the setting is stored in the file.
    mode: str = retry_while_locked(connection, "PRAGMA journal_mode = WAL").fetchone()[0]
    if mode.casefold() != "wal":
        raise Unavailable(
            "the write-ahead log cannot be used here",
            why="the file system does not support shared memory, as network folders often do not",
            fix="put the file on a local disk",
        )
    ran = 0
    for version, description, script in load_migrations():
        if read_schema_version(connection) >= version:
            continue
        begin_immediate(connection)
        try:
            found = read_schema_version(connection)
            if found < version:
                if (
                    keep is not None
                    and 0 < found == older
                    and (connection.execute("SELECT 1 FROM tenants LIMIT 1").fetchone() is not None)
                ):
                    keep(older)
                connection.execute(_RECORD)
                for statement in _split_script(script):
                    connection.execute(statement)
                connection.execute("INSERT INTO schema_version VALUES (?, ?, ?)", (version, now_us, description))
                ran += 1
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:  # SQLite rolls back by itself on a full disk
                connection.execute("ROLLBACK")
            raise
    return ran


def create_schema(connection: sqlite3.Connection) -> None:
    """Create the whole schema in an empty in-memory database."""
    for _, _, script in load_migrations():
        for statement in _split_script(script):
            connection.execute(statement)


# A cache of the tenant that wrote last and of its next ids, valid while no other connection has written.


class _WriteStamp(NamedTuple):
    """Changes with every write to the file: by others, by this connection, and when a commit is rolled back."""

    others: int
    rows: int
    undone: int


class TenantCache:
    """Caches one tenant between the units of a write connection; use it inside a write transaction only.

    The cache is as current as the rows: SQLite counts the commits of other connections (`data_version`) and every row
    that this one has written (`total_changes`, which a rollback does not reset).
    """

    def __init__(self, connection: sqlite3.Connection, commits: GroupCommit) -> None:
        self._connection = connection
        self._commits = commits
        self._held: tuple[_WriteStamp, TenantRecord, NextIds] | None = None
        self._others: int | None = None

    def of(self, user_id: str) -> tuple[TenantRecord, NextIds] | None:
        """Return the tenant and its next ids; None if they must be read."""
        self._others = None
        held = self._held
        if held is None or held[1].user_id != user_id or held[0] != self._stamp():
            return None
        return held[1], held[2]

    def note(self, tenant: TenantRecord, tips: NextIds) -> None:
        """Cache a tenant for which this transaction has inserted only events and jobs."""
        self._held = (self._stamp(), tenant, tips)

    def forget(self) -> None:
        """Clear the tenant and the key, as an erasure must."""
        self._held = None

    def _stamp(self) -> _WriteStamp:
        """Read the counters; others cannot commit during this transaction, so `data_version` is read once."""
        others = self._others
        if others is None:
            self._others = others = int(self._connection.execute("PRAGMA data_version").fetchone()[0])
        return _WriteStamp(others, self._connection.total_changes, self._commits.undone)


# The named SQL statements of SQLite, in whose dialect the common ones are written, and the rows of one tenant.


DIALECT: Final = Dialect("credenda.storage.sqlite", str)
_PARAMETER: Final = re.compile(r":\w+")


@cache
def load_statements() -> dict[str, str]:
    """Load the named SQL of this backend: name → statement."""
    return load_dialect(DIALECT)


@cache
def get_positional_statement(name: str) -> str:
    """Return a statement with positional parameters, in the order in which their names occur in it.

    Binding twenty parameters by name takes longer than inserting the row (measured: 9.6 against 7.7 µs), so the
    statements of every acknowledgement bind by position.
    """
    return _PARAMETER.sub("?", load_statements()[name])


def bind_user(connection: sqlite3.Connection, user_id: str) -> StatementRunner:
    """Return a runner of named statements for one tenant."""
    statements = load_statements()

    def run(name: str, /, **parameters: object) -> sqlite3.Cursor:
        return connection.execute(statements[name], {**parameters, "user_id": user_id})

    return run


def read_tenant(connection: sqlite3.Connection, user_id: str) -> TenantRecord | None:
    """Read a tenant's row; None for a tenant that never wrote."""
    row = connection.execute(load_statements()["tenant"], {"user_id": user_id}).fetchone()
    return None if row is None else to_tenant(row)


class SqliteReader(SqlReader):
    """A `Reader` over one connection that is inside a transaction."""

    def __init__(self, connection: sqlite3.Connection, tenant: TenantRecord) -> None:
        super().__init__(tenant, load_statements(), connection.execute)

    @classmethod
    def of_view(cls, connection: sqlite3.Connection, user_id: str) -> SqliteReader:
        """Read a tenant and the first rows of every search, inside a read transaction."""
        before = seconds()
        row = connection.execute(load_statements()["view"], {"user_id": user_id}).fetchone()
        nobody = TenantRecord(user_id=user_id, number=0, tag="", key=b"")
        view = cls(connection, nobody if row is None else to_tenant(row))
        view._start = ViewStart.of(row, (before, seconds()))
        return view

    def _list_codes(self, asked: Mapping[str, str], limit: int, *, memories: bool) -> list[list[int]]:
        low = self._tenant.number << CODE_BITS
        bounds = {"low": low + pack_code(0, memory=memories), "high": low + (1 << CODE_BITS), "limit": limit}
        found = self._run("matching_words", matches=json.dumps([*asked]), **bounds)
        return [[doc - low for doc in json.loads(row["docs"])] for row in found]


# Insertion of values into SQLite.


class SqliteWriter(SqlWriter, SqliteReader):
    """A `Writer` inside a write transaction."""

    def __init__(self, connection: sqlite3.Connection, tenant: TenantRecord, tips: NextIds, clock: Clock) -> None:
        SqliteReader.__init__(self, connection, tenant)
        SqlWriter.__init__(self, tips, clock)
        self._connection = connection

    def _insert(self, name: str, cells: tuple[object, ...]) -> None:
        self._connection.execute(get_positional_statement(name), cells)

    def put_words(self, name: str, code: int, body: str) -> None:
        """Add the words of a document to the full-text index, or take them out."""
        self._run(name, doc=(self._tenant.number << CODE_BITS) | code, tenant=self._tenant.tag, body=body)


T = TypeVar("T")
_log: Final = logging.getLogger(__name__)
_SETTLED_COMMITS: Final = 8
"""After so many commits the process will probably keep writing, and a log of full length pays off."""
_RELEASE: Final = "UPDATE legal_holds SET lifted_at = ? WHERE user_id = ? AND lifted_at IS NULL"
_BY_TAG: Final = "SELECT 1 FROM tenants WHERE tag = ?"
_OPTIMIZE: Final = "INSERT INTO search_index (search_index) VALUES ('optimize')"


def has_unfinished_erasure(connection: sqlite3.Connection) -> bool:
    """Return whether an erasure was interrupted before its proof succeeded."""
    return connection.execute("SELECT 1 FROM erasures WHERE finished_at IS NULL LIMIT 1").fetchone() is not None


def _bind(connection: sqlite3.Connection) -> StatementRunner:
    statements = load_statements()

    def run(name: str, /, **parameters: object) -> sqlite3.Cursor:
        return connection.execute(statements[name], parameters)

    return run


class SqliteStore(ServerRows, TenantQueries):
    """A `Store` in one SQLite file, shared with other processes."""

    def __init__(self, path: str, *, clock: Clock | None = None, read_only: bool = False, key: bytes = b"") -> None:
        """Open or create the file and bring its schema up to date.

        Raises `Conflict` for a file of a newer version, `Corrupt` for a damaged file or one of another program,
        `Unavailable` for one that cannot be opened, `NotFound` for a missing one with `read_only`.
        """
        self.path = path = str(Path(path).absolute())  # a relative path would name another file in another folder
        self._clock = clock or SystemClock()
        self._key = key
        self._file = OpenFile(path)
        self._readers = ReadPool(path, self._file, read_only=read_only, key=key)
        self._writer: sqlite3.Connection | None = None
        self._commits: GroupCommit | None = None
        self._recent: TenantCache | None = None
        self._lock = Lock()
        self._lengthen_at = _SETTLED_COMMITS
        self.log_emptied = True
        """Whether the write-ahead log has none of the words redacted through this store."""
        if read_only:
            if not is_there(Path(self.path).is_file):
                raise NotFound(
                    f"there is no memory at {self.path}", fix="check the path, or open it without --read-only"
                )
            try:
                with self._file.opened(read_only=True):
                    pass
                self._check_schema()
            except BaseException:
                self._readers.close()
                self._file.release()
                raise
        else:
            self._open_for_writing()

    def _check_schema(self) -> None:
        with self._readers.take() as connection:
            version = read_schema_version(connection)
        check_version(version)
        if version == 0:
            raise NotFound(f"there is no memory in {self.path}", fix="open it for writing to begin one")
        if version < get_latest_version():
            raise Conflict(
                f"this file has schema version {version}",
                why=f"an older Credenda wrote it; this one reads {get_latest_version()}",
                fix="open it once for writing, which brings it up to date and loses nothing",
            )

    def _open_for_writing(self) -> None:
        with self._file.opened(read_only=False):
            self._writer = connect(self.path, key=self._key)
        kept: list[Path] = []
        try:
            with translate_errors(self.path):
                now_us = self._clock.now_us()
                migrate(self._writer, now_us, keep=lambda one: kept.append(keep_older_copy(self.path, one)))
                self._commits = GroupCommit(self._writer, self.path, self._file.check)
        except BaseException:
            self._writer.close()
            self._file.release()
            raise
        self._recent = TenantCache(self._writer, self._commits)
        try:
            # Continue what erasures left open, as far as possible: it is never a condition for opening.
            connection, commits = self._writable()
            if connection.execute("SELECT 1 FROM identity WHERE backup_at IS NOT NULL").fetchone() is not None:
                commits.run(lambda: connection.execute("UPDATE identity SET backup_at = NULL"))
            try:
                if has_unfinished_erasure(connection):
                    self._finish({}, patience_seconds=0)
                elif connection.execute("SELECT 1 FROM owed_ledgers LIMIT 1").fetchone() is not None:
                    self.retry_owed()
            except CredendaError as error:
                _log.warning("an erasure could not be finished", extra={"code": error.code})
            for copy in kept:
                self.note_backup(str(copy))
        except BaseException:
            self.close()
            raise

    def _finish(self, rows: Mapping[str, int], patience_seconds: float = limits.ERASE_PATIENCE_SECONDS) -> Erasure:
        connection, commits = self._writable()
        finish, now_us = sqlite.erase.finish_erasures, self._clock.now_us()
        return finish(self.path, commits, connection, now_us, rows=rows, patience_seconds=patience_seconds)

    @contextmanager
    def _view_tables(self, user: str = "") -> Generator[StatementRunner]:  # noqa: ARG002 - every row is in one file
        with self._readers.take() as connection:
            yield _bind(connection)

    def _change_tables(self, work: Callable[[StatementRunner], T], user: str = "", *, alone: str = "") -> T:  # noqa: ARG002 - as above, and every write is alone
        connection, commits = self._writable()
        return commits.run(lambda: work(_bind(connection)))

    @property
    def commits(self) -> int:
        """The number of transactions that this process has committed."""
        return self._commits.commits if self._commits else 0

    @contextmanager
    def reader(self, user_id: str, *, may_lag: bool = False) -> Generator[Reader]:  # noqa: ARG002 - no view of a file lags
        """Open a consistent view of one tenant."""
        with self._readers.take() as connection:
            yield SqliteReader.of_view(connection, user_id)

    def commit(self, user_id: str, work: Callable[[Writer], T]) -> T:
        """Run a unit of work and return its result once it is on disk."""
        connection, commits = self._writable()
        recent, author = self._recent, read_author()  # the unit may run in the thread of another caller
        redacted = False

        def unit() -> T:
            nonlocal redacted
            before = connection.total_changes
            tenant, tips = self._tenant(connection, user_id)
            filed = connection.total_changes
            writer = SqliteWriter(connection, tenant, tips, self._clock)
            writer.author = author
            result = work(writer)
            if filed > before and connection.total_changes == filed:  # such as late work for an erased tenant
                connection.execute("DELETE FROM tenants WHERE user_id = ?", (user_id,))
                return result
            if recent is not None and writer.filed_only:
                recent.note(tenant, writer.tips)
            redacted = writer.redacted
            if writer.refolded:
                sqlite.check.rebuild_text_index(connection)
                renew_indexes(bind_user(connection, user_id))
            if redacted:
                connection.execute(_OPTIMIZE)
            return result

        result = commits.run(unit)
        if redacted:
            self.log_emptied = empty_log(self.path, LOG_PATIENCE_MS)
            self._lengthen_at = commits.commits + _SETTLED_COMMITS
        elif not self.log_emptied:
            self.log_emptied = empty_log(self.path, 0)
        elif commits.commits >= self._lengthen_at:
            with self._lock:
                wanted, self._lengthen_at = self._lengthen_at < sys.maxsize, sys.maxsize
            if wanted:
                grow_log(self.path)
        return result

    def _writable(self) -> tuple[sqlite3.Connection, GroupCommit]:
        connection, commits = self._writer, self._commits
        if connection is not None and commits is not None:
            return connection, commits
        if self._readers.closed:
            raise Unavailable("this memory is closed", fix="open it again")
        raise Invalid("this memory was opened to be read only", fix="open it without --read-only to write")

    @contextmanager
    def dump(
        self, user_id: str, *, only: Collection[str] | None = None, skip_damaged: bool = False
    ) -> Generator[TenantExport]:
        """Open all rows of a tenant, or those of some tables, in one consistent view."""
        damaged: list[DamagedRow] = []
        with (
            self._readers.take() as connection,
            closing(sqlite.check.dump_rows(connection, user_id, only, damaged if skip_damaged else None)) as rows,
        ):
            yield TenantExport(origin=sqlite.check.read_origin(connection, user_id), rows=rows, damaged=damaged)

    @contextmanager
    def scratch(self, user_id: str) -> Generator[Writer]:
        """Open an in-memory copy of a tenant's journal and tombstones."""
        with ExitStack() as held:
            with self._readers.take() as connection:
                origin = sqlite.check.read_origin(connection, user_id)
                with closing(sqlite.check.dump_rows(connection, user_id)) as rows:
                    copy, writer = sqlite.check.open_scratch(origin, rows, self._clock, self._key)
                held.callback(copy.close)  # inside the block, because closing the reader may fail
            yield writer

    def load(self, user_id: str, origin: ExportHeader, rows: Iterable[ImportRow]) -> dict[str, int]:
        """Import rows into an empty tenant, in one transaction."""
        connection, commits = self._writable()
        if origin.tag:
            open_stored_key(origin.key, self._key)
        counts = commits.run(lambda: sqlite.check.load_rows(connection, user_id, origin, rows))
        now_us = self._clock.now_us()
        sqlite.erase.remove_from_ledgers(self.path, commits, connection, now_us, tenant=(user_id, origin.tag))
        return counts

    def erase(self, user_id: str, *, exported: Mapping[str, int] | None = None) -> Erasure:
        """Delete every row of a tenant in one transaction, and prove that their bytes are gone."""
        connection, commits = self._writable()
        rows = commits.run(lambda: sqlite.erase.delete_rows(connection, user_id, self._clock.now_us(), exported))
        clear_name_cache()
        if self._recent is not None:
            self._recent.forget()
        return self._finish(rows)

    def retry_owed(self) -> Mapping[str, str]:
        """Write the missing entries of ledgers; return the paths that still lack some, with the reason."""
        connection, commits = self._writable()
        with self._readers.take() as reading:
            if reading.execute("SELECT 1 FROM owed_ledgers LIMIT 1").fetchone() is None:
                return {}
        return sqlite.erase.settle_ledgers(self.path, commits, connection, self._clock.now_us())[0]

    def identity(self) -> bytes:
        """Return the random id that the database shares with its backups."""
        with self._readers.take() as connection:
            return bytes(connection.execute("SELECT id FROM identity").fetchone()[0])

    def note_backup(self, path: str) -> None:
        """Record the path of a backup, so that erasures reach its ledger; a read-only store does not."""
        if self._commits is not None:
            connection, commits = self._writable()
            row = (path, self._clock.now_us())
            commits.run(lambda: connection.execute("INSERT OR REPLACE INTO backups VALUES (?, ?)", row))

    def list_erasures_beside(self, path: str) -> None:
        """Write the ledger of a new backup; what cannot be written is owed to it. A read-only store owes nothing."""
        if self._commits is not None:
            connection, commits = self._writable()
            sqlite.erase.settle_ledgers(self.path, commits, connection, self._clock.now_us())
            return
        add_to_ledger(path, self.erasures())

    def release(self, user_id: str) -> None:
        """Lift the legal hold of a tenant that was erased, after the lift, since this copy was made."""
        connection, commits = self._writable()
        row = (self._clock.now_us(), user_id)
        commits.run(lambda: connection.execute(_RELEASE, row))

    def _tenant(self, connection: sqlite3.Connection, user_id: str) -> tuple[TenantRecord, NextIds]:
        known = self._recent.of(user_id) if self._recent is not None else None
        if known is not None:
            return known
        sql = load_statements()
        found = connection.execute(sql["tenant_and_tips"], {"user_id": user_id}).fetchone()
        if found is not None:
            return to_tenant(found), NextIds.of(found)
        number = int(connection.execute(sql["next_tenant_number"]).fetchone()[0])
        stored = draw_stored_key(self._key)
        key = open_stored_key(stored, self._key)
        tag = draw_unused_tag(lambda one: connection.execute(_BY_TAG, (one,)).fetchone() is None)
        tenant = TenantRecord(user_id=user_id, number=number, tag=tag, key=key)
        connection.execute(
            sql["insert_tenant"],
            {
                "user_id": user_id,
                "number": number,
                "tag": tenant.tag,
                "hmac_key": stored,
                "created_at": self._clock.now_us(),
            },
        )
        return tenant, NextIds()

    def check(self, user_id: str, *, repair: bool = False) -> list[Finding]:
        """Verify the file and one tenant's rows; repair derived rows."""
        with self._readers.take() as connection:
            tenant = read_tenant(connection, user_id)
            findings = sqlite.check.check_store(connection, tenant)
        connection, commits = self._writer, self._commits
        if connection is None or commits is None:
            return findings
        if (obstacle := find_obstacle(self.path)) is not None:
            error = make_file_error(self.path, obstacle)
            findings.append(Finding(check="disk", detail=error.why, where=self.path, fix=error.fix))
        findings += sqlite.erase.find_owed(self.path, self.retry_owed() if repair else None)
        if repair and tenant is not None and findings:
            findings = commits.run(lambda: sqlite.check.repair_rows(connection, tenant, findings))
        return findings + commits.run(lambda: sqlite.check.check_text_index(connection, repair=repair))

    @staticmethod
    def describe_backend() -> Mapping[str, str]:
        """Return the name and version of the library."""
        return {"name": "SQLite", "version": sqlite3.sqlite_version}

    def renew_indexes(self, user_id: str) -> None:
        """Drop the snapshots of a tenant's indexes, and make those in memory unusable, in every process."""
        connection, commits = self._writable()
        commits.run(lambda: renew_indexes(bind_user(connection, user_id)))

    def close(self) -> None:
        """Close all connections after the current commit; a second call does nothing."""
        with self._lock:
            commits, self._writer, self._commits, self._recent = self._commits, None, None, None
        self._readers.close()
        if commits is not None:
            commits.close()
        self._file.release()
