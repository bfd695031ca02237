"""Examples that people read are run: those in docstrings, and those of the README."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
import sys
from pathlib import Path

import pytest

import credenda
from credenda.errors import Unavailable

ROOT = Path(__file__).resolve().parents[1]
ADAPTERS = {
    f"credenda.adapters.{name}"
    for name in (
        "agent_framework",
        "agno",
        "autogen",
        "claude_agent_sdk",
        "crewai",
        "google_adk",
        "haystack",
        "langchain",
        "langchain_agents",
        "langgraph",
        "llama_index",
        "openai_agents",
        "pydantic_ai",
        "strands",
    )
}
"""Modules that need their framework: scripts/adapters tests them."""
MODULES = sorted(
    found.name
    for found in pkgutil.walk_packages(credenda.__path__, "credenda.")
    if found.name != "credenda.__main__" and found.name not in ADAPTERS
)

PAGES = [
    ("anthropic-memory-tool", "pages.db"),
    ("core", "core.db"),
    ("directory", "directory.db"),
    ("embedders", "mine.db"),
    ("time", "time.db"),
    ("tokens", "mine.db"),
]


def examples(name: str) -> list[doctest.DocTest]:
    module = importlib.import_module(name)
    return [found for found in doctest.DocTestFinder(exclude_empty=True).find(module) if found.examples]


@pytest.mark.parametrize("name", ["credenda", *MODULES])
def test_the_examples_of_a_module_hold(name: str, tmp_path: Path) -> None:
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    for example in examples(name):
        example.globs["getfixture"] = {"tmp_path": tmp_path}.__getitem__
        result = runner.run(example)
        assert not result.failed, example.name


@pytest.mark.parametrize("name", sorted(ADAPTERS))
def test_an_adapter_without_its_framework_names_the_extra(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pydantic", None)  # which the base install lacks, and this environment has
    extra = name.rpartition(".")[2].replace("_", "-")
    with pytest.raises(Unavailable, match=re.escape(f'in a clone of Credenda, pip install ".[{extra}]"')):
        importlib.import_module(name)


def test_the_folder_that_a_clone_shows_first_has_no_strays() -> None:
    kept = [one for one in ROOT.iterdir() if one.is_file() and one.suffix != ".db"]
    assert [one.name for one in kept if one.name.startswith("-") or one.read_bytes()[:6] == b"SQLite"] == []


def test_there_are_examples_to_run() -> None:
    assert sum(len(examples(name)) for name in ("credenda", "credenda.client", "credenda.text.normalize")) >= 5


def test_the_readme_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    blocks = re.findall(r"```python\n(.*?)```", readme, re.DOTALL)
    assert blocks
    monkeypatch.chdir(tmp_path)
    for block in blocks:
        exec(compile(block, "README.md", "exec"), {})  # noqa: S102 - the README's own code
    said = capsys.readouterr().out
    assert "Microsoft" in said
    assert "['Google', 'Microsoft']" in said


@pytest.mark.parametrize(("name", "made"), PAGES)
def test_the_pages_with_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, made: str) -> None:
    page = (ROOT / "docs" / "how-to" / f"{name}.md").read_text("utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert blocks
    monkeypatch.chdir(tmp_path)
    for block in blocks:
        exec(compile(block, f"{name}.md", "exec"), {})  # noqa: S102 - the page's own code
    assert (tmp_path / made).is_file()


def test_the_page_about_models_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (ROOT / "docs" / "how-to" / "models.md").read_text("utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert blocks
    monkeypatch.chdir(tmp_path)
    for block in blocks:
        exec(compile(block, "models.md", "exec"), {})  # noqa: S102 - the page's own code
    assert capsys.readouterr().out == "[('hives', 'forty')]\n1\n"
