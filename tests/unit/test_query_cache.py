"""A question that was asked before costs no engine a second time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from threading import Thread

import numpy as np
from numpy.typing import NDArray

from credenda import Credenda
from credenda.providers.embed.factory import QueryVectorCache
from credenda.providers.embed.hashed import HashedEmbedder


class Counting:
    """An embedder that remembers what it was asked."""

    dims = 64

    def __init__(self, model_id: str = "counting-1") -> None:
        self.model_id = model_id
        self.asked: list[str] = []
        self._real = HashedEmbedder(self.dims)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.asked += texts
        return self._real.embed(texts)


def test_the_engine_is_asked_once_for_a_question() -> None:
    engine, known = Counting(), QueryVectorCache()
    first = known.embed(engine, ["tea"])
    assert np.array_equal(first, known.embed(engine, ["tea"]))
    assert np.array_equal(known.embed(engine, ["coffee", "tea"])[1], first[0])
    assert engine.asked == ["tea", "coffee"]


def test_what_is_handed_out_can_be_written_into() -> None:
    engine, known = Counting(), QueryVectorCache()
    first = known.embed(engine, ["tea"])
    kept = first.copy()
    first[:] = 0
    assert np.array_equal(known.embed(engine, ["tea"]), kept)


def test_models_do_not_share_vectors() -> None:
    one, other, known = Counting("one"), Counting("other"), QueryVectorCache()
    known.embed(one, ["tea"])
    known.embed(other, ["tea"])
    assert (one.asked, other.asked) == (["tea"], ["tea"])


def test_the_least_recently_asked_is_dropped() -> None:
    engine, known = Counting(), QueryVectorCache(2)
    for text in ("a", "b", "a", "c", "a", "b"):
        known.embed(engine, [text])
    assert engine.asked == ["a", "b", "c", "b"]


def test_many_threads_get_the_right_vectors() -> None:
    engine, known = Counting(), QueryVectorCache(5)
    texts = [f"question {number}" for number in range(20)]
    expected = HashedEmbedder(64).embed(texts)
    wrong: list[str] = []

    def ask() -> None:
        for text, vector in [*zip(texts, expected, strict=True)] * 5:
            if not np.allclose(known.embed(engine, [text])[0], vector):
                wrong.append(text)

    threads = [Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_a_search_repeated_asks_the_engine_once(tmp_path: Path) -> None:
    engine = Counting()
    with Credenda.open(tmp_path / "memory.db", user="ana", embedder=engine, workers=False) as memory:
        memory.remember("I live in Linz.")
        memory.settle()
        engine.asked.clear()
        for _ in range(3):
            assert memory.search("Where do I live?").hits
            assert memory.context("Where do I live?").hits
        assert engine.asked == ["Where do I live?"]
