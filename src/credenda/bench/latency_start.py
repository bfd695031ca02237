"""The cost of a start: `import credenda`, a store with its first search, a one-shot command, and an MCP server."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Final, TypedDict

from credenda.bench.latency_read import USER
from credenda.bench.stats import compute_median

__all__ = ["OpeningFigures", "StartFigures", "measure_opening", "measure_start"]

_RUNS: Final = 5
_IMPORT: Final = "from time import process_time as t; a = t(); import credenda; print(t() - a)"
_OPEN: Final = """
import json, resource, sys
from time import perf_counter, process_time
cpu, wall = process_time(), perf_counter()
from credenda import Credenda
path, user, embedder = sys.argv[1:]
if embedder == "given":
    from credenda.bench.fixed_embedder import GivenVectors
    embedder = GivenVectors()
memory = Credenda.open(path, user=user, embedder=embedder)
memory.search("What was it about the kayak?", limit=10)
cpu, wall = process_time() - cpu, perf_counter() - wall
process_cpu = process_time()
from credenda.bench.sentences import make_questions, make_sentences
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
