"""The page for data protection names tests that exist, and a test for every line."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "reference" / "forgetting.md"


def _functions(path: Path) -> set[str]:
    return {node.name for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.FunctionDef)}


def test_every_line_of_the_tables_names_a_test_that_exists() -> None:
    text = PAGE.read_text("utf-8")
    named = re.findall(r"`([\w/]+\.py)::(\w+)`", text)
    assert len(named) > 30
    missing = [f"{file}::{name}" for file, name in named if name not in _functions(ROOT / "tests" / file)]
    assert missing == []
    tables = text.split("| guarantee | test |")[1:]
    lines = [line for table in tables for line in table.partition("\n\n")[0].splitlines()[2:]]
    assert len(lines) == len(named)
    assert all("::test_" in line for line in lines)
