"""`credenda bench latency`: how long things take, beside the plainest thing that could do the same.

Figures are of this machine at this moment; the load is printed with them. Nothing here asserts a time.
"""

from __future__ import annotations

import os
import platform
import sqlite3
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from credenda.bench.latency_read import disk_per_stored_memory, engine_for, measure_search
from credenda.bench.latency_start import measure_start
from credenda.bench.latency_write import measure_writes
from credenda.bench.targets import judge_targets

__all__ = ["run_latency"]

Note = Callable[[str], None]


def run_latency(sizes: Sequence[int], *, embedder: str, note: Note) -> dict[str, Any]:
    """Measure writes, searches at each size, starts and footprints; returns the document that `--json` prints."""
    before = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="credenda-bench-") as name:
        folder = Path(name)
        note("writes, one by one beside bare inserts")
        write = measure_writes(folder, engine_for(embedder, min(sizes)))
        search: dict[str, Any] = {}
        for size in sizes:
            note(f"a store of {size} messages: build and search")
            search[str(size)] = measure_search(folder, size, embedder)
        note("starts of fresh processes")
        largest = max(sizes)
        start = {"messages": largest, **measure_start(folder / f"store-{largest}.db", embedder)}
        note("bytes on disk")
        disk = disk_per_stored_memory(folder)
    document: dict[str, Any] = {
        "machine": {
            "cpus": os.cpu_count(),
            "python": platform.python_version(),
            "sqlite": sqlite3.sqlite_version,
            "load_1min_before": round(before, 2),
            "load_1min_after": round(os.getloadavg()[0], 2),
        },
        "embedder": embedder,
        "write": write,
        "search": search,
        "start": start,
        "disk_bytes_per_stored_memory": disk,
    }
    return {**document, "targets": judge_targets(document)}
