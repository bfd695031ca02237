"""Search time at a given size, compared with a plain FTS5 query over the same texts; and the memory footprint."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Collection, Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final, TypedDict

import numpy as np

from benchmarks.latency_bulk import fill_store
from benchmarks.locomo import GivenVectors
from benchmarks.sentences import Asked, make_questions, make_sentences
from benchmarks.stats import Spread, compute_median, compute_ratio, spread_ms
from credenda import Credenda, MemoryUnit, Unavailable
from credenda.bootstrap import build_parts
from credenda.clock import cpu_seconds, seconds
from credenda.model.query import Hit, Query
from credenda.providers.embed.factory import Embedder
from credenda.read.plan import plan
from credenda.read.retrieve import retrieve
from credenda.read.score import fuse_scores, pick_best_of_owner
from credenda.read.weights import load_weights
from credenda.runtime import Parts
from credenda.text.tokens import extract_query_terms

# The baseline of the latency benchmark: a plain FTS5 table, with one durable insert per text, queried by its bm25.


_WORD: Final = re.compile(r"\w+")


class BareTable:
    """Texts in an FTS5 table. The file is beside the memory that it is compared with."""

    def __init__(self, path: Path) -> None:
        """Create the table: write-ahead log, one fsync per commit."""
        self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = FULL")
        self._connection.execute("CREATE VIRTUAL TABLE texts USING fts5 (body, tokenize = 'porter unicode61')")

    def insert(self, text: str) -> None:
        """Insert one text in its own transaction."""
        self._connection.execute("INSERT INTO texts (body) VALUES (?)", (text,))

    def fill(self, texts: Iterable[str]) -> None:
        """Insert many texts in one transaction."""
        self._connection.execute("BEGIN")
        self._connection.executemany("INSERT INTO texts (body) VALUES (?)", ((text,) for text in texts))
        self._connection.execute("COMMIT")

    def search(self, question: str, limit: int) -> list[str]:
        """Return the best texts by bm25 for any of the question's words, without stop words."""
        return self._search_any({word for term in extract_query_terms(question) for word in _WORD.findall(term)}, limit)

    def search_all_words(self, question: str, limit: int) -> list[str]:
        """Do the same with all words of the question, stop words included."""
        return self._search_any(set(_WORD.findall(question.lower())), limit)

    def _search_any(self, words: Collection[str], limit: int) -> list[str]:
        if not words:
            return []
        match = " OR ".join(f'"{word}"' for word in sorted(words))
        statement = "SELECT body FROM texts WHERE texts MATCH ? ORDER BY rank LIMIT ?"
        return [row[0] for row in self._connection.execute(statement, (match, limit))]

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


# The time of each step of a search, and of a plain scan of the same vectors.


_SCAN_BYTES: Final = 256 << 20
"""Vectors of a larger store are not scanned, because all would have to be in memory as floats."""
_STAGES: Final = ("view", "question", "plan", "retrieve", "fuse")


def measure_stages(parts: Parts, asked: Sequence[Asked], *, depth: int, whole_ms: float) -> dict[str, float]:
    """Return the median CPU milliseconds of each step of a search; `rows` is the rest of `whole_ms`.

    `view` opens the store's view and updates the index, `question` embeds, `rows` reads, filters, scores and packs.
    """
    taken: dict[str, list[float]] = {name: [] for name in _STAGES}
    for one in asked:
        for name, took in zip(_STAGES, _time_steps(parts, one.text, depth), strict=True):
            taken[name].append(took)
    found = {name: round(compute_median(times) * 1_000, 4) for name, times in taken.items()}
    return {**found, "rows": round(max(0.0, whole_ms - sum(found.values())), 4)}


def _time_steps(parts: Parts, text: str, depth: int) -> list[float]:
    tuned = load_weights()
    query = Query(text=text, limit=depth)
    model_id = parts.embedder.model_id if parts.embedder else None
    marks = [cpu_seconds()]
    with parts.store.reader(parts.user_id) as reader:
        index = parts.indexes.get(reader, model_id=model_id, store=parts.store_name)
        marks.append(cpu_seconds())
        vector = None if parts.ask is None else parts.ask([text])[0]
        marks.append(cpu_seconds())
        made = plan(query, parts.clock.now_us(), index.speaker_names)
        marks.append(cpu_seconds())
        found = retrieve(index, reader, query, made, vector=vector)
        marks.append(cpu_seconds())
        fused = fuse_scores(found, tuned, tuned.engine(model_id))
        pick_best_of_owner(found, fused.relevance)
        marks.append(cpu_seconds())
    return [after - before for before, after in pairwise(marks)]


def measure_scan(engine: Embedder, texts: Sequence[str], asked: Sequence[Asked], depth: int) -> Spread | None:
    """Time cosines of each question with all vectors as floats in memory; None if there are too many."""
    if len(texts) * engine.dims * 4 > _SCAN_BYTES:
        return None
    matrix = np.concatenate([engine.embed(texts[at : at + 1_000]) for at in range(0, len(texts), 1_000)])
    times: list[float] = []
    for one in asked:
        vector = engine.embed([one.text])[0]
        start = seconds()
        scores = matrix @ vector
        best = np.argpartition(scores, -depth)[-depth:]
        best[np.argsort(-scores[best])]
        times.append(seconds() - start)
    return spread_ms(times)


USER: Final = "bench"
_QUESTIONS: Final = 220
_WARM_UP: Final = 20
_BLOCK: Final = 25
_DEPTH: Final = 10
_MESSAGES: Final = 100
_STORED: Final = 2_000
READ_MOST: Final = 100_000
"""The largest number of messages to extract; a larger store is filled with messages and vectors."""
_SETTLE_SECONDS: Final = 36_000.0


class SearchFigures(TypedDict):
    """Figures of one store size: times in milliseconds, hits as fractions of all questions."""

    messages: int
    documents: int
    read_for_beliefs: bool
    question: Spread | None
    """Time to embed a new question; cached afterwards, and not part of `search`."""
    search: Spread
    search_cpu: Spread
    stages_cpu_ms: dict[str, float]
    bare_query: Spread
    ratio_to_bare: float
    full_query: Spread
    """Time of the same query with all words of the question, stop words included."""
    ratio_to_full: float
    scan: Spread | None
    """Time of cosines to all vectors as floats, and the best ten; excludes words, beliefs and rows."""
    ratio_to_scan: float | None
    hit_at_10: float
    hit_at_10_in_own_words: float
    hit_at_10_in_other_words: float
    bare_hit_at_10: float
    build_seconds: float
    disk_bytes_per_message: float
    disk_bytes_per_document: float
    resident_bytes_per_document: float


def prepare_questions(size: int) -> tuple[list[str], list[Asked]]:
    """Return the messages of a store of this size, and questions about some of them."""
    texts = make_sentences(size, seed=size)
    return texts, make_questions(texts, min(_QUESTIONS, size), seed=size)


def choose_embedder(embedder: str, size: int) -> str | Embedder:
    """Return the embedder of this name; "given" has vectors for the questions of this size."""
    return GivenVectors(prepare_questions(size)[1]) if embedder == "given" else embedder


def build_store(path: Path, size: int, embedder: str | Embedder) -> float:
    """Store this many messages and wait until all are processed; return the seconds that this took."""
    texts, _ = prepare_questions(size)
    start = seconds()
    with Credenda.open(path, user=USER, embedder=embedder, workers=False) as memory:
        for at in range(0, size, _MESSAGES):
            messages = [{"role": "user", "content": text} for text in texts[at : at + _MESSAGES]]
            memory.remember(messages, session=f"session {at // _MESSAGES}")
        memory.settle(_SETTLE_SECONDS)
        _refuse_dead_jobs(memory)
        memory.search(texts[0])  # so that closing saves a snapshot of the index
    return seconds() - start


def _refuse_dead_jobs(memory: Credenda) -> None:
    """Raise `Unavailable` when jobs failed, because an incomplete store would give better figures."""
    dead = memory.stats().dead_jobs
    if dead:
        raise Unavailable(f"{dead} jobs failed permanently", why="the store is incomplete", fix="run `credenda doctor`")


def measure_search(folder: Path, size: int, embedder: str) -> SearchFigures:
    """Build a store and search it, alternating blocks of questions with a plain table of the same texts."""
    texts, asked = prepare_questions(size)
    engine = choose_embedder(embedder, size)
    path = folder / f"store-{size}.db"
    reads = size <= READ_MOST
    built = build_store(path, size, engine) if reads else fill_store(path, texts, user=USER, embedder=engine)
    disk = path.stat().st_size
    bare = BareTable(folder / f"bare-{size}.db")
    bare.fill(texts)
    parts = build_parts(path, user=USER, embedder=engine)
    with Credenda(parts) as memory:
        runs = _Runs(memory, bare, parts)
        runs.run(asked[:_WARM_UP], counted=False)
        runs.run(asked[_WARM_UP:], counted=True)
        search, busy, query = spread_ms(runs.searches), spread_ms(runs.busy), spread_ms(runs.queries)
        full = spread_ms(runs.full_queries)
        stages = measure_stages(parts, asked[_WARM_UP:], depth=_DEPTH, whole_ms=busy["median_ms"])
        documents, resident = _index_size(parts)
        scan = None if parts.embedder is None else measure_scan(parts.embedder, texts, asked, _DEPTH)
    bare.close()
    return {
        "messages": size,
        "documents": documents,
        "read_for_beliefs": reads,
        "question": spread_ms(runs.embeddings) if runs.embeddings else None,
        "search": search,
        "search_cpu": busy,
        "stages_cpu_ms": stages,
        "bare_query": query,
        "ratio_to_bare": compute_ratio(search, query),
        "full_query": full,
        "ratio_to_full": compute_ratio(search, full),
        "scan": scan,
        "ratio_to_scan": None if scan is None else compute_ratio(search, scan),
        "hit_at_10": _compute_share([*runs.worded, *runs.other]),
        "hit_at_10_in_own_words": _compute_share(runs.worded),
        "hit_at_10_in_other_words": _compute_share(runs.other),
        "bare_hit_at_10": _compute_share(runs.bare_hits),
        "build_seconds": round(built, 2),
        "disk_bytes_per_message": round(disk / size, 1),
        "disk_bytes_per_document": round(disk / documents, 1),
        "resident_bytes_per_document": round(resident / documents, 1),
    }


class _Runs:
    """Times and hits of questions on both stores."""

    def __init__(self, memory: Credenda, bare: BareTable, parts: Parts) -> None:
        self._memory = memory
        self._bare = bare
        self._ask = parts.ask
        self.embeddings: list[float] = []
        self.searches: list[float] = []
        self.busy: list[float] = []
        self.queries: list[float] = []
        self.full_queries: list[float] = []
        self.worded: list[bool] = []
        self.other: list[bool] = []
        self.bare_hits: list[bool] = []

    def run(self, asked: Sequence[Asked], *, counted: bool) -> None:
        """Run some questions on one store and then on the other, in blocks.

        Alternating single questions would fill the processor's caches with pages of the other store, which does not
        happen in use.
        """
        for at in range(0, len(asked), _BLOCK):
            block = asked[at : at + _BLOCK]
            for one in block:
                self._embed(one.text, counted=counted)
            for one in block:
                self._search(one, counted=counted)
            for one in block:
                self._query(one, counted=counted)
            for one in block:
                self._query_in_full(one, counted=counted)

    def _search(self, one: Asked, *, counted: bool) -> None:
        start, before = seconds(), cpu_seconds()
        result = self._memory.search(one.text, limit=_DEPTH)
        end, after = seconds(), cpu_seconds()
        if counted:
            self.searches.append(end - start)
            self.busy.append(after - before)
            (self.worded if one.worded else self.other).append(any(_is_answer(hit, one.gold) for hit in result.hits))

    def _query(self, one: Asked, *, counted: bool) -> None:
        start = seconds()
        texts = self._bare.search(one.text, _DEPTH)
        end = seconds()
        if counted:
            self.queries.append(end - start)
            self.bare_hits.append(one.gold in texts)

    def _query_in_full(self, one: Asked, *, counted: bool) -> None:
        start = seconds()
        self._bare.search_all_words(one.text, _DEPTH)
        end = seconds()
        if counted:
            self.full_queries.append(end - start)

    def _embed(self, text: str, *, counted: bool) -> None:
        """Embed the question in advance; the time is recorded separately."""
        if self._ask is None:
            return
        start = seconds()
        self._ask([text])
        if counted:
            self.embeddings.append(seconds() - start)


def _is_answer(hit: Hit, gold: str) -> bool:
    events = hit.evidence if hit.event is None else (hit.event,)
    return any(event.text == gold for event in events)


def _compute_share(found: Sequence[bool]) -> float:
    return round(sum(found) / max(1, len(found)), 4)


def _index_size(parts: Parts) -> tuple[int, int]:
    """Return how many documents the resident index holds, and its bytes."""
    model_id = parts.embedder.model_id if parts.embedder else None
    with parts.store.reader(parts.user_id) as reader:
        index = parts.indexes.get(reader, model_id=model_id, store=parts.store_name)
    return len(index), index.nbytes


def measure_disk(folder: Path) -> float:
    """Return the bytes on disk of a stored memory with its event, evidence, change, full text and float16 vectors."""
    path = folder / "stored.db"
    with Credenda.open(path, user=USER, embedder=GivenVectors(), workers=False) as memory:
        for number, text in enumerate(make_sentences(_STORED, seed=5)):
            memory.store(MemoryUnit(text=text, entity=f"topic {number}", attribute="note", value=text.split()[-1]))
        memory.settle(_SETTLE_SECONDS)
    return round(path.stat().st_size / _STORED, 1)
