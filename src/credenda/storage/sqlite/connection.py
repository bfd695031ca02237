"""Connections to a SQLite file: pragmas, SQL functions, and a pool of read connections."""

from __future__ import annotations

import errno
import logging
import os
import sqlite3
from collections import Counter, deque
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Final, Generic, NamedTuple, TypeVar

from credenda import limits
from credenda.clock import pause, seconds
from credenda.current_call import check_deadline, has_deadline, is_over
from credenda.errors import SAVE_THE_REST, Conflict, Corrupt, CredendaError, Unavailable
from credenda.ids import draw_fraction
from credenda.paths import create_file, find_obstacle, make_file_error
from credenda.storage.rows import compute_checksum, is_sound_vector
from credenda.storage.sql.reader import compose_event_words, compose_memory_words

# Mapping of SQLite errors to Credenda errors.


_PRIMARY: Final = 0xFF
_BUSY: Final = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})


class _ErrorMapping(NamedTuple):
    """The error for a family of result codes; `{path}` and `{name}` (of the code) are filled in."""

    codes: frozenset[int]
    error: type[CredendaError]
    what: str
    why: str
    fix: str


_LOCKS: Final = _ErrorMapping(
    frozenset(
        {
            sqlite3.SQLITE_IOERR_LOCK,
            sqlite3.SQLITE_IOERR_UNLOCK,
            sqlite3.SQLITE_IOERR_RDLOCK,
            sqlite3.SQLITE_IOERR_CHECKRESERVEDLOCK,
            sqlite3.SQLITE_IOERR_SHMLOCK,
            sqlite3.SQLITE_IOERR_SHMMAP,
            sqlite3.SQLITE_IOERR_SHMOPEN,
            sqlite3.SQLITE_PROTOCOL,
            sqlite3.SQLITE_NOLFS,
        }
    ),
    Unavailable,
    "{path} cannot be locked",
    "its file system does not lock files as a database needs, as network folders often do not",
    "put the file on a local disk",
)
_FAMILIES: Final = (
    _ErrorMapping(
        _BUSY,
        Unavailable,
        "{path} is busy",
        "another process has held its write lock too long",
        "try again, and look for a process that keeps a transaction open",
    ),
    _ErrorMapping(
        frozenset({sqlite3.SQLITE_FULL}),
        Unavailable,
        "{path} cannot grow",
        "the disk is full",
        "free some space and try again",
    ),
    _ErrorMapping(
        frozenset({sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_AUTH}),
        Unavailable,
        "{path} cannot be written or opened",
        "the file or its folder is missing, read-only or not permitted",
        "check that the folder exists and its permissions, or open with --read-only",
    ),
    _ErrorMapping(
        frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}),
        Corrupt,
        "{path} is not a sound database",
        "SQLite finds it damaged, or it is another kind of file",
        f"run `credenda doctor`; then {SAVE_THE_REST}; nothing was changed",
    ),
    _ErrorMapping(
        frozenset({sqlite3.SQLITE_IOERR}),
        Unavailable,
        "{path} could not be read or written",
        "the disk reported an error ({name})",
        "check the disk and try again; acknowledged data is safe",
    ),
    _ErrorMapping(
        frozenset({sqlite3.SQLITE_CONSTRAINT}),
        Conflict,
        "{path} refused a row",
        "it contradicts recorded data, or a rule of the schema ({name})",
        "read the recorded data again; nothing was changed",
    ),
)
_MOVED: Final = _ErrorMapping(
    frozenset({sqlite3.SQLITE_READONLY_DBMOVED}),
    Unavailable,
    "{path} was replaced or removed while it was open",
    "the open database is no longer the file at this path",
    "close this memory and open it again",
)
_PLACE: Final = frozenset({sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM})
"""Codes whose reason the file system may know better."""
_ANYTHING_ELSE: Final = _ErrorMapping(
    frozenset(),
    Corrupt,
    "{path} refused a statement",
    "SQLite says {name}",
    "run `credenda doctor`; nothing was changed",
)


def _extract_code(error: sqlite3.Error) -> int:
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)


def is_busy(error: sqlite3.Error) -> bool:
    """Return whether another connection only has the lock."""
    return _extract_code(error) & _PRIMARY in _BUSY


def _find_mapping(code: int) -> _ErrorMapping:
    for exact in (_LOCKS, _MOVED):
        if code in exact.codes:
            return exact
    return next((family for family in _FAMILIES if code & _PRIMARY in family.codes), _ANYTHING_ELSE)


def to_credenda_error(error: sqlite3.Error | UnicodeDecodeError, path: str) -> CredendaError:
    """Build our error for a failed statement, or for a cell that is not valid UTF-8."""
    if isinstance(error, UnicodeDecodeError):
        why, fix = "a text in it is not UTF-8", f"run `credenda doctor`; then {SAVE_THE_REST}; nothing was changed"
        return Corrupt(f"{path} is not a sound database", why=why, fix=fix)
    code = _extract_code(error)
    meaning = _find_mapping(code)
    if code & _PRIMARY in _PLACE | {sqlite3.SQLITE_IOERR} and meaning is not _MOVED:
        obstacle = find_obstacle(path)
        if obstacle is not None and (code & _PRIMARY in _PLACE or obstacle.errno == errno.ENOSPC):
            return make_file_error(path, obstacle, "written or opened")
    name = getattr(error, "sqlite_errorname", type(error).__name__)
    why = meaning.why.replace("{name}", str(name))
    return meaning.error(meaning.what.replace("{path}", path), why=why, fix=meaning.fix)


@contextmanager
def translate_errors(path: str) -> Generator[None]:
    """Raise our error in place of SQLite's, and in place of a decoding error."""
    try:
        yield
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise to_credenda_error(error, path) from error


# The file behind an open database: the file is recognised by device and inode, and a foreign log is set aside.


_log: Final = logging.getLogger(__name__)
_MAGIC: Final = b"SQLite format 3\0"
_ROLLBACK: Final = b"\x01\x01"
"""Bytes 18 and 19 of a database without a write-ahead log. They change before the log gets its first byte."""
_VERSIONS: Final = slice(18, 20)
_REOPEN: Final = "close this memory and open it again"
_Key = tuple[int, int]
_opening: Final = Lock()
_open_files: Final[Counter[_Key]] = Counter()
"""The files that stores of this process have open, by device and inode."""


class OpenFile:
    """The file of one store."""

    def __init__(self, path: str) -> None:
        """Bind to a path; nothing is opened."""
        self._path = path
        self._key: _Key | None = None

    @contextmanager
    def opened(self, *, read_only: bool) -> Generator[None]:
        """Set a foreign log aside, and recognise the file that the block connects to.

        Raises `Unavailable` if another file takes its place meanwhile, `Conflict` for a foreign log that cannot be set
        aside. The lock is needed because reading the first bytes of a file and closing it releases the locks that
        SQLite has on it in this process.
        """
        with _opening:
            before = self._find()
            if before not in _open_files:
                set_aside_foreign_log(self._path, read_only=read_only)
            yield
            self._key = self._find()
            if before is not None and self._key != before:
                raise self._make_error()
            if self._key is not None:
                _open_files[self._key] += 1

    def check(self) -> None:
        """Raise `Unavailable` if another file, or none, has the place of the one that was opened."""
        if self._find() != self._key:
            raise self._make_error()

    def _find(self) -> _Key | None:
        try:
            try:
                found = os.stat(self._path)  # noqa: PTH116 - each read and each commit calls it, and a Path costs as much again
            except (FileNotFoundError, NotADirectoryError):
                return None
            return found.st_dev, found.st_ino
        except OSError as error:
            raise make_file_error(self._path, error, "written or opened") from error

    def release(self) -> None:
        """Count the file as closed."""
        with _opening:
            key, self._key = self._key, None
            if key is not None:
                _open_files[key] -= 1
                if not _open_files[key]:
                    del _open_files[key]

    def _make_error(self) -> Unavailable:
        gone = self._find() is None
        return Unavailable(
            f"{self._path} was {'removed' if gone else 'replaced'} while it was open",
            why="the open database is no longer the file at this path, and what it wrote now would be lost",
            fix=f"{_REOPEN}; nothing was written",
        )


def set_aside_foreign_log(path: str, *, read_only: bool = False) -> None:
    """Rename a write-ahead log that cannot be that of the file at a path, and remove the index of that log.

    A log is foreign beside no database, an empty one, or one without a write-ahead log. Raises `Conflict` if it must
    stay. The order matters: a file that another process is just switching to a log gets its log last.
    """
    log, index = Path(f"{path}-wal"), Path(f"{path}-shm")
    try:
        if not (index.exists() or (log.exists() and log.stat().st_size)):
            return
        if not _is_without_log(path):
            return
        if read_only:
            raise OSError(0, "the memory was opened to be read only")  # noqa: TRY301 - told like any other reason
        index.unlink(missing_ok=True)
        if log.exists():
            number = 1
            while (place := Path(f"{log}.aside-{number}")).exists():
                number += 1
            log.rename(place)
            _log.warning("the log of another database was set aside")
    except OSError as error:
        raise Conflict(
            f"{log} is the log of another database",
            why=f"it cannot be set aside: {make_file_error(log, error).why}",
            fix="close every program that has that database open, then move the log away",
        ) from error


def _is_without_log(path: str) -> bool:
    """Return whether a file is missing or empty, or a database in a mode without a write-ahead log."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - as above
            head = file.read(_VERSIONS.stop)
    except FileNotFoundError:
        return True
    return not head or (head.startswith(_MAGIC) and head[_VERSIONS] == _ROLLBACK)


_WRITE_PRAGMAS: Final = (
    "PRAGMA synchronous = FULL",
    "PRAGMA foreign_keys = ON",
    "PRAGMA recursive_triggers = ON",  # without it INSERT OR REPLACE bypasses the journal's delete trigger
    "PRAGMA secure_delete = ON",
    "PRAGMA temp_store = MEMORY",
    "PRAGMA trusted_schema = ON",
)
_READ_PRAGMAS: Final = (
    "PRAGMA query_only = ON",
    "PRAGMA temp_store = MEMORY",
    "PRAGMA trusted_schema = ON",
    # Vectors of a search of 100,000 messages: 0.88 ms without a map, 0.57 with 64 MiB, 0.55 with 256. Mapped pages
    # count as memory of the process, for each connection.
    "PRAGMA mmap_size = 67108864",
    "PRAGMA cache_size = -16384",
)
_STATEMENT_CACHE: Final = 256
_BUSY_MS: Final = 10_000
LOG_PATIENCE_MS: Final = 500
"""How long a deletion waits for readers that keep its words in the write-ahead log."""
LOG_PAGES: Final = 1_000
"""Pages at which SQLite checkpoints the log and starts it from the beginning (default of `wal_autocheckpoint`)."""
_PAGE_BYTES: Final = 4_096
_STEPS_BETWEEN_CHECKS: Final = 20_000
"""Steps of a statement, some milliseconds, between two looks at the deadline."""
_IDLE_MAX: Final = 16
"""Idle read connections that the pool keeps."""


def connect(
    path: str, *, read_only: bool = False, query_only: bool = False, create: bool = True, key: bytes = b""
) -> sqlite3.Connection:
    """Open a connection with our pragmas and functions, without changing the file; `create` it if it is missing.

    Raises `Unavailable` when the folder is missing or not permitted, `Corrupt` for a file that is not a database.
    """
    if create and not read_only and not is_there(Path(path).parent.is_dir):
        raise Unavailable(
            f"{path} cannot be created",
            why="its folder does not exist",
            fix="create the folder first, or choose another file",
        )
    with translate_errors(path):
        if not read_only and create:
            create_owned(path)
        connection = sqlite3.connect(
            path
            if create and not read_only
            else f"{Path(path).absolute().as_uri()}?mode={'ro' if read_only else 'rw'}",
            uri=read_only or not create,
            timeout=_BUSY_MS / 1_000,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=_STATEMENT_CACHE,
        )
        try:
            prepare_connection(connection, _READ_PRAGMAS if query_only or read_only else _WRITE_PRAGMAS, key)
        except BaseException:
            connection.close()
            raise
    return connection


def create_owned(path: str) -> None:
    """Create the file of a new database for its owner only; SQLite gives its log the same permissions.

    Any error is left to SQLite, which reports it.
    """
    with suppress(OSError, ValueError):
        create_file(path)


def is_there(look: Callable[[], bool]) -> bool:
    """Return whether a file or folder exists; False if its name is invalid or permissions hide it."""
    try:
        return look()
    except OSError:
        return False


def prepare_connection(connection: sqlite3.Connection, pragmas: tuple[str, ...] = (), key: bytes = b"") -> None:
    """Register the functions that schema and statements call on a connection, and set pragmas.

    `key` is that of the tombstone key file.
    """
    connection.row_factory = sqlite3.Row
    connection.create_function("credenda_words", 4, compose_event_words, deterministic=True)
    connection.create_function("credenda_memory_words", 4, compose_memory_words, deterministic=True)
    connection.create_function("credenda_checksum", -1, compute_checksum, deterministic=True)
    connection.create_function("credenda_is_vector", 7, is_sound_vector, deterministic=True)
    connection.create_function("credenda_file_key", 0, partial(bytes, key))
    connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    for pragma in pragmas:
        connection.execute(pragma)


def empty_log(path: str, patience_ms: int) -> bool:
    """Checkpoint the write-ahead log and truncate it, so that neither file has redacted words; return whether it did.

    While another process reads, the pages that it needs remain. It is waited for so long; then the next commit must try
    again. Every file error counts as a reader, because the words are deleted already.
    """
    try:
        with closing(connect(path, create=False)) as connection:
            connection.execute(f"PRAGMA busy_timeout = {patience_ms:d}")
            busy, *_ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            return not busy
    except (sqlite3.Error, OSError, Unavailable):
        return False


def grow_log(path: str) -> None:
    """Extend the write-ahead log to its usual length at once, by a transaction that is rolled back.

    A flush that also records a new file length costs half as much more (measured: 0.43 against 0.29 ms), and every
    commit would pay for it until SQLite first reuses the log. A transaction larger than a small cache is written to the
    log before it ends; the rollback leaves only the length. Takes 5 ms, nearly all of it inside SQLite. This only saves
    time, so any error ends it silently.
    """
    try:
        if Path(f"{path}-wal").stat().st_size >= LOG_PAGES * _PAGE_BYTES:
            return
        with closing(connect(path, create=False)) as connection:
            connection.execute("PRAGMA busy_timeout = 0")
            connection.execute("PRAGMA cache_size = 10")
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("CREATE TABLE length_of_the_log (bytes BLOB)")
            connection.execute("INSERT INTO length_of_the_log VALUES (zeroblob(?))", (LOG_PAGES * _PAGE_BYTES,))
            connection.execute("ROLLBACK")
    except (sqlite3.Error, OSError, Unavailable):
        return


@contextmanager
def _stop_at_deadline(connection: sqlite3.Connection) -> Generator[None]:
    """Interrupt the statements of a connection beyond the deadline of the current call; then raise `Unavailable`."""
    if not has_deadline():
        yield
        return
    check_deadline()
    connection.set_progress_handler(is_over, _STEPS_BETWEEN_CHECKS)
    try:
        yield
    except sqlite3.OperationalError as error:
        if getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_INTERRUPT:
            check_deadline()
        raise
    finally:
        connection.set_progress_handler(None, 0)


class ReadPool:
    """A pool of read connections, each used by one caller at a time; they never wait for the writer."""

    def __init__(self, path: str, file: OpenFile, *, read_only: bool, key: bytes = b"") -> None:
        """Create an empty pool of connections to an open file; `key` is that of the tombstone key file."""
        self._path = path
        self._file = file
        self._key = key
        self._read_only = read_only
        self._idle: list[sqlite3.Connection] = []
        self._lock = Lock()
        self._closed = False

    @contextmanager
    def take(self) -> Generator[sqlite3.Connection]:
        """Provide a connection inside a read transaction; raises `Unavailable` if the file was replaced."""
        connection = self._pop()
        try:
            with translate_errors(self._path), _stop_at_deadline(connection):
                connection.execute("BEGIN")
                try:
                    yield connection
                finally:
                    if connection.in_transaction:
                        connection.execute("ROLLBACK")
        finally:
            self._give_back(connection)

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._closed

    def _pop(self) -> sqlite3.Connection:
        with self._lock:
            if self._closed:
                raise Unavailable("this memory is closed", fix="open it again")
            idle = self._idle.pop() if self._idle else None
        try:
            self._file.check()
            return idle or connect(self._path, read_only=self._read_only, query_only=True, create=False, key=self._key)
        except BaseException:
            if idle is not None:
                idle.close()
            raise

    def _give_back(self, connection: sqlite3.Connection) -> None:
        with self._lock:
            ended = not connection.in_transaction  # the disk refused even the rollback
            if ended and not self._closed and len(self._idle) < _IDLE_MAX:
                self._idle.append(connection)
                return
        connection.close()

    def close(self) -> None:
        """Close idle connections; a connection in use closes when its caller returns it."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()


# Group commit without a writer thread.


T = TypeVar("T")
_PAUSE_MIN_SECONDS: Final = 0.0002
_PAUSE_MAX_SECONDS: Final = 0.005


def begin_immediate(connection: sqlite3.Connection, patience_seconds: float = limits.BUSY_TIMEOUT_SECONDS) -> None:
    """Take the write lock, waiting with short random pauses.

    SQLite's own busy handler starves a sleeper for half a second among several busy processes; jitter does not.
    """
    retry_while_locked(connection, "BEGIN IMMEDIATE", patience_seconds)


def retry_while_locked(
    connection: sqlite3.Connection, statement: str, patience_seconds: float = limits.BUSY_TIMEOUT_SECONDS
) -> sqlite3.Cursor:
    """Repeat a statement while another connection has the lock that it needs."""
    deadline = seconds() + patience_seconds
    ceiling = _PAUSE_MIN_SECONDS * 4
    while True:
        try:
            return connection.execute(statement)
        except sqlite3.OperationalError as error:
            if not is_busy(error) or seconds() > deadline:
                raise
        pause(_PAUSE_MIN_SECONDS + draw_fraction() * (ceiling - _PAUSE_MIN_SECONDS))
        ceiling = min(ceiling * 1.25, _PAUSE_MAX_SECONDS)


class _Unit(Generic[T]):
    """The work of one caller, with its result or error."""

    __slots__ = ("done", "error", "leads", "result", "wake", "work")

    def __init__(self, work: Callable[[], T]) -> None:
        self.work = work
        self.wake = Lock()
        self.wake.acquire()
        self.done = False
        self.leads = False
        self.result: T | None = None
        self.error: BaseException | None = None

    def run(self, connection: sqlite3.Connection, *, alone: bool) -> None:
        """Run inside a savepoint; a unit that is alone in its transaction needs none.

        An interrupt is not a failure of the unit: it is meant for the leading thread, and ends the batch.
        """
        if alone:
            self.result = self.work()
            return
        connection.execute("SAVEPOINT unit")
        try:
            self.result = self.work()
        except Exception as error:
            if not connection.in_transaction:  # SQLite has rolled back the whole batch, for instance on a full disk
                raise
            connection.execute("ROLLBACK TO unit")
            self.error = error
        connection.execute("RELEASE unit")


class GroupCommit:
    """Shares commits on one write connection among threads."""

    def __init__(self, connection: sqlite3.Connection, path: str, check: Callable[[], object] = bool) -> None:
        """Take ownership of a connection and close it at the end; nothing else may write through it.

        `check` runs once in each transaction, before any unit; its error is raised to each caller. By default all pass.
        """
        self._check = check
        self._connection = connection
        self._path = path
        self._waiting: deque[_Unit[object]] = deque()
        self._lock = Lock()
        self._led = False
        self._batch: list[_Unit[object]] = []
        self._busy = Lock()
        self._closed = False
        self.commits = 0
        self.undone = 0
        connection.execute("PRAGMA busy_timeout = 0")  # `retry_while_locked` waits instead

    def run(self, work: Callable[[], T]) -> T:
        """Run a unit and return its result when it is durable; raises the error of the unit or of its commit.

        Raises `Unavailable` instead for a caller whose deadline is over.
        """
        check_deadline()
        unit = _Unit(work)
        try:
            self._wait_turn(unit)
            if unit.leads:
                self._lead(unit)  # type: ignore[arg-type]
        except BaseException:
            self._abandon(unit)
            raise
        if unit.error is not None:
            raise unit.error
        return unit.result  # type: ignore[return-value]

    def close(self) -> None:
        """Close the connection when no commit is in progress; later calls are refused."""
        with self._busy:
            self._closed = True
            self._batch = []  # a result may hold a statement, and with it the file
            self._connection.close()

    def _wait_turn(self, unit: _Unit[T]) -> None:
        """Wait until the unit is to lead, or is done."""
        with self._lock:
            if not self._led:
                unit.leads = self._led = True
                return
            self._waiting.append(unit)  # type: ignore[arg-type]
        unit.wake.acquire()

    def _lead(self, unit: _Unit[object]) -> None:
        batch = [unit]
        try:
            with self._lock:
                while self._waiting and len(batch) < limits.GROUP_COMMIT_UNITS:
                    batch.append(self._waiting.popleft())
                self._batch = batch
            with self._busy:
                self._commit(batch)
        finally:
            self._hand_over(batch)

    def _abandon(self, unit: _Unit[T]) -> None:
        """Leave the queue after an interrupt: pass on the lead, or wait for the thread that runs the unit."""
        with self._lock:
            if unit in self._waiting:
                self._waiting.remove(unit)  # type: ignore[arg-type]
                return
            running = unit in self._batch
        if unit.done:
            return
        if unit.leads:
            self._hand_over([unit])  # type: ignore[list-item]
        elif running:
            unit.wake.acquire()

    def _commit(self, batch: list[_Unit[object]]) -> None:
        try:
            if self._closed:
                raise Unavailable("this memory is closed", fix="open it again")  # noqa: TRY301 - told like any failure
            if self._connection.in_transaction:  # the disk refused the last rollback
                self._connection.execute("ROLLBACK")
            begin_immediate(self._connection)
            self._check()
            alone = len(batch) == 1
            for unit in batch:
                unit.run(self._connection, alone=alone)
            self._connection.execute("COMMIT")
            self.commits += 1
        except BaseException as error:  # noqa: BLE001 - a failed commit undoes all and is raised to each caller
            self._undo()
            for unit in batch:
                unit.error = unit.error or (
                    error
                    if isinstance(error, Exception)
                    else Unavailable(
                        "the commit was interrupted", why="its leading thread was stopped", fix="try again"
                    )
                )
            if not isinstance(error, Exception):
                batch[0].error = error
        for unit in batch:
            if isinstance(unit.error, sqlite3.Error | UnicodeDecodeError):
                translation = to_credenda_error(unit.error, self._path)
                translation.__cause__ = unit.error
                unit.error = translation

    def _undo(self) -> None:
        self.undone += 1
        try:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
        except sqlite3.Error:
            # The disk may refuse even this; the next commit tries once more, and SQLite does when the file is opened.
            return

    def _hand_over(self, batch: list[_Unit[object]]) -> None:
        with self._lock:
            successor = self._waiting.popleft() if self._waiting else None
            if successor is None:
                self._led = False
            else:
                successor.leads = True
        for unit in batch:
            unit.done = True
        for unit in batch[1:]:
            unit.wake.release()
        if successor is not None:
            successor.wake.release()
