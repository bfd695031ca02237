"""A wholly deleted event keeps no name, and its call can still be repeated; the log keeps no deleted words."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from credenda import Conflict, Credenda

Say = Callable[..., None]
NAMES = ("sessionquux", "agentquux", "speakerquux", "keyquux", "tagquux", "metaquux", "topicquux")


def _remember(mem: Credenda) -> str:
    receipt = mem.remember(
        [{"role": "person", "name": "speakerquux", "content": "I live in Linz."}],
        session="sessionquux",
        agent="agentquux",
        topic="topicquux",
        tags=["tagquux"],
        metadata={"source": "metaquux"},
        idempotency_key="keyquux",
    )
    mem.settle()
    return receipt.event_ids[0]


def test_a_deleted_event_keeps_no_name_in_any_byte(mem: Credenda, path: Path) -> None:
    event = _remember(mem)
    mem.delete(event)
    assert mem.data.doctor().findings == ()
    assert mem.data.rebuild(dry_run=True).differences == ()
    assert mem.data.rebuild(reextract=True, dry_run=True).differences == ()
    mem.close()
    raw = b"".join(file.read_bytes() for file in path.parent.iterdir() if file.is_file())
    assert [name for name in NAMES if name.encode() in raw] == []


def test_the_call_of_a_deleted_event_is_still_recognised(mem: Credenda) -> None:
    event = _remember(mem)
    mem.delete(event)
    assert mem.delete(event).memories == 0
    again = mem.remember(
        [{"role": "person", "name": "speakerquux", "content": "I live in Linz."}],
        topic="topicquux",
        idempotency_key="keyquux",
    )
    assert (again.cached, again.event_ids) == (True, (event,))
    with pytest.raises(Conflict, match="idempotency key"):
        mem.remember("Another text.", idempotency_key="keyquux")


def test_a_short_id_deletes_the_memory_of_its_own_number_and_no_other(mem: Credenda) -> None:
    for number in range(12):
        text = f"My locker {number} is blue."
        mem.remember(text, claims=[{"quote": text, "attribute": f"locker {number}", "value": "blue"}])
    assert mem.delete("m1").memories == 1
    left = len(mem.list(limit=50).items)
    mem.delete("m1")  # it begins m10 too
    assert len(mem.list(limit=50).items) == left


def test_later_events_keep_their_place_in_the_chain(mem: Credenda, say: Say) -> None:
    event = _remember(mem)
    say("I like tea.")
    mem.delete(event)
    assert mem.data.doctor().ok
    say("I like milk.")
    assert mem.data.doctor().ok


def test_the_same_key_on_purpose_stores_words_that_were_refused(mem: Credenda, say: Say) -> None:
    say("I live in Linz.")
    mem.delete(mem.list(attribute="residence").items[0].id)
    assert mem.remember("I live in Linz.", idempotency_key="k").refused
    assert mem.remember("I live in Linz.", idempotency_key="k").cached
    receipt = mem.remember("I live in Linz.", idempotency_key="k", allow_deleted=True)
    mem.settle()
    assert (receipt.cached, receipt.refused) == (False, ())
    assert [one.value for one in mem.list(attribute="residence").items] == ["Linz"]
    again = mem.remember("I live in Linz.", idempotency_key="k", allow_deleted=True)
    assert (again.cached, again.event_ids) == (True, receipt.event_ids)


def test_the_same_key_on_purpose_stores_words_that_were_deleted(mem: Credenda) -> None:
    first = mem.remember("I live in Linz.", idempotency_key="k")
    mem.settle()
    mem.delete(first.event_ids[0])
    receipt = mem.remember("I live in Linz.", idempotency_key="k", allow_deleted=True)
    mem.settle()
    assert receipt.event_ids != first.event_ids
    assert [one.value for one in mem.list(attribute="residence").items] == ["Linz"]


@pytest.mark.sqlite_file
def test_a_deletion_says_that_a_reader_holds_the_log_and_the_next_write_empties_it(
    mem: Credenda, say: Say, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("credenda.storage.sqlite.store.LOG_PATIENCE_MS", 1)
    say("I live in Zorkmidcity.")
    log = path.with_name("memory.db-wal")
    with closing(sqlite3.connect(path)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM events").fetchone()
        receipt = mem.delete(mem.list(attribute="residence").items[0].id)
        assert not receipt.log_emptied
        reader.execute("COMMIT")
    assert b"Zorkmidcity" in path.read_bytes() + log.read_bytes()
    mem.remember("I like tea.")
    assert b"Zorkmidcity" not in path.read_bytes() + log.read_bytes()
    assert mem.delete(mem.remember("I like milk.").event_ids[0]).log_emptied
