"""Search on Postgres and on SQLite: the same rows give the same hits in the same order with the same scores."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.resources import as_file, files
from pathlib import Path

import pytest

from credenda import Credenda
from credenda.bootstrap import build_parts, migrate_database
from credenda.errors import LimitExceeded
from credenda.runtime import Parts
from credenda.services.search import search
from credenda.testing import ManualClock
from tests.postgres_server import get_server

TOLERANCE = 1e-9
SHARED = 0.97
"""The share of hits that the full-text indexes have in common."""
QUESTIONS = (
    "Where do I live?",
    "What is my job?",
    "coffee or tea in the morning",
    "when is the meeting",
    "What did I say about the project last week?",
    "Wohnort",
    "zebra crossing",
)
Pair = tuple[Parts, Parts]


@pytest.fixture(scope="module")
def targets(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """The conversation of the demo, in both databases."""
    path = tmp_path_factory.mktemp("parity") / "memory.db"
    clock = ManualClock("2026-03-01T09:00:00Z")
    with (
        as_file(files("credenda") / "data" / "demo_conversation.jsonl") as conversation,
        Credenda.open(path, user="ana", clock=clock, embedder="hashed", workers=False) as memory,
    ):
        memory.data.import_(conversation, format="conversation")
        memory.settle(120)
    server = get_server()
    database = server.lend()
    assert migrate_database(path, database.url()).ok
    yield str(path), database.url()
    server.take_back(database)


@pytest.fixture
def pair(targets: tuple[str, str]) -> Iterator[Pair]:
    """Both databases at one moment."""
    clock = ManualClock("2026-03-01T09:00:00Z")
    old, new = (build_parts(one, user="ana", clock=clock, embedder="hashed", read_only=True) for one in targets)
    yield old, new
    old.release()
    new.release()


def list_questions() -> list[str]:
    """The questions, and the words of some messages."""
    with as_file(files("credenda") / "data" / "demo_conversation.jsonl") as conversation:
        turns = [
            turn["text"]
            for line in Path(conversation).read_text("utf-8").splitlines()
            for session in json.loads(line)["sessions"]
            for turn in session["turns"]
        ]
    return [*QUESTIONS, *(" ".join(text.split()[:8]) for text in turns[::5])]


def compare(pair: Pair, query: str, **conditions: object) -> int:
    """Compare the results of a search; return the number of hits."""
    old, new = (search(parts, query, {**conditions, "record_access": False}) for parts in pair)
    assert [(hit.kind, hit.id, hit.quote, hit.flags) for hit in new.hits] == [
        (hit.kind, hit.id, hit.quote, hit.flags) for hit in old.hits
    ], query
    assert [hit.score for hit in new.hits] == pytest.approx([hit.score for hit in old.hits], abs=TOLERANCE)
    assert new.probability == pytest.approx(old.probability, abs=TOLERANCE)
    assert new.abstained == old.abstained
    return len(new.hits)


def test_the_resident_index_ranks_alike(pair: Pair) -> None:
    questions = list_questions()
    found = [compare(pair, one, limit=50) for one in questions]
    assert len(found) > 15
    assert sum(found) > 100


def test_the_full_text_index_nominates_alike_where_a_memory_is_too_large_for_the_other(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    """FTS5 cuts some words that carry no meaning to the stem of another ("has" to "ha"), and nominates a few more."""

    def refuse(*_: object, **__: object) -> None:
        raise LimitExceeded("too large", why="a test", fix="none")

    monkeypatch.setattr("credenda.index.cache.IndexCache.get", refuse)
    both = total = 0
    for query in list_questions():
        old, new = (search(parts, query, {"record_access": False}).hits for parts in pair)
        assert [hit.id for hit in new[:1]] == [hit.id for hit in old[:1]], query
        both += len({hit.id for hit in old} & {hit.id for hit in new})
        total += len({hit.id for hit in (*old, *new)})
    assert total > 50
    assert both / total > SHARED


@pytest.mark.parametrize("mode", ["full_context", "facts_only"])
def test_times_and_modes_give_the_same_hits(pair: Pair, mode: str) -> None:
    for as_of in ("2023-06-01T00:00:00Z", "2026-02-01T00:00:00Z"):
        for query in QUESTIONS[:4]:
            compare(pair, query, mode=mode, as_of=as_of)
            compare(pair, query, mode=mode, include=("superseded",))
