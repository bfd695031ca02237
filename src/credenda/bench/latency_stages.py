"""The time of each step of a search, and of a plain scan of the same vectors."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

import numpy as np

from credenda.bench.sentences import Asked
from credenda.bench.stats import Spread, compute_median, spread_ms
from credenda.clock import cpu_seconds, seconds
from credenda.model.query import Query
from credenda.providers.embed.protocol import Embedder
from credenda.read.fuse import fuse_scores, pick_best_of_owner
from credenda.read.plan import plan
from credenda.read.retrieve import retrieve
from credenda.read.weights import load_weights
from credenda.runtime import Parts

__all__ = ["measure_scan", "measure_stages"]

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
