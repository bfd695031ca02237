"""Replay the shipped sentences, pairs and years against committed hashes; CONTRIBUTING.md describes it."""

import importlib
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

if __name__ == "__main__":
    sys.path[:0] = [str(ROOT / "src"), str(ROOT)]
    sys.exit(importlib.import_module("tests.golden.command").main())
