"""What is replayed: stories, searches, simulated years and a lifetime, chunk by chunk, with claims given by hand."""

import json
import tempfile
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

from . import scripts, told
from .canonical import Line, line, numbered
from .product import LazyExtractor
from .years import lifetime_lines, year_lines

PAIRS = Path(__file__).resolve().parents[1] / "data" / "beliefs" / "pairs_plain.jsonl"


def chunk_names() -> list[str]:
    """Name every chunk, in the order in which it is replayed: part, name, and a number."""
    return [
        "stories/hand/00001",
        "searches/pairs_plain/00001",
        "years/140-1/00001",
        "years/140-2-weekly/00001",
        "lifetimes/600-3-120/00001",
    ]


def sampled(name: str) -> bool:
    """Tell whether the test suite replays a chunk; the command replays all of them."""
    return not name.startswith("lifetimes") and "weekly" not in name


def replay(name: str) -> list[Line]:
    """Replay one chunk and return its lines."""
    with mock.patch.object(LazyExtractor, "extract", told.read):
        return _replay(*name.split("/")[:2])


def _replay(part: str, name: str) -> list[Line]:
    if part == "years":
        return year_lines(name)
    if part == "lifetimes":
        return lifetime_lines(name)
    with tempfile.TemporaryDirectory(prefix="credenda-golden-") as folder:
        path = Path(folder) / "memory.db"
        if part == "stories":
            return [line(f"story:{story.__name__}", found) for story, found in scripts.told(path)]
        return numbered("search", scripts.searched(path, _pairs()))


@cache
def _pairs() -> list[dict[str, Any]]:
    return [json.loads(row) for row in PAIRS.read_text("utf-8").splitlines() if row.strip()]
