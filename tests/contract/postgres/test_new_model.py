"""Another embedding model for a memory in use: searches go on, and nobody else's vectors are touched."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import numpy as np
import psycopg
import pytest
from numpy.typing import NDArray

from credenda import Credenda, Invalid, Unavailable
from credenda.bootstrap import build_parts
from credenda.model.claim import Claim, Turn
from credenda.storage.store import pack_code
from credenda.workers import handlers
from credenda.workers.loop import copy_large_vectors
from tests.postgres_server import Database

TOPICS: Final = {"hound": "dog", "sedan": "car", "fiddle": "violin", "bairn": "child", "stew": "meal"}
"""Words of the messages, and those of the questions, which only a model takes for one thing."""
STEP: Final = 8
MESSAGES: Final = 8 * STEP
OLD, NEW = ("old", 256, 0), ("new", 384, 100)
_VECTORS = "SELECT * FROM credenda.embeddings WHERE user_id = %s ORDER BY model_id, code"


class Meanings:
    """A model with a direction for each topic, which are others in each model; `away` makes one of its calls fail."""

    def __init__(self, model_id: str, dims: int, first: int, away: int = -1) -> None:
        self.model_id = model_id
        self.dims = dims
        self._first = first
        self._calls_left = away

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the direction of the topic of each text, with a little of its own."""
        self._calls_left -= 1
        if self._calls_left == 0:
            raise Unavailable("the model is away")
        matrix = np.zeros((len(texts), self.dims), np.float32)
        for row, text in enumerate(texts):
            words = set(re.findall("[a-z]+", text.lower()))
            matrix[row, sum(map(ord, text)) % 90] = 0.1
            for place, pair in enumerate(TOPICS.items()):
                if words & set(pair):
                    matrix[row, self._first + 100 + place] = 1.0
        return matrix / np.linalg.norm(matrix, axis=1, keepdims=True)


class FindsNothing:
    """Reads every message, and finds no claim in it."""

    def extract(self, turn: Turn) -> list[Claim]:
        """Return no claim."""
        del turn
        return []


Opener = Callable[..., Credenda]


@pytest.fixture
def open_memory(target: str) -> Iterator[Opener]:
    """Open the memory of a user with a model, as a process of its own does."""
    opened: list[Credenda] = []

    def open_one(user: str, model: tuple[str, int, int], away: int = -1) -> Credenda:
        parts = build_parts(target, user=user, embedder=Meanings(*model, away), extractor=FindsNothing(), llm="none")
        opened.append(Credenda(parts, workers=False))
        return opened[-1]

    yield open_one
    for one in opened:
        one.close()


@pytest.fixture(params=["resident", "on disk"])
def target(
    request: pytest.FixtureRequest, database: Database, indexed: Database, monkeypatch: pytest.MonkeyPatch
) -> Iterator[str]:
    """A database whose memories have an index in memory, and one where they are too large for that."""
    monkeypatch.setattr(handlers, "_EVENTS_A_STEP", STEP)
    monkeypatch.setattr(handlers, "_TEXTS_A_COMMIT", STEP)
    if request.param == "on disk":
        monkeypatch.setattr("credenda.limits.RESIDENT_DOCUMENTS", 1)
    yield (indexed if request.param == "on disk" else database).url()
    indexed.clear()


@pytest.fixture
def server(target: str, indexed: Database, database: Database) -> Iterator[psycopg.Connection[Any]]:
    with (indexed if target == indexed.url() else database).connect() as connection:
        yield connection


def fill(memory: Credenda, count: int) -> None:
    words = list(TOPICS)
    texts = [f"The {words[number % len(words)]} of number {number} was there." for number in range(count)]
    memory.remember([{"role": "user", "content": text} for text in texts])
    memory.settle()
    copy_vectors(memory)


def copy_vectors(memory: Credenda) -> None:
    copy_large_vectors(memory._parts)  # noqa: SLF001 - as an idle worker does


def find_topics(memory: Credenda) -> list[str]:
    """Return the topics whose messages are found by a word that none of them has."""
    first = {word: memory.search(asked, limit=1).hits for word, asked in TOPICS.items()}
    return [word for word, hits in first.items() if hits and word in hits[0].quote]


def count_models(memory: Credenda) -> dict[str, int]:
    return dict(memory.stats().vectors_by_model)


def test_searches_go_on_while_a_model_takes_the_place_of_another(
    open_memory: Opener, server: psycopg.Connection[Any]
) -> None:
    old, ben = open_memory("ana", OLD), open_memory("ben", OLD)
    fill(old, MESSAGES)
    fill(ben, 2 * len(TOPICS))
    others = server.execute(_VECTORS, ("ben",)).fetchall()
    assert find_topics(old) == find_topics(ben) == list(TOPICS)

    gone = old.remember("The hound of nobody was there.").event_ids[0]
    old.settle()
    broken = open_memory("ana", NEW, away=4)
    with pytest.raises(Unavailable, match="away"):
        broken.data.reembed()
    held = count_models(old)["new"]
    assert 0 < held < MESSAGES
    assert count_models(old)["old"] == MESSAGES + 1
    assert find_topics(old) == list(TOPICS)
    assert "fiddle" in broken.search("The fiddle of number 62", limit=1).hits[0].quote, "found by its words"

    new = open_memory("ana", NEW)
    steps: list[int] = []

    def use(done: int, _: int | None) -> None:
        """Search, store and delete through the process with the old model, and search through the new one."""
        steps.append(done)
        if len(steps) == 2:
            old.remember("The stew of the morning was there.")
            old.delete(gone)
            old.settle()
        copy_vectors(old)
        copy_vectors(new)
        assert find_topics(old) == list(TOPICS)
        assert new.search("The fiddle of number 62", limit=1).hits

    assert new.data.reembed(progress=use).embedded == MESSAGES - held
    assert len(steps) == MESSAGES // STEP + 1
    copy_vectors(new)
    assert find_topics(new) == find_topics(old) == list(TOPICS)
    assert new.data.reembed().embedded == 1, "what came meanwhile"
    assert count_models(new) == {"old": MESSAGES + 1, "new": MESSAGES + 1}
    code = pack_code(int(gone[1:].partition("-")[0]), memory=False)
    assert code not in {row[2] for row in server.execute(_VECTORS, ("ana",)).fetchall()}

    with pytest.raises(Invalid, match="in use"):
        new.data.reembed("hashed", drop_others=True)
    assert new.data.reembed(drop_others=True).vectors_by_model == {"new": MESSAGES + 1}
    copy_vectors(new)
    assert find_topics(new) == list(TOPICS)
    assert "fiddle" in old.search("The fiddle of number 62", limit=1).hits[0].quote, "by words, without its vectors"
    assert server.execute(_VECTORS, ("ben",)).fetchall() == others
    assert find_topics(ben) == list(TOPICS)
    assert new.data.doctor().ok
    assert list_copies(server, "ana") in ([], [("new", MESSAGES + 1)])


def list_copies(server: psycopg.Connection[Any], user: str) -> list[tuple[str, int]]:
    """Return how many vectors of each model pgvector has of a user; nothing where it is not installed."""
    if server.execute("SELECT to_regclass('credenda.nominees')").fetchone() == (None,):
        return []
    return server.execute(
        "SELECT model_id, count(*) FROM credenda.nominees WHERE user_id = %s GROUP BY model_id", (user,)
    ).fetchall()


def test_the_vectors_of_the_old_model_come_back_by_its_model(
    open_memory: Opener, server: psycopg.Connection[Any]
) -> None:
    """Numbers of vectors are never given twice, so that no index misses those that are made again."""
    old = open_memory("ana", OLD)
    fill(old, MESSAGES)
    last = server.execute("SELECT max(number) FROM credenda.embeddings").fetchone()
    new = open_memory("ana", NEW)
    new.data.reembed(drop_others=True)
    copy_vectors(new)
    assert find_topics(new) == list(TOPICS)
    again = open_memory("ana", OLD)
    again.data.reembed(drop_others=True)
    copy_vectors(again)
    assert find_topics(again) == find_topics(old) == list(TOPICS)
    first = server.execute("SELECT min(number) FROM credenda.embeddings").fetchone()
    assert first is not None
    assert last is not None
    assert first[0] > last[0] + MESSAGES - 1
    assert list_copies(server, "ana") in ([], [("old", MESSAGES)])
