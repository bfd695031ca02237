"""Erasing a user: nothing is left in any row or byte, nobody else notices, and what begins anew is new."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from credenda import Conflict, Credenda, Invalid, NotFound, Unavailable, bootstrap
from credenda.storage.transfer import Erasure
from credenda.testing import ManualClock
from credenda.workers.loop import run_due_jobs

WORD = "zorkmidsplendour"
SENTENCES = (
    f"My {WORD} rate is 950 a day.",
    "I prefer morning meetings.",
    "I prefer afternoon meetings.",
    "I prefer morning meetings.",
    f"I'm allergic to {WORD}.",
)


def _talk(mem: Credenda, clock: ManualClock, words: tuple[str, ...] = SENTENCES) -> None:
    for sentence in words:
        mem.remember(sentence, session="s1", topic="work", metadata={"about": mem.user})
        mem.settle()
        clock.advance(timedelta(days=20))
    mem.search("morning meetings", session="s1")


@pytest.fixture
def ben(path: Path, clock: ManualClock) -> Credenda:
    with Credenda.open(path, user="ben", clock=clock, embedder="hashed", workers=False) as opened:
        _talk(opened, clock, ("I live in Linz.", "I prefer morning meetings."))
        return opened


def _raw(folder: Path) -> bytes:
    """Every byte of the database and what lies beside it; its stores are closed, so that no lock is lost."""
    return b"".join(file.read_bytes() for file in sorted(folder.iterdir()) if file.suffix != ".jsonl")


@pytest.mark.requirement("R-204", "R-205", "R-227", "D-019")
def test_an_erased_user_is_in_no_row_and_no_byte_and_the_neighbour_is_as_before(
    path: Path, *, tmp_path: Path, clock: ManualClock, ben: Credenda, backend: str
) -> None:
    assert ben.user == "ben"
    with Credenda.open(path, user="ana-of-the-meadows", clock=clock, embedder="hashed", workers=False) as ana:
        _talk(ana, clock)
        ana.manage.resolve(ana.manage.contests()[0].id, keep="morning")
        ana.settle()
        with Credenda.open(path, user="ben", clock=clock, embedder="hashed", workers=False) as neighbour:
            neighbour.data.export(tmp_path / "before.jsonl")
        receipt = ana.erase("ana-of-the-meadows")
        assert receipt.rows == sum(receipt.tables.values())
        assert receipt.tables["events"] == 6
        assert {"memories", "embeddings", "contests", "access_log", "tenants"} <= set(receipt.tables)
        assert (receipt.windows_searched > 20) is (backend == "sqlite")  # a server's files are not searched
        assert (receipt.remaining_matches, receipt.log_emptied) == (0, True)
        assert ana.stats().events == 0
        assert ana.search(WORD).hits == ()
    with Credenda.open(path, user="ben", clock=clock, embedder="hashed", workers=False) as neighbour:
        neighbour.data.export(tmp_path / "after.jsonl")
        assert neighbour.data.doctor().ok
    assert (tmp_path / "before.jsonl").read_bytes() == (tmp_path / "after.jsonl").read_bytes()
    raw = _raw(tmp_path)
    assert WORD.encode() not in raw
    assert b"ana-of-the-meadows" not in raw


def test_the_only_user_of_a_file_goes_too(path: Path, tmp_path: Path, clock: ManualClock) -> None:
    with Credenda.open(path, user="ana", clock=clock, embedder="hashed", workers=False) as ana:
        _talk(ana, clock)
        assert ana.erase("ana").remaining_matches == 0
        assert ana.data.doctor().ok
    assert WORD.encode() not in _raw(tmp_path)


@pytest.mark.requirement("R-206")
@pytest.mark.parametrize("confirm", ["", "Ana", "ana ", "ben", "yes"])
def test_nothing_is_erased_without_the_exact_name(mem: Credenda, confirm: str) -> None:
    mem.remember("I live in Linz.")
    with pytest.raises(Invalid, match="name"):
        mem.erase(confirm)
    assert mem.stats().events == 1


def test_who_begins_anew_is_somebody_else(mem: Credenda) -> None:
    mem.remember("I live in Linz.", idempotency_key="k")
    mem.settle()
    old = mem.list().items[0]
    mem.search("Linz")
    mem.delete(old.id)
    mem.erase("ana")
    assert mem.stats().tombstones == 0
    receipt = mem.remember("I live in Linz.", idempotency_key="k")
    mem.settle()
    assert not receipt.cached
    (new,) = mem.list().items
    assert new.id.partition("-")[2] != old.id.partition("-")[2]
    assert [hit.id for hit in mem.search("Linz").hits] == [new.id]
    with pytest.raises(NotFound):
        mem.get(old.id)


def test_erasing_twice_or_who_never_wrote_does_nothing(mem: Credenda) -> None:
    assert (mem.erase("ana").rows, mem.erase("ana").remaining_matches) == (0, 0)
    mem.remember("I live in Linz.")
    assert mem.erase("ana").rows > 0
    assert mem.erase("ana").rows == 0


def test_a_user_who_was_never_here_gets_no_assurance(mem: Credenda, path: Path, clock: ManualClock) -> None:
    mem.remember("I live in Linz.")
    with Credenda.open(path, user="zoe", clock=clock, embedder="hashed", workers=False) as zoe:
        assert not zoe.erase("zoe").listed
    assert mem.erase("ana").listed
    assert mem.erase("ana").listed


def test_showings_that_wait_elsewhere_make_nobody_new(path: Path, mem: Credenda, clock: ManualClock) -> None:
    mem.remember("I live in Linz.")
    mem.settle()
    with Credenda.open(path, user="ana", clock=clock, workers=False) as other:
        assert other.search("Where do I live?").hits
        mem.erase("ana")
        assert other.search("Where do I live?").hits == ()
    store = bootstrap.open_store(path, read_only=True)
    with store.reader("ana") as reader:
        assert reader.tenant.tag == ""
    store.close()


def test_everything_is_written_to_a_file_before_and_comes_back_from_it(mem: Credenda, tmp_path: Path) -> None:
    mem.remember("I live in Linz.", session="s1")
    mem.settle()
    mem.data.export(tmp_path / "one.jsonl")
    receipt = mem.erase("ana", export=tmp_path / "two.jsonl")
    assert receipt.exported == str(tmp_path / "two.jsonl")
    assert (tmp_path / "one.jsonl").read_bytes() == (tmp_path / "two.jsonl").read_bytes()
    mem.data.import_(tmp_path / "two.jsonl")
    mem.data.export(tmp_path / "three.jsonl")
    assert (tmp_path / "three.jsonl").read_bytes() == (tmp_path / "two.jsonl").read_bytes()


def test_an_export_that_fails_erases_nothing(mem: Credenda, tmp_path: Path) -> None:
    mem.remember("I live in Linz.")
    with pytest.raises(Unavailable):
        mem.erase("ana", export=tmp_path / "no such folder" / "all.jsonl")
    assert mem.stats().events == 1


def test_what_was_written_after_the_export_is_not_lost(mem: Credenda, path: Path) -> None:
    mem.remember("I live in Linz.")
    store = bootstrap.open_store(path)
    with store.dump("ana") as dump:
        tables = [table for table, _ in dump.rows]
    counts = {table: tables.count(table) for table in tables}
    mem.remember("I like tea.")
    with pytest.raises(Conflict, match="after the export"):
        store.erase("ana", exported=counts)
    store.close()
    assert mem.stats().events == 2


def test_a_worker_with_jobs_of_an_erased_user_goes_on(path: Path, mem: Credenda, clock: ManualClock) -> None:
    class Erasing:
        """Reads claims, and finds the user erased when it is done."""

        def extract(self, turn: object) -> list[object]:
            assert turn
            mem.erase("ana")
            mem.remember("I like tea.")
            return []

    mem.remember("I live in Linz.")
    with Credenda.open(path, user="ana", clock=clock, workers=False, extractor=Erasing()) as other:  # type: ignore[arg-type]
        run_due_jobs(other._parts)  # noqa: SLF001 - one batch, as the background thread runs it
    mem.settle()
    assert [memory.text for memory in mem.list().items] == ["I like tea."]
    assert mem.stats().dead_jobs == 0
    assert mem.data.doctor().ok


@pytest.mark.parametrize(
    ("erasure", "told"),
    [
        (Erasure(rows={"events": 2}, held=True, proof={"checked": "all partitions"}), (2, 0, 0, True)),
        (Erasure(rows={}, held=False, proof={"checked": "one partition was locked"}), (0, 0, 1, True)),
        (
            Erasure(
                rows={}, held=False, proof={"windows_searched": "9", "remaining_matches": "0", "log_emptied": "no"}
            ),
            (0, 9, 0, False),
        ),
    ],
)
def test_a_receipt_is_filled_from_the_proof_of_any_backend(
    mem: Credenda, monkeypatch: pytest.MonkeyPatch, erasure: Erasure, told: tuple[int, int, int, bool]
) -> None:
    def erase(_user: str, *, exported: object) -> Erasure:
        assert exported is None
        return erasure

    monkeypatch.setattr(mem._parts.store, "erase", erase)  # noqa: SLF001 - what a store proves
    receipt = mem.erase(mem.user)
    assert (receipt.rows, receipt.windows_searched, receipt.remaining_matches, receipt.log_emptied) == told
