"""The recall log: which memories were shown, counted once a session and day, without making anyone wait."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from threading import Event

import pytest

from credenda import Credenda, NotFound, Unavailable, bootstrap
from credenda.model.event import NewEvent, Role
from credenda.storage.store import Writer
from credenda.testing import ManualClock
from tests.waiting import PATIENCE_SECONDS


@pytest.fixture
def linz(mem: Credenda) -> str:
    mem.remember("I live in Linz.", session="s1")
    mem.settle()
    return mem.list().items[0].id


def _log(path: Path) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        columns = "session_id, day, shown, useful"
        return list(connection.execute(f"SELECT {columns} FROM access_log ORDER BY day, session_id"))  # noqa: S608


@pytest.mark.requirement("S-056", "S-057")
def test_a_showing_counts_once_a_session_and_day(mem: Credenda, linz: str, clock: ManualClock, path: Path) -> None:
    assert (mem.get(linz).access_count, mem.get(linz).last_accessed) == (0, None)
    for session in (None, "s1", None, "s1"):
        assert mem.search("Linz", session=session).hits[0].id == linz
        clock.advance(timedelta(minutes=1))
    mem.settle()
    day = clock.now_us() // 86_400_000_000
    assert _log(path) == [("", day, 2, 0), ("s1", day, 2, 0)]
    assert mem.get(linz).access_count == 2
    clock.advance(timedelta(days=1))
    mem.search("Linz")
    mem.settle()
    assert _log(path)[2] == ("", day + 1, 1, 0)
    assert (mem.get(linz).access_count, mem.get(linz).last_accessed) == (3, clock.now())


@pytest.mark.requirement("S-056")
def test_a_context_shows_too_and_a_search_may_go_unrecorded(mem: Credenda, linz: str, path: Path) -> None:
    mem.search("Linz", record_access=False)
    mem.context("Linz", record_access=False)
    mem.search("zebra crossing")
    mem.settle()
    assert _log(path) == []
    assert linz in mem.context("Where do I live?").text
    mem.settle()
    assert [row[2] for row in _log(path)] == [1]
    assert mem.get(linz).access_count == 1


def test_feedback_is_counted_apart_from_showing(mem: Credenda, linz: str, path: Path) -> None:
    mem.feedback(linz, useful=True)
    assert [row[2:] for row in _log(path)] == [(0, 1)]
    assert mem.get(linz).access_count == 0
    mem.search("Linz")
    mem.settle()
    assert [row[2:] for row in _log(path)] == [(1, 1)]
    assert mem.get(linz).access_count == 1
    (event,) = mem.search("Linz").hits[0].evidence
    mem.feedback(event.id, useful=False)
    assert [row[2:] for row in _log(path)] == [(2, -1)]


@pytest.mark.requirement("C-009")
def test_feedback_counts_once_a_session_and_day_and_the_last_word_stands(
    mem: Credenda, linz: str, clock: ManualClock, path: Path
) -> None:
    mem.search("Linz", session="s1")
    for useful in (True, True, False, True, True):
        mem.feedback(linz, useful)
    day = clock.now_us() // 86_400_000_000
    assert _log(path) == [("s1", day, 1, 1)]
    mem.feedback(linz, False, session="s2")  # noqa: FBT003 - the public contract's order
    assert _log(path) == [("s1", day, 1, 1), ("s2", day, 0, -1)]
    clock.advance(timedelta(days=1))
    mem.feedback(linz, True)  # noqa: FBT003 - the public contract's order
    assert _log(path)[2] == ("s1", day + 1, 0, 1)


@pytest.mark.parametrize("name", ["m999-{tag}", "e999-{tag}", "k1-{tag}", "m1-000000", "nonsense", ""])
def test_feedback_about_nothing_is_not_found(mem: Credenda, linz: str, path: Path, name: str) -> None:
    with pytest.raises(NotFound):
        mem.feedback(name.replace("{tag}", linz.partition("-")[2]), useful=True)
    assert _log(path) == []


@pytest.mark.requirement("S-059")
def test_closing_writes_what_waits(mem: Credenda, linz: str, path: Path) -> None:
    mem.search("Linz")
    assert _log(path) == []
    mem.close()
    assert len(_log(path)) == 1
    with Credenda.open(path, user="ana", workers=False) as again:
        assert again.get(linz).access_count == 1


@pytest.mark.requirement("S-059")
def test_a_search_never_waits_for_the_write_lock(mem: Credenda, linz: str, path: Path) -> None:
    begun, over = Event(), Event()

    def write(writer: Writer) -> None:
        writer.put(NewEvent(text="Nobody sees this yet.", role=Role.USER, speaker="user", occurred_us=1))
        begun.set()
        assert over.wait(PATIENCE_SECONDS), "it is not over"
        raise RuntimeError

    with closing(bootstrap.open_store(path)) as store, ThreadPoolExecutor(1) as pool:
        writing = pool.submit(store.commit, "ana", write)
        assert begun.wait(PATIENCE_SECONDS), "the other call has not begun"
        try:
            assert mem.search("Linz").hits[0].id == linz
            assert linz in mem.context("Linz").text
            assert mem.why(linz).evidence
        finally:
            over.set()
        assert isinstance(writing.exception(), RuntimeError)
    mem.settle()
    assert mem.get(linz).access_count == 1


def test_a_reader_that_may_not_write_leaves_no_trace(mem: Credenda, linz: str, path: Path) -> None:
    with Credenda.open(path, user="ana", read_only=True) as reader:
        assert reader.search("Linz").hits[0].id == linz
    assert _log(path) == []
    assert mem.get(linz).access_count == 0


@pytest.mark.requirement("S-059")
def test_a_search_answers_although_its_showing_cannot_be_written(
    mem: Credenda, linz: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise Unavailable("the disk is full")

    monkeypatch.setattr(mem._parts.store, "commit", fail)  # noqa: SLF001 - the disk takes nothing more
    for _ in range(3):
        assert mem.search("Linz").hits[0].id == linz
        assert linz in mem.context("Linz").text
    mem.close()
