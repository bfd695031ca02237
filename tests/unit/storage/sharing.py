"""A group commit whose first unit can be held open while other callers queue behind it."""

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from threading import Event, Semaphore
from typing import Any

from credenda import limits
from credenda.storage.sqlite.connection import GroupCommit
from tests.waiting import PATIENCE_SECONDS

from .build import Refusing, refusing

SCHEMA = """
CREATE TABLE said (text TEXT NOT NULL);
CREATE TABLE owner (id INTEGER PRIMARY KEY);
CREATE TABLE owned (id INTEGER REFERENCES owner (id) DEFERRABLE INITIALLY DEFERRED);
"""


class Queue(deque[Any]):
    """The queue of waiting units, which tells when one has joined."""

    def __init__(self) -> None:
        super().__init__()
        self.joined = Semaphore(0)

    def append(self, x: Any, /) -> None:  # noqa: ANN401 - as deque has it
        super().append(x)
        self.joined.release()


class Shared:
    """A group commit over a real file, whose first unit can be held open while others queue behind it."""

    def __init__(self, path: Path) -> None:
        self.connection: Refusing = refusing(path)
        self.connection.executescript(f"PRAGMA journal_mode = WAL; PRAGMA foreign_keys = ON; {SCHEMA}")
        self.commit = GroupCommit(self.connection, str(path))
        self.queue = self.commit._waiting = Queue()  # noqa: SLF001 - to know when a caller is in line
        self.pool = ThreadPoolExecutor(limits.GROUP_COMMIT_UNITS + 16)
        self._held, self._go_on = Event(), Event()

    def say(self, text: str) -> str:
        self.connection.execute("INSERT INTO said VALUES (?)", (text,))
        return text

    def said(self) -> list[str]:
        return [row[0] for row in self.connection.execute("SELECT text FROM said ORDER BY rowid")]

    def hold(self) -> Future[None]:
        """Let a first caller lead, and keep its unit open until `go_on`."""

        def work() -> None:
            self._held.set()
            assert self._go_on.wait(PATIENCE_SECONDS), "nobody let it go on"

        first = self.pool.submit(self.commit.run, work)
        assert self._held.wait(PATIENCE_SECONDS), "the first caller has not begun"
        return first

    def join(self, work: Callable[[], object]) -> Future[object]:
        """Queue one more caller behind the first, and return when it is in line."""
        future = self.pool.submit(self.commit.run, work)
        assert self.queue.joined.acquire(timeout=PATIENCE_SECONDS)
        return future

    def go_on(self) -> None:
        self._go_on.set()

    def close(self) -> None:
        self.go_on()
        self.pool.shutdown()
        self.commit.close()
