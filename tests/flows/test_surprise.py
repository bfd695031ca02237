"""Surprise at write, from outside: what it moves, what it never decides, and that it is found once."""

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from credenda import Credenda, MemoryUnit
from credenda.model.memory import Memory, compute_surprise
from credenda.providers.embed.hashed import HashedEmbedder
from credenda.testing import ManualClock
from credenda.workers import handlers


class Placed:
    """Puts texts where it is told to: all in one plane, at an angle each."""

    model_id = "placed"
    dims = 64

    def __init__(self, degrees: dict[str, float] | None = None) -> None:
        self.degrees = degrees or {}

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        angles = np.radians([self.degrees.get(text, 90.0) for text in texts])
        out = np.zeros((len(texts), self.dims), np.float32)
        out[:, 0], out[:, 1] = np.cos(angles), np.sin(angles)
        out[:, 2:] = 1e-3
        return out / np.linalg.norm(out, axis=1, keepdims=True)


def keep(mem: Credenda, text: str, importance: float = 0.5) -> Memory:
    stored = mem.store(MemoryUnit(text=text, importance=importance))
    mem.settle()
    return mem.get(stored.id)


@pytest.mark.requirement("E-043", "E-044", "E-045", "E-046", "E-047")
def test_five_neighbours_say_how_new_a_memory_is(path: Path, clock: ManualClock) -> None:
    degrees = {f"Note {name}.": 10.0 * place for place, name in enumerate("abcdefg")}
    with Credenda.open(path, user="ana", clock=clock, embedder=Placed(degrees), workers=False) as mem:
        kept = [keep(mem, text) for text in degrees]
    assert (kept[0].surprise, kept[0].importance, kept[0].base_importance) == (1.0, 0.65, 0.5)
    expected = compute_surprise([float(np.cos(np.radians(10.0 * step))) for step in (1, 2, 3, 4, 5)])
    assert kept[6].surprise == pytest.approx(expected, abs=1e-3)
    assert kept[6].importance == pytest.approx(0.5 + (expected - 0.5) * 0.6, abs=1e-3)
    assert kept[6].base_importance == 0.5
    assert all(0.05 <= one.importance <= 1.0 for one in kept)


@pytest.mark.requirement("E-047", "E-048")
def test_a_repetition_is_stored_flagged_and_confirms_what_it_repeats(path: Path, clock: ManualClock) -> None:
    with Credenda.open(path, user="ana", clock=clock, embedder=Placed(), workers=False) as mem:
        first = keep(mem, "Saw an owl in the garden.")
        again = keep(mem, "Really saw the owl in the garden.")
        assert again.id != first.id
        assert again.status == "active"
        assert again.metadata == {"duplicate_of": first.id}
        assert again.surprise == pytest.approx(0.0293, abs=1e-4)
        assert again.importance < again.base_importance
        assert mem.get(first.id).confirmations == 1
        assert [change.kind for change in mem.why(again.id).changes] == ["add", "retag"]
        assert len(mem.why(first.id).evidence) == 2
        assert mem.data.doctor().ok


@pytest.mark.requirement("E-048")
@pytest.mark.parametrize("other", ["My rate is 45 euros.", "My rate is not 40 euros.", "The rate of Ben is 40 euros."])
def test_nearness_never_decides_that_two_facts_are_one(path: Path, clock: ManualClock, other: str) -> None:
    with Credenda.open(path, user="ana", clock=clock, embedder=Placed(), workers=False) as mem:
        first = keep(mem, "My rate is 40 euros.")
        second = keep(mem, other)
        assert (first.status, second.status, second.metadata) == ("active", "active", {})
        assert mem.get(first.id).confirmations == 0


def test_other_words_are_flagged_and_confirm_nothing(path: Path, clock: ManualClock) -> None:
    with Credenda.open(path, user="ana", clock=clock, embedder=Placed(), workers=False) as mem:
        first = keep(mem, "Saw an owl in the garden.")
        second = keep(mem, "Spotted an owl in the garden.")
        assert second.metadata == {"duplicate_of": first.id}
        assert mem.get(first.id).confirmations == 0


@pytest.mark.requirement("E-043")
def test_without_an_embedder_nothing_is_known_of_surprise(mem: Credenda) -> None:
    kept = keep(mem, "Saw an owl.")
    assert (kept.surprise, kept.importance) == (None, 0.5)


def test_a_job_that_runs_again_moves_nothing(path: Path, clock: ManualClock, monkeypatch: pytest.MonkeyPatch) -> None:
    with Credenda.open(path, user="ana", clock=clock, embedder=Placed(), workers=False) as mem:
        keep(mem, "Saw an owl in the garden.")
        real, calls = handlers.store_vectors, list[int]()

        def strike(*given: object, **more: object) -> None:
            real(*given, **more)  # type: ignore[arg-type]
            calls.append(1)
            if len(calls) == 1:
                raise OSError("the machine stopped before the commit")

        monkeypatch.setattr(handlers, "store_vectors", strike)
        again = keep(mem, "Really saw the owl in the garden.")
        clock.advance(timedelta(days=1))
        for _ in range(2):
            mem.data.reembed()
            mem.settle()
        assert len(calls) == 2
        (first,) = [one for one in mem.list().items if one.id != again.id]
        assert (first.confirmations, mem.get(again.id).version, mem.get(again.id).surprise) == (1, 2, again.surprise)


@pytest.mark.requirement("E-043")
def test_memories_filed_together_are_compared_in_the_order_of_their_ids(path: Path, clock: ManualClock) -> None:
    texts = [f"Note number {number} about the garden and the owl." for number in range(12)]
    found: list[list[float | None]] = []
    for name, together in (("one.db", False), ("two.db", True)):
        with Credenda.open(
            path.with_name(name), user="ana", clock=clock, embedder=HashedEmbedder(64), workers=False
        ) as mem:
            for text in texts:
                mem.store(MemoryUnit(text=text))
                if not together:
                    mem.settle()
            mem.settle()
            found.append([one.surprise for one in sorted(mem.list().items, key=lambda one: one.created_us)])
    assert None not in found[0]
    assert found[0] == pytest.approx(found[1], abs=2e-3)


@pytest.mark.requirement("E-044")
def test_a_rebuild_keeps_surprise_and_what_it_made_of_importance(path: Path, clock: ManualClock) -> None:
    with Credenda.open(path, user="ana", clock=clock, embedder=HashedEmbedder(64), workers=False) as mem:
        for text in ("I live in Linz.", "I play the cello.", "My sister works at Vantage."):
            mem.remember(text)
            mem.settle()
        keep(mem, "Saw an owl in the garden.")
        before = {one.id: (one.surprise, one.importance, one.base_importance) for one in mem.list().items}
        assert all(one[0] is not None and one[1] != one[2] for one in before.values())
        assert mem.data.doctor().ok
        for reextract in (False, True):
            report = mem.data.rebuild(reextract=reextract)
            assert report.differences == ()
            held = {one.id: (one.surprise, one.importance, one.base_importance) for one in mem.list().items}
            assert held == before


def test_what_is_deleted_is_no_neighbour_and_a_flag_goes_with_its_memory(path: Path, clock: ManualClock) -> None:
    with Credenda.open(path, user="ana", clock=clock, embedder=Placed(), workers=False) as mem:
        first = keep(mem, "Saw an owl in the garden.")
        mem.delete(first.id)
        second = keep(mem, "Heard an owl in the garden.")
        assert (second.surprise, second.metadata) == (1.0, {})
        third = keep(mem, "Noticed an owl in the garden.")
        assert third.metadata == {"duplicate_of": second.id}
        mem.delete(third.id)
        assert mem.data.doctor().ok
        assert second.id not in str(mem.data.rebuild(dry_run=True).differences)
