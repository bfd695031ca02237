"""The time of an acknowledged write, compared with a plain durable insert of the same text on the same disk."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Barrier, Thread
from typing import Final, TypedDict

from credenda import Credenda
from credenda.bench.fts5_baseline import BareTable
from credenda.bench.sentences import make_sentences
from credenda.bench.stats import Spread, compute_ratio, find_percentile, spread_ms
from credenda.bootstrap import build_parts
from credenda.clock import seconds
from credenda.providers.embed.protocol import Embedder
from credenda.storage.sqlite.store import SqliteStore

__all__ = ["ThreadFigures", "WriteFigures", "measure_writes"]

_ACKS: Final = 600
_BACKLOG: Final = 1_500
_PAUSE_SECONDS: Final = 0.002
_THREADS: Final = (1, 4, 16)
_THREAD_ACKS: Final = 2_400


class ThreadFigures(TypedDict):
    """Writes from several threads at once."""

    acks_per_second: float
    p99_ms: float
    commits_per_ack: float


class WriteFigures(TypedDict):
    """Write times in milliseconds, and as a multiple of a plain insert's median."""

    bare_insert: Spread
    ack_worker_off: Spread
    ack_worker_busy: Spread
    ack_worker_busy_paced: Spread
    ratio_worker_off: float
    ratio_worker_busy: float
    ratio_worker_busy_paced: float
    worker_was_busy_throughout: bool
    commits_per_ack: float
    threads: dict[str, ThreadFigures]


def measure_writes(folder: Path, embedder: str | Embedder) -> WriteFigures:
    """Measure acknowledgements with the worker off and busy, and from several threads."""
    bare, off, commits_per_ack = _run_interleaved(folder, embedder)
    busy, paced, throughout = _run_busy(folder, embedder)
    return {
        "bare_insert": bare,
        "ack_worker_off": off,
        "ack_worker_busy": busy,
        "ack_worker_busy_paced": paced,
        "ratio_worker_off": compute_ratio(off, bare),
        "ratio_worker_busy": compute_ratio(busy, bare),
        "ratio_worker_busy_paced": compute_ratio(paced, bare),
        "worker_was_busy_throughout": throughout,
        "commits_per_ack": commits_per_ack,
        "threads": {str(count): _run_threads(folder, count) for count in _THREADS},
    }


def _time_call(call: Callable[[str], object], text: str) -> float:
    start = seconds()
    call(text)
    return seconds() - start


def _run_interleaved(folder: Path, embedder: str | Embedder) -> tuple[Spread, Spread, float]:
    """Alternate plain inserts and `remember` of a text; both files begin empty."""
    bare = BareTable(folder / "bare-write.db")
    parts = build_parts(folder / "off.db", user="bench", embedder=embedder)
    inserts: list[float] = []
    acks: list[float] = []
    with Credenda(parts, workers=False) as memory:
        memory.remember("The first call opens the tenant.")
        before = _count_commits(parts.store)
        for text in make_sentences(_ACKS, seed=1):
            inserts.append(_time_call(bare.insert, text))
            acks.append(_time_call(memory.remember, text))
        commits = _count_commits(parts.store) - before
    bare.close()
    return spread_ms(inserts), spread_ms(acks), round(commits / _ACKS, 3)


def _count_commits(store: object) -> int:
    assert isinstance(store, SqliteStore)  # noqa: S101 - the only store that this benchmark opens
    return store.commits


def _run_busy(folder: Path, embedder: str | Embedder) -> tuple[Spread, Spread, bool]:
    """Remember while the worker of this process has a backlog: without and with a pause between calls."""
    path = folder / "busy.db"
    with Credenda.open(path, user="bench", embedder=embedder, workers=False) as memory:
        for text in make_sentences(_BACKLOG, seed=2):
            memory.remember(text)
    texts = make_sentences(_ACKS, seed=3)
    half = len(texts) // 2
    paced: list[float] = []
    with Credenda.open(path, user="bench", embedder=embedder) as memory:
        busy = [_time_call(memory.remember, text) for text in texts[:half]]
        for text in texts[half:]:
            paced.append(_time_call(memory.remember, text))
            time.sleep(_PAUSE_SECONDS)
        throughout = memory.stats().pending_extractions > 0
    return spread_ms(busy), spread_ms(paced), throughout


def _run_threads(folder: Path, count: int) -> ThreadFigures:
    """Remember from several threads at once, with the worker off."""
    parts = build_parts(folder / f"threads-{count}.db", user="bench", embedder="none")
    texts = make_sentences(_THREAD_ACKS, seed=4)
    share = len(texts) // count
    took: list[list[float]] = [[] for _ in range(count)]
    ready = Barrier(count + 1)
    with Credenda(parts, workers=False) as memory:
        memory.remember("The first call opens the tenant.")

        def write(mine: Sequence[str], times: list[float]) -> None:
            ready.wait()
            times += [_time_call(memory.remember, text) for text in mine]

        threads = [
            Thread(target=write, args=(texts[place * share : (place + 1) * share], took[place]))
            for place in range(count)
        ]
        for thread in threads:
            thread.start()
        before = _count_commits(parts.store)
        ready.wait()
        start = seconds()
        for thread in threads:
            thread.join()
        whole = seconds() - start
        commits = _count_commits(parts.store) - before
    times = [one for mine in took for one in mine]
    return {
        "acks_per_second": round(len(times) / whole, 1),
        "p99_ms": round(find_percentile(times, 0.99) * 1_000, 3),
        "commits_per_ack": round(commits / len(times), 3),
    }
