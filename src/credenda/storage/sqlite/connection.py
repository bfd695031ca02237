"""Connections to a SQLite file: pragmas, SQL functions, and a pool of read connections."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import Final

from credenda.deadline import check_deadline, has_deadline, is_over
from credenda.errors import Unavailable
from credenda.paths import create_file
from credenda.storage.damage import compute_checksum, is_sound_vector
from credenda.storage.sql.match_words import compose_event_words, compose_memory_words
from credenda.storage.sqlite.errors import translate_errors
from credenda.storage.sqlite.open_file import OpenFile

__all__ = [
    "LOG_PATIENCE_MS",
    "ReadPool",
    "connect",
    "empty_log",
    "grow_log",
    "is_there",
    "prepare_connection",
]

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
    connection.create_function("credenda_file_key", 0, lambda: key)
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
