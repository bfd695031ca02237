"""A whole memory out into a file and back: the same bytes, the same ids, the same answers."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from credenda import Conflict, Credenda, Invalid, MemoryUnit, Unavailable, bootstrap
from credenda.storage.sql.row_loader import TABLES
from credenda.storage.sqlite.check import dump_rows
from credenda.storage.sqlite.connection import connect
from credenda.storage.transfer import MIGRATED, TableRow, TenantExport
from credenda.testing import ManualClock

NOT_MOVED = frozenset(
    {
        "tenants",
        "index_blobs",
        "redaction_permits",
        "duties",
        "api_tokens",
        "audit_subjects",
        "audit_names",
        "members",
        "server_secrets",
        *MIGRATED,
    }
)
"""Not exported: the tenant's row (in the header), snapshots, a flag, task runs, the pseudonyms, tasks of other agents,
which name ids of this database, and who has access or wrote through it.
"""
Open = Callable[..., Credenda]
LONG = "\n\n".join(" ".join(f"{name}{turn}" for turn in range(150)) + "." for name in ("alpha", "beta", "gamma"))


@pytest.fixture
def opened(tmp_path: Path, clock: ManualClock) -> Iterator[Open]:
    """Open memories that are closed at the end; each file name is a database of its own."""
    memories: list[Credenda] = []

    def open_memory(name: str, user: str = "ana") -> Credenda:
        memory = Credenda.open(tmp_path / name, user=user, clock=clock, embedder="hashed", workers=False)
        memories.append(memory)
        return memory

    yield open_memory
    for memory in memories:
        memory.close()


@pytest.fixture
def full(opened: Open, clock: ManualClock) -> Credenda:
    """A memory with a bit of everything: versions, contests, deletions, vectors, uses, and work not done yet."""
    mem = opened("full.db")
    sentences = (
        "I live in Linz. My sister is Eva.",
        "I prefer meetings in the morning.",
        "I prefer meetings in the afternoon.",
        "I prefer meetings in the morning.",
        "I moved to Graz.",
        "My day rate is 950 zorkmids.",
        LONG,
    )
    for number, sentence in enumerate(sentences):
        mem.remember(sentence, session="s1", idempotency_key=f"k{number}")
        mem.settle()
        clock.advance(timedelta(days=1))
    spoken = [{"role": "person", "name": "Zoë", "content": "Ich mag Käse. 日本語も。", "id": "t1"}]
    mem.remember(spoken, session="s2", topic="food", tags=["a"], metadata={"n": [1, 2.5, None]})
    held = mem.store(MemoryUnit(text="Likes tea", entity="user", attribute="drink", value="tea", pinned=True))
    mem.settle()
    mem.search("Where do I live?")
    mem.feedback(held.id, useful=True)
    mem.forget(mem.store(MemoryUnit(text="Owns a boat", entity="user", attribute="boat", value="yes")).id)
    mem.delete(next(one for one in mem.list().items if "zorkmids" in one.text).id)
    mem.remember("I am allergic to peanuts.")
    return mem


def test_a_copy_exports_the_same_bytes(full: Credenda, opened: Open, tmp_path: Path) -> None:
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    exported = full.data.export(first)
    copy = opened("copy.db")
    taken = copy.data.import_(first)
    assert (taken.format, taken.rows) == ("credenda", exported.rows)
    assert {"events", "passages", "memories", "evidence", "changes", "embeddings", "tombstones"} <= set(exported.rows)
    assert copy.data.doctor().ok
    copy.data.export(second)
    assert second.read_bytes() == first.read_bytes()


@pytest.mark.requirement("E-083", "E-084", "E-085")
@pytest.mark.parametrize("aged", [(15, 8), (60, 4), (300, 2)])
def test_what_was_compressed_moves_too(opened: Open, clock: ManualClock, tmp_path: Path, aged: tuple[int, int]) -> None:
    days, bits = aged
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    mem = opened("faded.db")
    held = mem.store(MemoryUnit(text="Saw a heron by the weir.", layer="episodic"))
    mem.settle()
    clock.advance(timedelta(days=days))
    assert [tier.bits for tier in mem.manage.compress(dry_run=False).tiers if tier.compressed] == [bits]
    mem.data.export(first)
    copy = opened("copy.db")
    copy.data.import_(first)
    copy.data.export(second)
    assert second.read_bytes() == first.read_bytes()
    assert copy.search("heron").hits[0].id == held.id


def test_the_same_state_is_the_same_file_compressed_or_not(full: Credenda, tmp_path: Path) -> None:
    plain, packed, again = tmp_path / "a.jsonl", tmp_path / "b.jsonl.gz", tmp_path / "other name.GZ"
    for path in (plain, packed, again):
        full.data.export(path)
    assert gzip.decompress(packed.read_bytes()) == plain.read_bytes()
    assert packed.read_bytes() == again.read_bytes()
    assert plain.stat().st_mode & 0o077 == 0


def test_a_copy_answers_as_the_original_does(full: Credenda, opened: Open, tmp_path: Path) -> None:
    full.data.export(tmp_path / "a.jsonl.gz")
    copy = opened("copy.db")
    copy.data.import_(tmp_path / "a.jsonl.gz")
    for query in ("Where do I live?", "Who is my sister?", "alpha7", "peanuts"):
        wanted = [(hit.id, hit.quote) for hit in full.search(query, record_access=False).hits]
        assert [(hit.id, hit.quote) for hit in copy.search(query, record_access=False).hits] == wanted
    for memory in full.list(status=None).items:
        assert copy.get(memory.id) == memory
        assert copy.why(memory.id) == full.why(memory.id)
    assert copy.manage.contests() == full.manage.contests()
    assert copy.stats() == full.stats()


def test_what_waited_is_read_in_the_copy_and_keys_still_count(full: Credenda, opened: Open, tmp_path: Path) -> None:
    full.data.export(tmp_path / "a.jsonl")
    copy = opened("copy.db")
    copy.data.import_(tmp_path / "a.jsonl")
    assert copy.stats().pending_extractions > 0
    copy.settle()
    assert any("peanuts" in memory.text for memory in copy.list().items)
    assert copy.remember("I moved to Graz.", idempotency_key="k4").cached
    with pytest.raises(Conflict):
        copy.remember("I moved to Wien.", idempotency_key="k4")


@pytest.mark.requirement("C-008")
def test_what_was_deleted_stays_away_in_the_copy(full: Credenda, opened: Open, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    full.data.export(path)
    assert b"zorkmids" not in path.read_bytes()
    copy = opened("copy.db")
    copy.data.import_(path)
    receipt = copy.remember("My day rate is 950 zorkmids.")
    copy.settle()
    assert receipt.refused
    assert not [memory for memory in copy.list(status=None).items if "zorkmids" in memory.text]


def test_another_user_of_another_file_may_take_it_and_neighbours_notice_nothing(
    full: Credenda, opened: Open, tmp_path: Path
) -> None:
    full.data.export(tmp_path / "a.jsonl")
    ben, zoe = opened("shared.db", "ben"), opened("shared.db", "zoe")
    ben.remember("I live in Bern.")
    ben.settle()
    before = [hit.quote for hit in ben.search("Where do I live?").hits]
    zoe.data.import_(tmp_path / "a.jsonl")
    assert [hit.quote for hit in ben.search("Where do I live?").hits] == before
    assert "I moved to Graz." in [hit.quote for hit in zoe.search("Where do I live?").hits]
    assert not any("Bern" in hit.text for hit in zoe.search("Bern").hits)
    assert ben.data.doctor().ok
    assert zoe.data.doctor().ok


def test_a_user_who_holds_anything_takes_no_archive(full: Credenda, opened: Open, tmp_path: Path) -> None:
    full.data.export(tmp_path / "a.jsonl")
    busy = opened("busy.db")
    busy.remember("I like chess.")
    busy.data.export(tmp_path / "before.jsonl")
    with pytest.raises(Conflict, match="already"):
        busy.data.import_(tmp_path / "a.jsonl")
    busy.data.export(tmp_path / "after.jsonl")
    assert (tmp_path / "after.jsonl").read_bytes() == (tmp_path / "before.jsonl").read_bytes()


def test_ids_are_not_given_to_two_users_of_one_file(full: Credenda, opened: Open, tmp_path: Path) -> None:
    full.data.export(tmp_path / "a.jsonl")
    other = opened("full.db", "ben")
    with pytest.raises(Conflict, match="another user"):
        other.data.import_(tmp_path / "a.jsonl")
    assert other.stats().events == 0


def test_a_user_who_never_wrote_moves_too(opened: Open, tmp_path: Path) -> None:
    assert opened("none.db").data.export(tmp_path / "a.jsonl").rows == {}
    copy = opened("copy.db")
    assert copy.data.import_(tmp_path / "a.jsonl").turns == 0
    copy.data.export(tmp_path / "b.jsonl")
    assert (tmp_path / "b.jsonl").read_bytes() == (tmp_path / "a.jsonl").read_bytes()
    copy.remember("I live in Linz.")


def test_a_tenant_without_rows_takes_the_ids_of_the_archive(full: Credenda, opened: Open, tmp_path: Path) -> None:
    full.data.export(tmp_path / "a.jsonl")
    fresh = opened("fresh.db")
    with closing(bootstrap.open_store(tmp_path / "fresh.db")) as store:
        store.commit("ana", lambda writer: writer.tenant.tag)
    fresh.search("Where do I live?")
    fresh.data.import_(tmp_path / "a.jsonl")
    assert fresh.search("Where do I live?").hits
    assert fresh.data.doctor().ok


def test_a_folder_is_never_overwritten_and_a_missing_one_not_made(full: Credenda, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(Invalid, match="not a file"):
        full.data.export(tmp_path / "folder")
    with pytest.raises(Unavailable, match="cannot be written"):
        full.data.export(tmp_path / "missing" / "a.jsonl")


@pytest.mark.sqlite_file
@pytest.mark.requirement("D-019")
@pytest.mark.parametrize("ending", ["", "-wal", "-shm", ".erasures"])
def test_a_database_and_its_companions_are_never_overwritten(full: Credenda, tmp_path: Path, ending: str) -> None:
    before = full.stats()
    for name in ("full.db", "linked.db"):
        (tmp_path / "linked.db").unlink(missing_ok=True)
        (tmp_path / "linked.db").hardlink_to(tmp_path / "full.db")
        place = tmp_path / f"{name}{ending}"
        with pytest.raises(Conflict, match="never overwritten"):
            full.data.export(place)
        with pytest.raises(Conflict, match="never overwritten"):
            full.data.export(place, "mcp-memory")
        with pytest.raises(Conflict, match="never overwritten"):
            full.erase("ana", export=place)
        with pytest.raises(Conflict, match="never overwritten"):
            full.manage.retention(plot=place)
    assert full.stats() == before
    assert full.data.doctor().ok


def test_a_failed_export_leaves_what_was_there(full: Credenda, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "out" / "a.jsonl"
    path.parent.mkdir()
    path.write_text("older")

    store = full._parts.store  # noqa: SLF001 - it can be read no further
    honest = store.dump

    def fail(rows: Iterator[tuple[str, TableRow]]) -> Iterator[tuple[str, TableRow]]:
        yield next(rows)
        raise OSError(28, "No space left on device")

    @contextmanager
    def dump(user_id: str, **given: Any) -> Generator[TenantExport]:  # noqa: ANN401 - as `dump` has it
        with honest(user_id, **given) as whole:
            yield replace(whole, rows=fail(iter(whole.rows)))

    monkeypatch.setattr(store, "dump", dump)
    with pytest.raises(Unavailable, match="the disk is full"):
        full.data.export(path)
    assert [file.name for file in path.parent.iterdir()] == ["a.jsonl"]
    assert path.read_text() == "older"


@pytest.mark.sqlite_file
@pytest.mark.usefixtures("full")
def test_every_table_of_a_tenant_moves_or_is_named(tmp_path: Path) -> None:
    connection = connect(str(tmp_path / "full.db"), query_only=True)
    found = connection.execute(
        """SELECT m.name FROM sqlite_schema AS m
           WHERE m.type = 'table' AND 'user_id' IN (SELECT name FROM pragma_table_info(m.name))"""
    )
    assert {row[0] for row in found} == set(TABLES) | NOT_MOVED
    connection.close()


@pytest.mark.sqlite_file
@pytest.mark.usefixtures("full")
def test_rows_are_read_along_their_keys_and_never_sorted_in_memory(tmp_path: Path) -> None:
    connection = connect(str(tmp_path / "full.db"), query_only=True)
    asked: list[str] = []
    connection.set_trace_callback(asked.append)
    assert list(dump_rows(connection, "ana"))
    connection.set_trace_callback(None)
    plans = [
        str(step["detail"])
        for sql in asked
        if " ORDER BY " in sql
        for step in connection.execute(f"EXPLAIN QUERY PLAN {sql}")
    ]
    assert plans
    assert not [step for step in plans if "TEMP B-TREE" in step]
    connection.close()


def test_the_header_carries_what_tombstones_need(full: Credenda, tmp_path: Path) -> None:
    full.data.export(tmp_path / "a.jsonl")
    head = json.loads((tmp_path / "a.jsonl").read_text("utf-8").split("\n", 1)[0])
    assert (head["format"], head["version"], head["tenant"]["user_id"]) == ("credenda-archive", 1, "ana")
    assert len(base64.b64decode(head["tenant"]["key"])) == 32
