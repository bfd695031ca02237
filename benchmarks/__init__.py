"""Benchmarks and scripts that measure or fit Credenda itself; they run from a clone and are not in the distribution."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
"""The folder of the clone."""


def make_environment() -> dict[str, str]:
    """Return the environment of a process that runs a module of this package."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH", ""))))}
