"""`credenda bench latency`: how long operations take, compared with the simplest equivalent.

Figures depend on this machine and its load, which is printed with them. Nothing here asserts a time.
"""

from __future__ import annotations

import json
import os
import platform
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from threading import Barrier, Thread
from typing import Any, Final, TypedDict

from benchmarks.latency_bulk import fill_store
from benchmarks.latency_read import (
    USER,
    BareTable,
    build_store,
    choose_embedder,
    measure_disk,
    measure_search,
    prepare_questions,
)
from benchmarks.sentences import Asked, make_sentences
from benchmarks.stats import (
    Spread,
    check_targets,
    compute_median,
    compute_ratio,
    find_percentile,
    fit_exponent,
    plot_svg,
    spread_ms,
)
from credenda import Credenda
from credenda.bootstrap import build_parts
from credenda.clock import seconds
from credenda.errors import Unavailable
from credenda.providers.embed.factory import Embedder
from credenda.storage.sqlite.store import SqliteStore

# The cost of a start: `import credenda`, a store with its first search, a one-shot command, and an MCP server.


_RUNS: Final = 5
_IMPORT: Final = "from time import process_time as t; a = t(); import credenda; print(t() - a)"
_OPEN: Final = """
import json, resource, sys
from time import perf_counter, process_time
cpu, wall = process_time(), perf_counter()
from credenda import Credenda
path, user, embedder = sys.argv[1:]
if embedder == "given":
    from benchmarks.locomo import GivenVectors
    embedder = GivenVectors()
memory = Credenda.open(path, user=user, embedder=embedder)
memory.search("What was it about the kayak?", limit=10)
cpu, wall = process_time() - cpu, perf_counter() - wall
process_cpu = process_time()
from benchmarks.sentences import make_questions, make_sentences
for asked in make_questions(make_sentences(200), 200):
    memory.search(asked.text, limit=10)
rss_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
memory.close()
print(json.dumps({"cpu_s": cpu, "wall_s": wall, "process_cpu_s": process_cpu, "rss_mb": rss_kb / 1024}))
"""

_LIST_TOOLS: Final = json.dumps(
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/list",
        "params": {
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
            }
        },
    }
)


class OpeningFigures(TypedDict):
    """Medians of several fresh processes that open a store and search, with a warm page cache."""

    open_and_first_search_cpu_s: float
    open_and_first_search_wall_s: float
    process_cpu_s: float
    rss_mb: float
    """Peak memory of the process, after two hundred searches."""


class StartFigures(OpeningFigures):
    """Median costs of starts."""

    import_cpu_s: float
    one_shot_search_cpu_s: float | None
    mcp_first_list_cpu_s: float | None
    """From the start of `credenda mcp` to its end right after the first list of tools."""


def measure_start(path: Path, embedder: str) -> StartFigures:
    """Start fresh processes on an existing store; imports count from an interpreter without imports."""
    environment = _make_environment(path)
    imports = [float(_run_process([sys.executable, "-c", _IMPORT], environment)) for _ in range(_RUNS)]
    opened = measure_opening(path, embedder)
    return {
        "import_cpu_s": round(compute_median(imports), 4),
        **opened,
        "one_shot_search_cpu_s": None if embedder == "given" else _time_search(path, embedder),
        "mcp_first_list_cpu_s": _time_mcp(path) if find_spec("mcp") else None,
    }


def measure_opening(path: Path, embedder: str) -> OpeningFigures:
    """Open a store in fresh processes and search: once for the times, and two hundred times for the memory."""
    arguments = [sys.executable, "-c", _OPEN, str(path), USER, embedder]
    environment = _make_environment(path)
    _run_process(arguments, environment)
    opened = [json.loads(_run_process(arguments, environment)) for _ in range(_RUNS)]

    def middle(name: str) -> float:
        return round(compute_median([run[name] for run in opened]), 4)

    return {
        "open_and_first_search_cpu_s": middle("cpu_s"),
        "open_and_first_search_wall_s": middle("wall_s"),
        "process_cpu_s": middle("process_cpu_s"),
        "rss_mb": middle("rss_mb"),
    }


def _make_environment(path: Path) -> dict[str, str]:
    """Return an environment in which processes cache compiled code beside the store, as an installation would."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "PYTHONPYCACHEPREFIX": str(path.parent / "compiled")}


def _run_process(arguments: Sequence[str], environment: Mapping[str, str] | None = None, given: bytes = b"") -> bytes:
    done = subprocess.run(arguments, check=True, capture_output=True, env=environment, input=given)  # noqa: S603 - our own program
    return done.stdout


def _time_search(path: Path, embedder: str) -> float:
    """Return the CPU time of `credenda search`, including the process start."""
    arguments = [sys.executable, "-m", "credenda", "--db", str(path), "--user", USER, "search", "Where is the kayak?"]
    return _measure_children_cpu_s(arguments, {**_make_environment(path), "CREDENDA_EMBEDDER": embedder}, b"")


def _time_mcp(path: Path) -> float:
    """Return the CPU time of an MCP server that lists its tools and ends."""
    arguments = [sys.executable, "-m", "credenda", "--db", str(path), "--user", USER, "mcp"]
    return _measure_children_cpu_s(arguments, _make_environment(path), _LIST_TOOLS.encode() + b"\n")


def _measure_children_cpu_s(arguments: Sequence[str], environment: Mapping[str, str], given: bytes) -> float:
    """Run a command several times and return its median CPU time; the first run is a warm-up."""
    taken: list[float] = []
    for _ in range(_RUNS + 1):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        _run_process(arguments, environment, given)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        taken.append(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
    return round(compute_median(taken[1:]), 4)


# Measure whether other users' memories slow a search down: the same user alone in a file, and among many.


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
                times[path].append(_time_search_latency_tenants(memory, one))
    in_turn: list[float] = []
    for number in range(1, tenants):
        with Credenda.open(shared, user=f"{USER}-{number}", embedder=engine, workers=False) as memory:
            in_turn.append(_time_search_latency_tenants(memory, asked[number % len(asked)]))
    single, among = (spread_ms(times[path][_WARM_UP:]) for path in (alone, shared))
    return {
        "tenants": tenants,
        "messages_each": size,
        "alone": single,
        "among_others": among,
        "ratio": compute_ratio(among, single),
        "in_turn": spread_ms(in_turn),
    }


def _time_search_latency_tenants(memory: Credenda, one: Asked) -> float:
    start = seconds()
    memory.search(one.text, limit=_DEPTH)
    return seconds() - start


# The time of an acknowledged write, compared with a plain durable insert of the same text on the same disk.


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
