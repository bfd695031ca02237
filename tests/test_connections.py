"""A connection that is left open is found in the test that opened it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from threading import Thread

import pytest

from .connections import left_open, opened


def test_what_was_closed_is_not_named() -> None:
    before = len(opened)
    with closing(sqlite3.connect(":memory:")):
        assert len(opened) == before + 1
    assert left_open(before) == []
    assert len(opened) == before


def test_what_is_open_is_named_with_the_place_and_closed() -> None:
    before = len(opened)
    connection = sqlite3.connect(":memory:")
    (found,) = left_open(before)
    assert "test_connections.py" in found.splitlines()[0]
    assert "test_what_is_open_is_named" in found
    assert left_open(before) == []
    with closing(connection), closing(sqlite3.connect(":memory:")):
        assert left_open(before) != []


def test_one_that_a_thread_opened_is_named_too() -> None:
    before = len(opened)
    made: list[sqlite3.Connection] = []
    thread = Thread(target=lambda: made.append(sqlite3.connect(":memory:", check_same_thread=False)))
    thread.start()
    thread.join()
    assert len(left_open(before)) == 1


def test_what_a_memory_opens_that_was_open_before_is_left_to_whoever_closes_it(tmp_path: Path) -> None:
    before = len(opened)
    with closing(sqlite3.connect(tmp_path / "memory.db")):
        since = len(opened)
        more = sqlite3.connect(tmp_path / "memory.db")
        assert left_open(since) == []
    assert len(left_open(before)) == 1
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        more.execute("SELECT 1")
