"""The benchmarks, which run from a clone of the project and are not in the distribution."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterator
from importlib.metadata import distribution
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

import click

from credenda.errors import NotFound


def load_benchmarks() -> click.Group:
    """Load the benchmarks from the clone that the package lies in or was installed from; raise `NotFound` elsewhere."""
    for clone in _list_clones():
        if (clone / "benchmarks" / "cli.py").is_file():
            sys.path[:0] = [] if str(clone) in sys.path else [str(clone)]
            return importlib.import_module("benchmarks.cli").bench
    raise NotFound(
        "the benchmarks are not part of the installed package",
        why="they run from a clone of the project",
        fix="run `pip install .` in a clone, and keep the clone",
    )


def _list_clones() -> Iterator[Path]:
    yield Path(__file__).parents[4]
    about: dict[str, str] = json.loads(distribution("credenda").read_text("direct_url.json") or "{}")
    place = urlsplit(about.get("url", ""))
    if place.scheme == "file":
        yield Path(url2pathname(place.path))
