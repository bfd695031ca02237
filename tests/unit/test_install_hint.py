"""The package is on no index: no error may name a command that would install whoever has that name there."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Final

import pytest

from credenda.adapters.messages import require_framework
from credenda.errors import Unavailable

ROOT: Final = Path(__file__).resolve().parents[2]
INDEX: Final = re.compile(r"install[\w.\s-]* [\"']?credenda(?![\w./-])")


@pytest.mark.parametrize("command", ['pip install "credenda[mcp]"', "pip install credenda", 'reinstall "credenda[x]"'])
def test_a_command_that_asks_an_index_is_seen(command: str) -> None:
    assert INDEX.search(command)


@pytest.mark.parametrize("folder", ["src", "scripts", "packages"])
def test_no_source_names_the_package_as_one_of_an_index(folder: str) -> None:
    found = [
        f"{path.relative_to(ROOT)}: {hit[0]}"
        for path in sorted((ROOT / folder).rglob("*"))
        if path.suffix in {".py", ".md", ".toml", ".html", ".json"}
        for hit in INDEX.finditer(path.read_text("utf-8"))
    ]
    assert not found


def test_every_hint_names_an_extra_that_exists_and_is_not_empty() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    asked = {
        name
        for path in (ROOT / "src").rglob("*.py")
        for name in re.findall(r"format_install\([\"'](\w+)", path.read_text("utf-8"))
    }
    assert len(asked) > 5
    assert [name for name in asked if not extras[name]] == []


@pytest.mark.parametrize("extra", ["local", "parse"])
def test_what_an_older_command_asks_for_installs_nothing_more(extra: str) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["optional-dependencies"][extra] == []
    assert extra not in project["optional-dependencies"]["all"][0]


def test_an_adapter_without_its_framework_names_the_extra() -> None:
    with pytest.raises(Unavailable, match=r"this adapter needs LangGraph: gone; .*langgraph"):
        import_without("LangGraph")


def import_without(name: str) -> None:
    with require_framework(name, name.lower()):
        raise ImportError("gone")
