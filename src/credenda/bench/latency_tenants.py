"""Measure whether other users' memories slow a search down: the same user alone in a file, and among many."""

from __future__ import annotations

import shutil
from contextlib import ExitStack
from pathlib import Path
from typing import Final, TypedDict

from credenda import Credenda
from credenda.bench.latency_bulk import fill_store
from credenda.bench.latency_read import USER, build_store, choose_embedder, prepare_questions
from credenda.bench.sentences import Asked, make_sentences
from credenda.bench.stats import Spread, compute_ratio, spread_ms
from credenda.clock import seconds

__all__ = ["TenantFigures", "measure_tenants"]

_DEPTH: Final = 10
_WARM_UP: Final = 20


class TenantFigures(TypedDict):
    """Searches of one user's messages, alone in a file and among others, and a search of each user in turn."""

    tenants: int
    messages_each: int
    alone: Spread
    among_others: Spread
    ratio: float
    in_turn: Spread
    """A search of each user in turn: most indexes must be loaded, because only some stay in memory."""


def measure_tenants(folder: Path, tenants: int, size: int, embedder: str) -> TenantFigures:
    """Search one user's store, alternating with a copy of it that has many more users of the same size."""
    _, asked = prepare_questions(size)
    engine = choose_embedder(embedder, size)
    alone, shared = folder / "alone.db", folder / "shared.db"
    build_store(alone, size, engine)
    shutil.copy(alone, shared)
    for number in range(1, tenants):
        fill_store(shared, make_sentences(size, seed=size + number), user=f"{USER}-{number}", embedder=engine)
    times: dict[Path, list[float]] = {alone: [], shared: []}
    with ExitStack() as stack:
        opened = {
            path: stack.enter_context(Credenda.open(path, user=USER, embedder=engine, workers=False)) for path in times
        }
        for one in asked:
            for path, memory in opened.items():
                times[path].append(_time_search(memory, one))
    in_turn: list[float] = []
    for number in range(1, tenants):
        with Credenda.open(shared, user=f"{USER}-{number}", embedder=engine, workers=False) as memory:
            in_turn.append(_time_search(memory, asked[number % len(asked)]))
    single, among = (spread_ms(times[path][_WARM_UP:]) for path in (alone, shared))
    return {
        "tenants": tenants,
        "messages_each": size,
        "alone": single,
        "among_others": among,
        "ratio": compute_ratio(among, single),
        "in_turn": spread_ms(in_turn),
    }


def _time_search(memory: Credenda, one: Asked) -> float:
    start = seconds()
    memory.search(one.text, limit=_DEPTH)
    return seconds() - start
