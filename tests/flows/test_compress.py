"""Compression from outside: what it saves, that it changes no belief, and that recall gives precision back."""

from datetime import timedelta
from pathlib import Path

import pytest

from credenda import Credenda, MemoryUnit
from credenda.model.memory import Memory
from credenda.providers.embed.hashed import HashedEmbedder
from credenda.services import rebuild
from credenda.storage.store import pack_code
from credenda.testing import ManualClock

NAMES = ("owl", "heron", "badger", "otter", "kestrel", "marten")


def opened(path: Path, clock: ManualClock) -> Credenda:
    return Credenda.open(path, user="ana", clock=clock, embedder=HashedEmbedder(), workers=False)


def episodes(mem: Credenda) -> list[Memory]:
    held = [mem.store(MemoryUnit(text=f"Saw a {name} by the weir.", layer="episodic")) for name in NAMES]
    mem.settle()
    return held


def widths(mem: Credenda) -> dict[int, int]:
    """Read at how many bits each memory's vector is kept, by number."""
    with mem._parts.store.reader("ana") as reader:  # noqa: SLF001 - no verb shows it
        found = reader.vectors([pack_code(n, memory=True) for n in range(1, 20)], HashedEmbedder().model_id)
        return {(one.code >> 12) & 0xFFFF: one.bits for one in found}


@pytest.mark.requirement("E-082", "E-083", "E-084", "E-085", "E-086", "E-089")
@pytest.mark.parametrize(("days", "bits"), [(5, 16), (15, 8), (60, 4), (300, 2), (2_000, 16)])
def test_each_tier_of_retention_has_its_bits(path: Path, clock: ManualClock, days: int, bits: int) -> None:
    with opened(path, clock) as mem:
        episodes(mem)
        lasting = mem.store(MemoryUnit(text="Lives in Linz.", entity="user", attribute="residence", value="Linz"))
        mem.settle()
        clock.advance(timedelta(days=days))
        planned = mem.manage.compress()
        assert planned.dry_run
        assert set(widths(mem).values()) == {16}
        report = mem.manage.compress(dry_run=False)
        assert (report.compressed, report.bytes_after) == (planned.compressed, planned.bytes_after)
        assert set(widths(mem).values()) == {16, bits}
        assert widths(mem)[int(lasting.id[1:].split("-")[0])] == 16
        assert mem.manage.compress(dry_run=False).compressed == 0
        assert mem.data.doctor().ok


@pytest.mark.requirement("E-088", "E-089")
def test_a_report_names_bytes_and_fidelity(path: Path, clock: ManualClock) -> None:
    with opened(path, clock) as mem:
        episodes(mem)
        clock.advance(timedelta(days=60))
        report = mem.manage.compress(dry_run=False)
        (four,) = [one for one in report.tiers if one.bits == 4]
        assert (four.vectors, four.compressed) == (6, 6)
        assert (four.bytes_before, four.bytes_after) == (6 * 768, 6 * 201)
        assert four.least_fidelity is not None
        assert four.fidelity is not None
        assert 0.8 < four.least_fidelity <= four.fidelity < 1.0


def test_compression_moves_no_belief_and_loses_no_memory(path: Path, clock: ManualClock) -> None:
    with opened(path, clock) as mem:
        held = episodes(mem)
        clock.advance(timedelta(days=300))
        before = [(mem.get(one.id), mem.why(one.id).changes) for one in held]
        mem.manage.compress(dry_run=False)
        assert [(mem.get(one.id), mem.why(one.id).changes) for one in held] == before
        for one in held:
            assert mem.search(one.text, limit=3, record_access=False).hits[0].id == one.id


@pytest.mark.requirement("C-024")
def test_recall_gives_a_memory_its_precision_back(path: Path, clock: ManualClock) -> None:
    with opened(path, clock) as mem:
        held = episodes(mem)
        clock.advance(timedelta(days=300))
        mem.manage.compress(dry_run=False)
        assert mem.search("owl", limit=1, kinds=["memory"]).hits[0].id == held[0].id
        mem.manage.decay()
        mem.settle()
        assert sorted(widths(mem).values()) == [2, 2, 2, 2, 2, 16]
        assert mem.manage.compress(dry_run=False).compressed == 0
        assert mem.get(held[0].id).version == held[0].version


def test_what_was_deleted_meanwhile_gets_no_vector(
    path: Path, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(path, clock) as mem:
        held = episodes(mem)
        clock.advance(timedelta(days=60))
        real = rebuild._write_vectors  # noqa: SLF001 - between the look and the write

        def strike(*given: object) -> None:
            mem.delete(held[0].id)
            real(*given)  # type: ignore[arg-type]

        monkeypatch.setattr(rebuild, "_write_vectors", strike)
        mem.manage.compress(dry_run=False)
        assert int(held[0].id[1:].split("-")[0]) not in widths(mem)
        assert mem.data.doctor().ok


def test_a_run_that_was_broken_off_goes_on(path: Path, clock: ManualClock, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(path, clock) as mem:
        episodes(mem)
        clock.advance(timedelta(days=60))
        monkeypatch.setattr(rebuild, "_WRITTEN_TOGETHER", 2)
        real, calls = rebuild._write_vectors, list[int]()  # noqa: SLF001 - where a kill would strike

        def strike(*given: object) -> None:
            if len(calls) == 2:
                raise KeyboardInterrupt
            calls.append(1)
            real(*given)  # type: ignore[arg-type]

        monkeypatch.setattr(rebuild, "_write_vectors", strike)
        with pytest.raises(KeyboardInterrupt):
            mem.manage.compress(dry_run=False)
        monkeypatch.setattr(rebuild, "_write_vectors", real)
        assert mem.manage.compress(dry_run=False).compressed == 2
        assert set(widths(mem).values()) == {4}


def test_without_vectors_there_is_nothing_to_do(mem: Credenda) -> None:
    mem.store(MemoryUnit(text="Saw an owl."))
    assert mem.manage.compress(dry_run=False).examined == 0
