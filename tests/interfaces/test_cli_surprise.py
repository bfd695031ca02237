"""What a person at a terminal is told of surprise."""

from pathlib import Path

from credenda import Credenda, MemoryUnit
from credenda.providers.embed.hashed import HashedEmbedder

from .terminal import Terminal


def test_get_and_why_tell_what_surprise_made_of_importance(tmp_path: Path) -> None:
    with Credenda.open(tmp_path / "memory.db", user="ana", embedder=HashedEmbedder(), workers=False) as mem:
        first = mem.store(MemoryUnit(text="Saw a badger in the old orchard behind the quarry at night."))
        again = mem.store(MemoryUnit(text="Really saw a badger in the old orchard behind the quarry at night."))
        mem.settle()
    terminal = Terminal(tmp_path)
    for command in ("get", "why"):
        told = terminal.text(command, first.id)
        assert "0.65 (0.50 as stated; surprise 1.000 when it was written)" in told
    assert first.id in terminal.text("why", again.id)
    shown = terminal.json("why", again.id)["memory"]
    assert shown["metadata"] == {"duplicate_of": first.id}
    assert 0 <= shown["surprise"] < 0.5
    assert shown["importance"] < shown["base_importance"]


def test_without_an_embedder_nothing_is_told_of_it(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path)
    (filed,) = terminal.remember("I live in Linz.")
    assert "surprise" not in terminal.text("get", filed["memory"]["id"] if "memory" in filed else terminal.an_id())
