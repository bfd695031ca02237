"""Another model: old vectors stay, searches go on, and what it means is said."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from credenda import Credenda, Invalid, Unavailable
from credenda.providers.embed.hashed import HashedEmbedder
from credenda.testing import ManualClock

SAYINGS = ["I live in Linz.", "My sister plays the cello.", "The neighbours were loud again."]


@pytest.fixture
def store(path: Path, clock: ManualClock) -> Path:
    with Credenda.open(path, user="ana", clock=clock, embedder="hashed", workers=False) as mem:
        for saying in SAYINGS:
            mem.remember(saying)
        mem.settle()
        assert mem.stats().vectors_by_model == {"hashed-1-384": 3}
        assert mem.stats().foreign_vectors == 0
    return path


def narrow() -> HashedEmbedder:
    return HashedEmbedder(128)


def test_a_store_opens_with_another_model_and_says_what_that_means(store: Path, clock: ManualClock) -> None:
    with Credenda.open(store, user="ana", clock=clock, embedder=narrow(), workers=False) as mem:
        found = mem.stats()
        assert (found.embedder, found.foreign_vectors, found.texts_to_embed) == ("hashed-1-128", 3, 3)
        assert mem.search("Where do I live?").hits[0].quote == "I live in Linz."
        assert mem.data.doctor().ok
        mem.remember("The harbour was full of ships.")
        mem.settle()
        assert mem.stats().vectors_by_model == {"hashed-1-384": 3, "hashed-1-128": 1}


def test_what_has_no_vector_is_judged_by_its_words(path: Path, clock: ManualClock) -> None:
    with Credenda.open(path, user="ana", clock=clock, embedder="none", workers=False) as mem:
        mem.remember("The neighbours were loud in Linz again.")
        mem.settle()
        assert mem.search("What about Linz?").hits
    with Credenda.open(path, user="ana", clock=clock, embedder="minilm", workers=False) as mem:
        mem.remember("My sister plays the cello.")
        mem.settle()
        found = mem.search("What about loud neighbours in Linz?")
        assert not found.abstained
        assert found.hits[0].quote == "The neighbours were loud in Linz again."


def test_reembed_adds_vectors_of_the_model_in_use_and_keeps_the_old(store: Path, clock: ManualClock) -> None:
    with Credenda.open(store, user="ana", clock=clock, embedder=narrow(), workers=False) as mem:
        report = mem.data.reembed()
        assert (report.embedded, report.model_id, report.in_use) == (3, "hashed-1-128", True)
        assert mem.stats().vectors_by_model == {"hashed-1-384": 3, "hashed-1-128": 3}
        assert mem.stats().texts_to_embed == 0
        hits = mem.search("Does my sister play the cello?", explain=True).hits
        assert hits[0].terms["cosine"] > 0.3
        assert mem.data.reembed().embedded == 0
        assert mem.data.doctor().ok
    with Credenda.open(store, user="ana", clock=clock, embedder="hashed", workers=False) as mem:
        assert mem.search("Does my sister play the cello?", explain=True).hits[0].terms["cosine"] > 0.3


def test_another_model_can_be_made_ready_while_the_old_one_serves(store: Path, clock: ManualClock) -> None:
    with Credenda.open(store, user="ana", clock=clock, embedder=narrow(), workers=False) as mem:
        mem.data.reembed()
        report = mem.data.reembed("hashed")
        assert (report.embedded, report.in_use) == (0, False)
        mem.remember("The harbour was full of ships.")
        mem.settle()
        steps: list[tuple[int, int | None]] = []
        assert mem.data.reembed("hashed", progress=lambda done, size: steps.append((done, size))).embedded == 1
        assert steps[-1] == (4, 4)


def test_broken_off_it_goes_on_where_it_stopped(store: Path, clock: ManualClock) -> None:
    class Tired(HashedEmbedder):
        calls = 0

        def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
            self.calls += 1
            if self.calls == 3:
                raise Unavailable("the engine is away")
            return super().embed(texts)

    with Credenda.open(store, user="ana", clock=clock, embedder="none", workers=False) as mem:
        for number in range(600):
            mem.remember(f"The neighbours were loud on day {number}.")
        mem.settle()
    tired = Tired(128)
    with Credenda.open(store, user="ana", clock=clock, embedder=tired, workers=False) as mem:
        with pytest.raises(Unavailable):
            mem.data.reembed()
        held = mem.stats().vectors_by_model["hashed-1-128"]
        assert 0 < held < 600
        embedded = mem.data.reembed().embedded
        assert embedded == mem.stats().vectors_by_model["hashed-1-128"] - held > 600 - held - 1
        assert mem.data.doctor().ok


def test_what_was_deleted_gets_no_vector(store: Path, clock: ManualClock) -> None:
    with Credenda.open(store, user="ana", clock=clock, embedder=narrow(), workers=False) as mem:
        mem.delete(mem.search("Where do I live?").hits[0].id)
        assert mem.data.reembed().embedded == 2


def test_without_a_model_there_is_nothing_to_embed_with(store: Path, clock: ManualClock) -> None:
    with Credenda.open(store, user="ana", clock=clock, embedder="none", workers=False) as mem:
        with pytest.raises(Invalid, match="no model"):
            mem.data.reembed()
        with pytest.raises(Invalid, match="called"):
            mem.data.reembed("bert")
        assert mem.stats().foreign_vectors == 3
