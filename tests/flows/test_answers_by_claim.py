"""A question finds the claim that answers it, in whatever words, and of its versions the latest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from credenda import Credenda, SearchResult
from credenda.errors import Unavailable
from credenda.providers.embed.minilm import MiniLmEmbedder
from credenda.testing import ManualClock

NOW = datetime(2026, 1, 5, 9, tzinfo=UTC)
TOLD = [
    ("yeah so the surgery pays 18.20 an hour", "user", "hourly wage", "18.20 an hour"),
    ("moved in with the plants, rent is 690", "user", "rent", "690"),
    ("dr okafor is our family doctor btw", "user", "family doctor", "dr okafor"),
    ("put the spare key under the third flowerpot", "user", "spare key location", "under the third flowerpot"),
    ("got the skoda serviced", "user", "car", "skoda"),
    ("mia is off peanuts for good, it is an allergy", "Mia", "allergy", "peanuts"),
    ("on 20 mg citalopram every morning", "user", "citalopram", "20 mg every morning"),
    ("choir is on mondays", "user", "choir night", "mondays"),
    ("greta runs the front desk and signs my sheets", "Greta", "job", "runs the front desk"),
    ("payslip says 19.10 an hour", "user", "pay rate", "19.10 an hour"),
    ("letter from the agents, 725 from now on", "user", "monthly rent", "725"),
    ("gave the spare key to tom at number 12", "user", "spare key", "with tom at number 12"),
]


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(NOW)


@pytest.fixture
def mem(tmp_path: Path, clock: ManualClock) -> Iterator[Credenda]:
    with Credenda.open(tmp_path / "m.db", user="ana", workers=False, clock=clock, embedder="minilm") as memory:
        tell(memory, clock)
        yield memory


def tell(memory: Credenda, clock: ManualClock) -> None:
    for text, entity, attribute, value in TOLD:
        claim = {"quote": text, "entity": entity, "attribute": attribute, "value": value}
        assert [one.outcome for one in memory.remember(text, claims=[claim]).claims] == ["kept"]
        clock.advance(timedelta(days=9))
    memory.settle()


def read_first(found: SearchResult) -> str:
    return found.hits[0].text


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("who's my gp", "dr okafor"),
        ("what do i pay the landlord", "725"),
        ("what's the antidepressant dose", "20 mg"),
        ("what am i driving", "skoda"),
        ("what do they pay me", "19.10"),
        ("how do i get in if i'm locked out", "tom"),
        ("what must i not cook for mia", "peanuts"),
    ],
)
def test_other_words_find_the_claim_that_answers(mem: Credenda, question: str, value: str) -> None:
    assert value in read_first(mem.search(question))


def test_the_latest_version_comes_first_whatever_its_attribute_is_called(mem: Credenda) -> None:
    found = mem.search("what do i earn an hour")
    texts = [hit.text for hit in found.hits]
    latest, before = (next(at for at, text in enumerate(texts) if value in text) for value in ("19.10", "18.20"))
    assert latest == 0 < before
    assert found.hits[before].newer == found.hits[0].id
    assert "18.20" not in mem.context("what do i earn an hour").text.partition("In doubt:")[0]
    held = mem.list(attribute="hourly wage").items
    assert [(one.value, one.status) for one in held] == [("18.20 an hour", "active")], "likeness retires nothing"


def test_what_was_true_then_answers_as_of_then(mem: Credenda) -> None:
    assert "690" in read_first(mem.search("what does the flat cost me each month", as_of="2026-02-20"))


class Deaf(MiniLmEmbedder):
    """Embeds texts and claims, and fails for a question about claims."""

    def embed_claims(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if "monthly rent" in texts:
            raise Unavailable("no way to embed a question", why="it is out", fix="wait")
        return super().embed_claims(texts)


def test_without_the_vector_of_its_question_a_search_goes_on(tmp_path: Path, clock: ManualClock) -> None:
    with Credenda.open(tmp_path / "d.db", user="ana", workers=False, clock=clock, embedder=Deaf()) as memory:
        tell(memory, clock)
        assert any("725" in hit.text for hit in memory.search("monthly rent").hits)
