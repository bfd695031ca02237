"""A store in a folder, raw connections beside it, and errors as SQLite raises them."""

import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from credenda.model.change import Actor, ChangeKind, ChangeRecord
from credenda.model.event import NewEvent, Role
from credenda.model.memory import Memory, MemoryType
from credenda.storage.sqlite.store import SqliteStore
from credenda.storage.store import EventFilter, Row

ANA = "ana"
MAY_8_2023_US = 1_683_504_000_000_000


@contextmanager
def opened(path: Path, *, read_only: bool = False) -> Generator[SqliteStore]:
    store = SqliteStore(str(path), read_only=read_only)
    try:
        yield store
    finally:
        store.close()


@contextmanager
def raw(path: Path) -> Generator[sqlite3.Connection]:
    """Open a connection of no one's, as a stranger's tool would."""
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        yield connection
    finally:
        connection.close()


def writer_of(store: SqliteStore) -> sqlite3.Connection:
    connection = store._writer  # noqa: SLF001 - to set limits and look at pragmas, as only the owner can
    assert connection is not None
    return connection


def put(store: SqliteStore, *rows: Row, user_id: str = ANA) -> list[str]:
    return store.commit(user_id, lambda writer: [writer.put(row) for row in rows])


def events(store: SqliteStore) -> list[str]:
    with store.reader(ANA) as reader:
        return [event.text for event in reader.find_events(EventFilter())]


def said(text: str) -> NewEvent:
    return NewEvent(text=text, role=Role.USER, speaker="user", occurred_us=MAY_8_2023_US)


def held(text: str) -> Memory:
    return Memory(
        text=text, id="", version=1, type=MemoryType.FACT, created_us=MAY_8_2023_US, recorded_us=MAY_8_2023_US
    )


def logged(kind: ChangeKind, memory_id: str | None = None) -> ChangeRecord:
    return ChangeRecord(id="", kind=kind, actor=Actor.RULE, reason="said so", at_us=MAY_8_2023_US, memory_id=memory_id)


def failure(code: int, name: str = "SQLITE_SOMETHING") -> sqlite3.OperationalError:
    """Make an error as the driver raises it for a result code of SQLite."""
    error = sqlite3.OperationalError("the driver's own words")
    error.sqlite_errorcode = code
    error.sqlite_errorname = name
    return error


class Refusing(sqlite3.Connection):
    """A connection on which chosen statements fail, as they do on a bad disk."""

    refused: dict[str, sqlite3.Error]

    def execute(self, sql: str, parameters: tuple[object, ...] = ()) -> sqlite3.Cursor:  # type: ignore[override]
        error = getattr(self, "refused", {}).get(sql)
        if error is not None:
            raise error
        return super().execute(sql, parameters)


def refusing(path: Path) -> Refusing:
    return sqlite3.connect(path, isolation_level=None, check_same_thread=False, factory=Refusing)
