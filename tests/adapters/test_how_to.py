"""The examples of docs/how-to/adapters.md run, one after the other, in one program as a reader would type them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import cast

import pytest

from credenda import Credenda

PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "adapters.md"


def test_the_examples_of_the_page_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = PAGE.read_text("utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(blocks) == 1 + len(re.findall(r"^## (?!Support|Recall)", text, re.MULTILINE))
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block in blocks:
        if "credenda.adapters.crewai" in block:
            continue  # it is not installed beside the others; test_crewai.py runs it
        exec(compile(block, PAGE.name, "exec"), names)  # noqa: S102 - the page's own code
    cast("Credenda", names["memory"]).close()
    assert (tmp_path / "agents.db").is_file()


def test_the_page_names_the_versions_that_are_installed() -> None:
    root = PAGE.parents[2]
    pins = [(root / f"constraints-{name}.txt").read_text("utf-8") for name in ("crewai", "adapters")]
    pinned = dict(line.split("==") for line in "\n".join(pins).splitlines() if "==" in line)
    named = re.findall(r"(?:\| |suite )([a-z-]+) (\d+\.\d+)(?= \||, its)", PAGE.read_text("utf-8"))
    assert len(named) == 15
    assert {name: pinned[name].rpartition(".")[0] for name, _ in named} == dict(named)
