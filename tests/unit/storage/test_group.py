"""Group commit: one transaction for many callers, each of whom gets its own result or its own error."""

import signal
import sqlite3
import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from threading import Event, Semaphore
from typing import Any

import pytest

from credenda import limits
from credenda.errors import Conflict, Unavailable
from credenda.storage.sqlite import group
from credenda.storage.sqlite.group import GroupCommit, begin_immediate, insist

from .build import Refusing, failure, refusing

SECONDS = 10
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
            assert self._go_on.wait(SECONDS)

        first = self.pool.submit(self.commit.run, work)
        assert self._held.wait(SECONDS)
        return first

    def join(self, work: Callable[[], object]) -> Future[object]:
        """Queue one more caller behind the first, and return when it is in line."""
        future = self.pool.submit(self.commit.run, work)
        assert self.queue.joined.acquire(timeout=SECONDS)
        return future

    def go_on(self) -> None:
        self._go_on.set()

    def close(self) -> None:
        self.go_on()
        self.pool.shutdown()
        self.commit.close()


@pytest.fixture
def shared(tmp_path: Path) -> Iterator[Shared]:
    made = Shared(tmp_path / "group.db")
    yield made
    made.close()


def test_those_who_wait_share_the_next_commit(shared: Shared) -> None:
    first = shared.hold()
    others = [shared.join(lambda turn=turn: shared.say(f"turn {turn}")) for turn in range(12)]
    shared.go_on()
    first.result(SECONDS)
    assert [future.result(SECONDS) for future in others] == [f"turn {turn}" for turn in range(12)]
    assert shared.commit.commits == 2
    assert shared.said() == [f"turn {turn}" for turn in range(12)]


def test_a_commit_is_shared_by_a_bounded_number(shared: Shared) -> None:
    first = shared.hold()
    others = [shared.join(lambda: shared.say("more")) for _ in range(limits.GROUP_COMMIT_UNITS + 3)]
    shared.go_on()
    for future in (first, *others):
        future.result(SECONDS)
    assert shared.commit.commits == 3


def test_many_threads_each_get_their_own_result(shared: Shared) -> None:
    def run(thread: int) -> list[str]:
        return [shared.commit.run(lambda turn=turn: shared.say(f"{thread}.{turn}")) for turn in range(25)]

    results = list(shared.pool.map(run, range(16)))
    assert results == [[f"{thread}.{turn}" for turn in range(25)] for thread in range(16)]
    assert sorted(shared.said()) == sorted(text for result in results for text in result)
    assert shared.commit.commits <= 16 * 25


def test_an_error_undoes_its_own_unit_and_reaches_its_own_caller(shared: Shared) -> None:
    def fail(error: Exception) -> None:
        shared.say("never")
        raise error

    errors = [ValueError("a"), KeyError("b")]
    first = shared.hold()
    kept = shared.join(lambda: shared.say("kept"))
    failed = [shared.join(lambda error=error: fail(error)) for error in errors]
    late = shared.join(lambda: shared.say("late"))
    shared.go_on()
    assert [future.exception(SECONDS) for future in (first, kept, *failed, late)] == [None, None, *errors, None]
    assert shared.said() == ["kept", "late"]


def test_a_refused_statement_reaches_only_its_caller_translated(shared: Shared) -> None:
    first = shared.hold()
    kept = shared.join(lambda: shared.say("kept"))
    refused = shared.join(lambda: shared.connection.execute("INSERT INTO said VALUES (NULL)"))
    shared.go_on()
    first.result(SECONDS)
    assert kept.result(SECONDS) == "kept"
    error = refused.exception(SECONDS)
    assert isinstance(error, Conflict)
    assert isinstance(error.__cause__, sqlite3.IntegrityError)


def test_an_error_of_a_unit_that_is_alone_undoes_it(shared: Shared) -> None:
    with pytest.raises(ZeroDivisionError):
        shared.commit.run(lambda: (shared.say("never"), 1 // 0))
    assert shared.commit.run(lambda: shared.say("after")) == "after"
    assert shared.said() == ["after"]


def test_a_commit_that_fails_is_reported_to_all_and_undoes_all(shared: Shared) -> None:
    """A foreign key that is checked at the end makes a real COMMIT fail."""
    first = shared.hold()
    units = [
        shared.join(lambda: shared.say("lost")),
        shared.join(lambda: shared.connection.execute("INSERT INTO owned VALUES (7)")),
        shared.join(lambda: shared.say("lost too")),
    ]
    shared.go_on()
    first.result(SECONDS)
    errors = [future.exception(SECONDS) for future in units]
    assert [type(error) for error in errors] == [Conflict] * 3
    assert len({id(error) for error in errors}) == 3
    assert shared.said() == []
    assert shared.commit.run(lambda: shared.say("after")) == "after"


@pytest.mark.parametrize("statement", ["BEGIN IMMEDIATE", "COMMIT", "SAVEPOINT unit", "RELEASE unit"])
@pytest.mark.parametrize("code", [sqlite3.SQLITE_IOERR_FSYNC, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_LOCK])
def test_a_disk_that_refuses_is_reported_to_all_and_the_next_commit_works(
    shared: Shared, statement: str, code: int
) -> None:
    first = shared.hold()
    units = [shared.join(lambda: shared.say("lost")) for _ in range(3)]
    shared.connection.refused = {statement: failure(code)}
    if statement == "COMMIT":
        shared.connection.refused["ROLLBACK"] = failure(code)
    shared.go_on()
    failed = units if statement != "COMMIT" else [first, *units]
    assert all(isinstance(future.exception(SECONDS), Unavailable) for future in failed)
    shared.connection.refused = {}
    assert shared.commit.run(lambda: shared.say("after")) == "after"
    assert shared.said() == ["after"]


def test_an_interrupt_while_leading_stops_the_leader_and_no_one_else(shared: Shared) -> None:
    def interrupt() -> None:
        shared.say("lost")
        raise KeyboardInterrupt

    first = shared.hold()
    leader = shared.join(lambda: shared.say("lost"))
    units = [shared.join(interrupt), shared.join(lambda: shared.say("lost"))]
    shared.go_on()
    first.result(SECONDS)
    assert isinstance(leader.exception(SECONDS), KeyboardInterrupt)
    assert all(isinstance(future.exception(SECONDS), Unavailable) for future in units)
    assert shared.said() == []
    assert shared.commit.run(lambda: shared.say("after")) == "after"


def interrupt_main() -> None:
    ident = threading.main_thread().ident
    assert ident is not None
    signal.pthread_kill(ident, signal.SIGINT)


def test_an_interrupted_waiter_leaves_the_queue_and_blocks_no_one(shared: Shared) -> None:
    first = shared.hold()

    def interrupt_when_queued() -> None:
        assert shared.queue.joined.acquire(timeout=SECONDS)
        interrupt_main()

    interrupter = shared.pool.submit(interrupt_when_queued)
    with pytest.raises(KeyboardInterrupt):
        shared.commit.run(lambda: shared.say("never"))
    interrupter.result(SECONDS)
    later = shared.join(lambda: shared.say("later"))
    shared.go_on()
    first.result(SECONDS)
    assert later.result(SECONDS) == "later"
    assert shared.said() == ["later"]


def test_an_interrupt_while_another_runs_the_unit_waits_for_its_end(shared: Shared) -> None:
    first = shared.hold()
    leader = shared.join(lambda: shared.say("leader"))
    running, finish = Event(), Event()

    def slow() -> None:
        running.set()
        assert finish.wait(SECONDS)
        shared.say("mine")

    def interrupt_when_running() -> None:
        assert shared.queue.joined.acquire(timeout=SECONDS)
        shared.go_on()
        assert running.wait(SECONDS)
        interrupt_main()
        finish.set()

    interrupter = shared.pool.submit(interrupt_when_running)
    with pytest.raises(KeyboardInterrupt):
        shared.commit.run(slow)
    for future in (interrupter, first, leader):
        future.result(SECONDS)
    assert shared.said() == ["leader", "mine"]
    assert shared.commit.run(lambda: shared.say("after")) == "after"


def test_an_interrupt_that_comes_just_after_the_lead_was_handed_over_hands_it_on(shared: Shared) -> None:
    """The moment cannot be hit from outside: the lead is taken, and the interrupt comes before it is used."""
    unit = group._Unit(lambda: shared.say("never"))  # noqa: SLF001 - see above
    unit.leads = shared.commit._led = True  # noqa: SLF001 - see above
    waiting = shared.join(lambda: shared.say("next"))
    shared.commit._abandon(unit)  # noqa: SLF001 - see above
    assert waiting.result(SECONDS) == "next"


def test_an_interrupt_before_the_queue_is_reached_waits_for_no_one(shared: Shared) -> None:
    first = shared.hold()
    shared.commit._abandon(group._Unit(lambda: shared.say("never")))  # noqa: SLF001 - as above
    shared.go_on()
    first.result(SECONDS)
    assert shared.commit.run(lambda: shared.say("after")) == "after"


def test_a_closed_group_refuses_and_those_who_wait_are_told(shared: Shared) -> None:
    shared.commit.close()
    with pytest.raises(Unavailable, match="closed"):
        shared.commit.run(lambda: shared.say("never"))


@pytest.fixture
def two(tmp_path: Path) -> Iterator[tuple[sqlite3.Connection, sqlite3.Connection]]:
    """Two connections that do not wait by themselves; the first holds the write lock."""
    pair = [sqlite3.connect(tmp_path / "lock.db", isolation_level=None, timeout=0) for _ in range(2)]
    pair[0].execute("PRAGMA journal_mode = WAL")
    pair[0].execute("BEGIN IMMEDIATE")
    yield pair[0], pair[1]
    for connection in pair:
        connection.close()


def test_the_write_lock_is_waited_for_in_short_uneven_pauses(
    two: tuple[sqlite3.Connection, sqlite3.Connection], monkeypatch: pytest.MonkeyPatch
) -> None:
    holder, waiter = two
    pauses: list[float] = []

    def pause(duration_seconds: float) -> None:
        pauses.append(duration_seconds)
        if len(pauses) == 20:
            holder.execute("ROLLBACK")

    monkeypatch.setattr(group, "pause", pause)
    begin_immediate(waiter)
    assert waiter.in_transaction
    assert len(pauses) == 20
    assert all(0.0002 <= duration <= 0.005 for duration in pauses)
    assert len(set(pauses)) > 10


def test_patience_ends(two: tuple[sqlite3.Connection, sqlite3.Connection], monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(1_000))
    pauses: list[float] = []
    monkeypatch.setattr(group, "seconds", lambda: next(clock))
    monkeypatch.setattr(group, "pause", pauses.append)
    with pytest.raises(sqlite3.OperationalError) as raised:
        begin_immediate(two[1])
    assert raised.value.sqlite_errorcode == sqlite3.SQLITE_BUSY
    assert len(pauses) == limits.BUSY_TIMEOUT_SECONDS


def test_only_a_lock_is_waited_for(
    two: tuple[sqlite3.Connection, sqlite3.Connection], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(group, "pause", None)
    with pytest.raises(sqlite3.OperationalError, match="syntax"):
        insist(two[1], "BEGIN SOMEHOW")
