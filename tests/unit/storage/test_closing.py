"""What fails on the way leaves no connection open behind it."""

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from credenda.errors import Corrupt, Unavailable
from credenda.storage.sqlite import check, erase

from .build import events, failure, opened, put, said


class Counted(sqlite3.Connection):
    """A connection that is known until it is closed."""

    open: set[int]
    refused: str = ""
    """A statement that fails."""

    def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:  # noqa: ANN401 - as sqlite3 has it
        if sql == Counted.refused:
            raise failure(sqlite3.SQLITE_IOERR)
        return super().execute(sql, parameters)

    def close(self) -> None:
        super().close()
        self.open.discard(id(self))


@pytest.fixture
def left_open(monkeypatch: pytest.MonkeyPatch) -> set[int]:
    """The connections that were made and not closed."""
    Counted.open = set()
    monkeypatch.setattr(Counted, "refused", "")
    connect = sqlite3.connect
    kept: list[sqlite3.Connection] = []

    def counted(path: str, **named: Any) -> sqlite3.Connection:  # noqa: ANN401 - as sqlite3 has it
        made = connect(path, factory=Counted, **named)
        kept.append(made)  # so that no other gets its number
        Counted.open.add(id(made))
        return made

    monkeypatch.setattr(sqlite3, "connect", counted)
    return Counted.open


def fail(*_: object, **__: object) -> None:
    raise Corrupt("the disk is at fault")


def test_a_copy_that_cannot_be_made(tmp_path: Path, left_open: set[int], monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(tmp_path / "memory.db") as store:
        put(store, said("I live in Linz."))
        with store.scratch("ana"):
            pass
        before = set(left_open)
        monkeypatch.setattr(check, "load_rows", fail)
        with pytest.raises(Corrupt), store.scratch("ana"):
            pass
        assert left_open == before
    assert not left_open


def test_an_erasure_that_cannot_be_finished_keeps_nobody_out(
    tmp_path: Path, left_open: set[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "memory.db"
    with opened(path):
        pass
    monkeypatch.setattr("credenda.storage.sqlite.store.has_unfinished_erasure", bool)
    monkeypatch.setattr(erase, "finish_erasures", fail)
    with opened(path) as store:
        assert store.commit("ana", lambda writer: writer.tenant.user_id) == "ana"
    assert not left_open


def test_a_file_that_was_brought_up_to_date_and_then_fails(tmp_path: Path, left_open: set[int]) -> None:
    Counted.refused = "PRAGMA busy_timeout = 0"
    with pytest.raises(Unavailable, match="could not be read or written"), opened(tmp_path / "memory.db"):
        pass
    assert not left_open


def test_an_interrupt_while_a_connection_is_made(
    tmp_path: Path, left_open: set[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("credenda.storage.sqlite.connection.prepare_connection", interrupted)
    with pytest.raises(KeyboardInterrupt), opened(tmp_path / "memory.db"):
        pass
    assert not left_open


def test_a_reader_that_cannot_be_ended(tmp_path: Path, left_open: set[int]) -> None:
    with opened(tmp_path / "memory.db") as store:
        put(store, said("I live in Linz."))
        Counted.refused = "ROLLBACK"
        before = set(left_open)
        with pytest.raises(Unavailable), store.scratch("ana"):
            pass
        with pytest.raises(Unavailable), store.reader("ana"):
            pass
        assert left_open == before
        Counted.refused = ""
        assert events(store) == ["I live in Linz."]
    assert not left_open
