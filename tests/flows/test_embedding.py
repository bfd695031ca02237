"""Vectors follow the words: a failing engine is asked again, and never fills in nothing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from credenda import Credenda, Unavailable
from credenda.providers.embed.hashed import HashedEmbedder
from credenda.testing import ManualClock


class Moody:
    """An embedder that works when it is opened and does what it is told to later."""

    model_id = "moody-1"
    dims = 384

    def __init__(self) -> None:
        self._real = HashedEmbedder(self.dims)
        self.moods: list[str] = []

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = self._real.embed(texts)
        mood = self.moods.pop(0) if self.moods else ""
        if mood == "away":
            raise Unavailable("the engine is away")
        if mood == "zero":
            vectors[0] = 0
        if mood == "nan":
            vectors[0, 0] = np.nan
        if mood == "long":
            vectors *= 3
        if mood == "few":
            return vectors[:-1]
        return vectors[:, :-1] if mood == "narrow" else vectors


MOODS = ["away", "zero", "nan", "long", "few", "narrow"]


@pytest.fixture
def moody() -> Moody:
    return Moody()


@pytest.mark.parametrize("mood", MOODS)
def test_a_failing_embedder_is_asked_again(path: Path, clock: ManualClock, moody: Moody, mood: str) -> None:
    with Credenda.open(path, user="ana", clock=clock, embedder=moody, workers=False) as mem:
        moody.moods = [mood] * 3
        mem.remember("I live in Linz.")
        mem.settle()
        assert moody.moods == []
        assert mem.stats().vectors == 1
        assert mem.stats().jobs == {"complete": 2}
        assert mem.data.doctor().ok


@pytest.mark.parametrize("mood", MOODS)
def test_no_vector_is_better_than_a_vector_of_nothing(path: Path, clock: ManualClock, moody: Moody, mood: str) -> None:
    with Credenda.open(path, user="ana", clock=clock, embedder=moody, workers=False) as mem:
        moody.moods = [mood] * 5
        mem.remember("I live in Linz.")
        mem.settle()
        assert mem.stats().vectors == 0
        assert (mem.stats().dead_jobs, mem.stats().pending_extractions) == (1, 0)
        assert [memory.value for memory in mem.list().items] == ["Linz"]
        assert mem.search("Linz").hits
        assert [finding.check for finding in mem.data.doctor().findings] == ["dead_jobs"]


@pytest.mark.parametrize("mood", MOODS)
def test_a_question_without_a_usable_vector_is_answered_by_words(path: Path, moody: Moody, mood: str) -> None:
    with Credenda.open(path, user="ana", embedder=moody, workers=False) as mem:
        mem.remember("I live in Linz.")
        mem.settle()
        moody.moods = [mood]
        first, second = (mem.search("Where is Linz?") for _ in range(2))
        assert (first.trace["engines"], second.trace["engines"]) == (("words",), ("words", "vectors"))
        assert first.hits[0].quote == second.hits[0].quote == "I live in Linz."


@pytest.mark.requirement("R-151")
def test_an_event_that_is_one_memory_word_for_word_needs_no_vector_of_its_own(path: Path, moody: Moody) -> None:
    with Credenda.open(path, user="ana", embedder=moody, workers=False) as mem:
        mem.remember("I live in Linz.")
        mem.settle()
        assert mem.stats().vectors == 1
        mem.remember("I live in Linz. Good morning!")
        mem.remember("The neighbours were loud again.")
        mem.settle()
        assert mem.stats().vectors == 3
        assert mem.data.doctor().ok


def test_jobs_that_wait_are_embedded_with_one_call(path: Path, clock: ManualClock) -> None:
    engine = Counted()
    with Credenda.open(path, user="ana", clock=clock, embedder=engine, workers=False) as mem:
        engine.calls.clear()
        for number in range(8):
            mem.remember(f"The neighbours were loud on day {number}.")
        mem.settle()
        assert mem.stats().vectors == 8
        assert len(engine.calls) <= 2
        assert sum(engine.calls) == 8
        assert mem.data.doctor().ok


def test_a_job_that_fails_in_company_is_tried_again_alone(path: Path, clock: ManualClock) -> None:
    engine = Counted(poison="day 3")
    with Credenda.open(path, user="ana", clock=clock, embedder=engine, workers=False) as mem:
        for number in range(8):
            mem.remember(f"The neighbours were loud on day {number}.")
        mem.settle()
        assert (mem.stats().vectors, mem.stats().dead_jobs) == (7, 1)
        engine.poison = ""
        mem.remember("The neighbours were quiet.")
        mem.settle()
        assert mem.stats().vectors == 8


def test_a_long_document_keeps_the_vectors_it_has_when_a_later_part_fails(path: Path, clock: ManualClock) -> None:
    engine = Counted()
    text = "\n\n".join(f"Paragraph {number} tells of {'rivers and hills ' * 40}." for number in range(100))
    with Credenda.open(path, user="ana", clock=clock, embedder=engine, workers=False) as mem:
        engine.calls.clear()
        engine.fail_at = 2
        mem.remember(text)
        mem.settle()
        assert sum(engine.calls) == mem.stats().vectors + engine.calls[1]
        assert max(engine.calls) <= 64


class Counted(Moody):
    """An embedder that counts the texts of each call, and fails at one text or one call."""

    def __init__(self, poison: str = "") -> None:
        super().__init__()
        self.calls: list[int] = []
        self.poison = poison
        self.fail_at = 0

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.calls.append(len(texts))
        if len(self.calls) == self.fail_at or (self.poison and any(self.poison in text for text in texts)):
            raise Unavailable("the engine is away")
        return super().embed(texts)


def test_what_has_no_vector_yet_is_judged_by_its_words(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with Credenda.open(path, user="ana", embedder="none", workers=False) as mem:
        mem.remember("I live in Linz.")
        mem.settle()
    with Credenda.open(path, user="ana", embedder="hashed", workers=False) as mem:
        assert not mem.search("Linz").abstained
        assert not mem.search("Linz", kinds=("event",)).abstained


def test_what_was_said_is_found_by_meaning_after_its_memory_was_replaced(tmp_path: Path) -> None:
    with Credenda.open(tmp_path / "m.db", user="ana", embedder="hashed", workers=False) as mem:
        mem.remember("I live in Linz.")
        mem.settle()
        assert mem.stats().vectors == 1
        mem.remember("I moved to Graz.")
        mem.settle()
        assert mem.stats().vectors == 3
        flags = {hit.quote: hit.flags for hit in mem.search("living in Linz, Linz").hits}
        assert flags["I live in Linz."] == {"superseded"}
        mem.correct(mem.list(attribute="residence").items[0].id, value="Wels")
        mem.settle()
        assert mem.stats().vectors == 5  # the words of the correction are those of its memory


@pytest.mark.parametrize("marks", ["?", "…", "!!! ??"])
def test_marks_alone_ask_for_nothing(tmp_path: Path, marks: str) -> None:
    with Credenda.open(tmp_path / "m.db", user="ana", embedder="hashed", workers=False) as mem:
        mem.remember("I live in Linz.")
        mem.settle()
        assert mem.search(marks).abstained
