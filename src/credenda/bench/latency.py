"""`credenda bench latency`: how long operations take, compared with the simplest equivalent.

Figures depend on this machine and its load, which is printed with them. Nothing here asserts a time.
"""

from __future__ import annotations

import os
import platform
import sqlite3
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from credenda.bench.latency_read import choose_embedder, measure_disk, measure_search
from credenda.bench.latency_start import measure_opening, measure_start
from credenda.bench.latency_tenants import measure_tenants
from credenda.bench.latency_write import measure_writes
from credenda.bench.scaling import fit_exponent, plot_svg
from credenda.bench.stats import compute_ratio
from credenda.bench.targets import check_targets
from credenda.errors import Unavailable

__all__ = ["run_latency"]

Note = Callable[[str], None]


def run_latency(
    sizes: Sequence[int], *, embedder: str, note: Note, tenants: int = 0, plot: Path | None = None
) -> dict[str, Any]:
    """Measure writes, searches at each size, starts and footprints; return the document of `--json`.

    With `tenants` it also searches one user among that many of the smallest size; `plot` is the path of a plot.
    """
    before = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="credenda-bench-") as name:
        folder = Path(name)
        note("single writes, compared with plain inserts")
        write = measure_writes(folder, choose_embedder(embedder, min(sizes)))
        search: dict[str, Any] = {}
        for size in sizes:
            note(f"a store of {size} messages: build and search")
            found = measure_search(folder, size, embedder)
            search[str(size)] = {**found, "opening": measure_opening(folder / f"store-{size}.db", embedder)}
        note("starts of fresh processes")
        largest = max(sizes)
        start = {"messages": largest, **measure_start(folder / f"store-{largest}.db", embedder)}
        note("bytes on disk")
        disk = measure_disk(folder)
        among: Any = None
        if tenants:
            note(f"{tenants} users of {min(sizes)} messages each")
            among = measure_tenants(folder, tenants, min(sizes), embedder)
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
        "growth": _compute_growth(search),
        "tenants": among,
        "start": start,
        "disk_bytes_per_stored_memory": disk,
    }
    if plot is not None:
        _draw(plot, search)
    return {**document, "targets": check_targets(document)}


_LINES: Final = {"search": "search", "search_cpu": "search, CPU", "bare_query": "bare bm25", "scan": "numpy scan"}


def _collect_medians(search: dict[str, Any]) -> dict[str, list[tuple[int, float]]]:
    """Return the medians by size of each figure that was measured at several sizes."""
    return {
        name: [(int(size), found[name]["median_ms"]) for size, found in search.items() if found[name]]
        for name in _LINES
    }


def _compute_growth(search: dict[str, Any]) -> dict[str, float | None]:
    """Return the growth exponent of each line, and the ratio of search times at 100,000 and at 10,000."""
    found: dict[str, float | None] = {
        f"{name}_exponent": fit_exponent(line) for name, line in _collect_medians(search).items()
    }
    ten, hundred = (search.get(size) for size in ("10000", "100000"))
    found["from_10k_to_100k"] = None
    if ten and hundred:
        found["from_10k_to_100k"] = compute_ratio(hundred["search_cpu"], ten["search_cpu"])
    return found


def _draw(path: Path, search: dict[str, Any]) -> None:
    lines = {_LINES[name]: line for name, line in _collect_medians(search).items()}
    try:
        path.write_text(plot_svg(lines, title="Median time of a search by messages stored", unit="ms"), "utf-8")
    except OSError as error:
        raise Unavailable(f"cannot write {path}", why=str(error), fix="give another path for --plot") from error
