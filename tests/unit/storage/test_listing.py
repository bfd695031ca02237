"""The full-text index takes the words of events in batches; nobody outside can tell."""

import sqlite3
from pathlib import Path

import pytest

from credenda import limits
from credenda.model.change import ChangeKind
from credenda.storage.sqlite.connection import connect
from credenda.storage.sqlite.store import SqliteStore
from credenda.storage.store import Redaction, pack_code

from .build import ANA, MAY_8_2023_US, held, logged, opened, put, raw, said

WORD = "saffron"
LONG = " ".join(f"{WORD} sentence {place}." for place in range(200))


def nominated(store: SqliteStore, *terms: str) -> list[int]:
    with store.reader(ANA) as reader:
        return reader.nominate(terms, 5_000)


def listed(path: Path) -> int:
    with raw(path) as connection:
        return connection.execute("SELECT listed FROM tenants").fetchone()[0]


def indexed_rows(path: Path) -> int:
    """Count documents in the index itself, as no view of ours shows them."""
    connection = connect(str(path))
    try:
        found = connection.execute("SELECT count(*) FROM search_index WHERE search_index MATCH ?", (f'"{WORD}"',))
        return found.fetchone()[0]
    finally:
        connection.close()


@pytest.mark.parametrize("count", [1, limits.EVENTS_LISTED_TOGETHER - 1, limits.EVENTS_LISTED_TOGETHER, 100])
def test_every_event_is_nominated_from_the_moment_it_is_filed(tmp_path: Path, count: int) -> None:
    with opened(tmp_path / "m.db") as store:
        for place in range(1, count + 1):
            put(store, said(f"{WORD} number {place}"))
            assert len(nominated(store, WORD)) == place
        assert store.check(ANA) == []
    assert indexed_rows(tmp_path / "m.db") == listed(tmp_path / "m.db")
    assert count - listed(tmp_path / "m.db") < limits.EVENTS_LISTED_TOGETHER


def test_a_long_event_is_listed_at_once_with_all_that_waits(tmp_path: Path) -> None:
    with opened(tmp_path / "m.db") as store:
        put(store, said(f"{WORD} once"), said(LONG))
        assert listed(tmp_path / "m.db") == 2
        assert len(nominated(store, WORD)) > 2
        assert store.check(ANA) == []


def test_a_memory_is_listed_while_events_wait(tmp_path: Path) -> None:
    with opened(tmp_path / "m.db") as store:
        _, memory_id = put(store, said("Nothing."), held(f"Ana likes {WORD}."))
        put(store, logged(ChangeKind.ADD, memory_id))
        assert nominated(store, WORD) == [pack_code(1, memory=True)]
        assert store.check(ANA) == []


@pytest.mark.parametrize("text", [f"My {WORD} is here.", LONG], ids=["waiting", "listed"])
@pytest.mark.parametrize("later", [0, limits.EVENTS_LISTED_TOGETHER * 2])
def test_words_taken_out_never_reach_the_index(tmp_path: Path, text: str, later: int) -> None:
    with opened(tmp_path / "m.db") as store:
        (event_id,) = put(store, said(text))
        put(store, Redaction(id=event_id, at_us=MAY_8_2023_US))
        put(store, *(said(f"turn {place}") for place in range(later)))
        assert nominated(store, WORD) == []
        assert store.check(ANA) == []
    assert indexed_rows(tmp_path / "m.db") == 0


def test_what_is_left_of_a_waiting_event_is_found(tmp_path: Path) -> None:
    with opened(tmp_path / "m.db") as store:
        (event_id,) = put(store, said(f"tea and {WORD}"))
        put(store, Redaction(id=event_id, at_us=MAY_8_2023_US, text="tea and        "))
        assert nominated(store, WORD) == []
        assert nominated(store, "tea") == [pack_code(1, memory=False)]


def log_bytes(path: Path) -> int:
    return path.with_name(f"{path.name}-wal").stat().st_size


def test_a_process_that_writes_on_gets_a_log_of_full_length(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with opened(path) as store:
        put(store, said("once"))
        assert log_bytes(path) < 1_000_000
        for _ in range(8):
            put(store, said("again"))
        full = log_bytes(path)
        assert 4_000_000 < full < 5_000_000
        for _ in range(50):
            put(store, said("and again"))
        assert log_bytes(path) - full < 100_000  # the log is used again from its beginning
        assert store.check(ANA) == []


def test_a_log_cut_off_by_deleting_grows_again_only_when_writing_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with opened(path) as store:
        ids = [put(store, said("again"))[0] for _ in range(9)]
        put(store, Redaction(id=ids[0], at_us=MAY_8_2023_US))
        assert log_bytes(path) == 0
        put(store, said("once more"))
        assert log_bytes(path) < 1_000_000
        for _ in range(8):
            put(store, said("again"))
        assert log_bytes(path) > 4_000_000


def test_a_busy_file_is_written_on_without_a_longer_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "m.db"
    with opened(path) as store:

        def refused(*_: object, **__: object) -> sqlite3.Connection:
            raise sqlite3.OperationalError("database is locked")

        monkeypatch.setattr("credenda.storage.sqlite.connection.connect", refused)
        for _ in range(12):
            put(store, said("again"))
        assert log_bytes(path) < 1_000_000
