"""The memory tool on the directory of a memory: no folder on disk, and the beliefs to read beside the pages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from anthropic.lib.tools import BetaAbstractMemoryTool, ToolError
from anthropic.lib.tools._beta_builtin_memory_tool import BetaLocalFilesystemMemoryTool

from credenda import Credenda
from credenda.interfaces.anthropic_memory import Pages, Refused, memory_tool, open_pages


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Credenda]:
    with Credenda.open(tmp_path / "memory.db", user="ana", workers=False) as opened:
        yield opened


@pytest.fixture
def pages(memory: Credenda) -> Pages:
    return open_pages(memory)


def answer(tool: BetaAbstractMemoryTool, command: dict[str, object]) -> str:
    try:
        return str(tool.call(command))
    except ToolError as error:
        return f"error: {error}"


SCRIPT: list[dict[str, object]] = [
    {"command": "create", "path": "/memories/a/b.md", "file_text": "one thing\ntwo things\none thing\n"},
    {"command": "create", "path": "/memories/a/b.md", "file_text": "x"},
    {"command": "view", "path": "/memories/a/b.md"},
    {"command": "view", "path": "/memories/a/b.md", "view_range": [2, -1]},
    {"command": "view", "path": "/memories/absent"},
    {"command": "str_replace", "path": "/memories/a/b.md", "old_str": "two", "new_str": "three"},
    {"command": "str_replace", "path": "/memories/a/b.md", "old_str": "one", "new_str": "four"},
    {"command": "str_replace", "path": "/memories/a/b.md", "old_str": "absent", "new_str": "four"},
    {"command": "insert", "path": "/memories/a/b.md", "insert_line": 0, "insert_text": "# Head"},
    {"command": "insert", "path": "/memories/a/b.md", "insert_line": 99, "insert_text": "x"},
    {"command": "view", "path": "/memories/a/b.md"},
    {"command": "create", "path": "/memories/c.md", "file_text": ""},
    {"command": "rename", "old_path": "/memories/a/b.md", "new_path": "/memories/c.md"},
    {"command": "rename", "old_path": "/memories/a", "new_path": "/memories/d/e"},
    {"command": "view", "path": "/memories/d/e/b.md"},
    {"command": "delete", "path": "/memories/d"},
    {"command": "delete", "path": "/memories/d"},
    {"command": "delete", "path": "/memories"},
    {"command": "view", "path": "/else"},
]


def test_the_answers_are_those_of_the_reference(memory: Credenda, tmp_path: Path) -> None:
    ours, reference = memory_tool(memory), BetaLocalFilesystemMemoryTool(base_path=str(tmp_path / "reference"))
    for command in SCRIPT:
        assert answer(ours, command) == answer(reference, command), command


def test_lines_are_memories_and_deleted_ones_leave_their_page(pages: Pages, memory: Credenda, tmp_path: Path) -> None:
    pages.create("/memories/boat.md", "# Boat\n\n- The boat is called Ada.\n- It is blue.\n")
    boat = memory.search("What is the boat called?").hits[0].id
    memory.delete(boat)
    assert "Ada" not in pages.view("/memories/boat.md")
    with pytest.raises(Refused, match="stays deleted"):
        pages.insert("/memories/boat.md", 2, "- The boat is called Ada.")
    assert not [one for one in tmp_path.iterdir() if one.is_dir()]


def test_beliefs_are_read_and_not_written(pages: Pages, memory: Credenda) -> None:
    memory.remember("I live in Linz.")
    memory.settle()
    shown = pages.view("/memories")
    assert "/memories/consolidated/user.md" in shown
    assert "I live in Linz." in pages.view("/memories/MEMORY.md")
    for path in ("/memories/consolidated/user.md", "/memories/@today/index.md"):
        with pytest.raises(Refused):
            pages.insert(path, 0, "- I live in Graz.")
        with pytest.raises(Refused):
            pages.create(path.replace(".md", "2.md"), "- I live in Graz.")
    assert [one.text for one in memory.list().items] == ["I live in Linz."]


def test_a_page_that_changed_meanwhile_is_not_overwritten(pages: Pages, memory: Credenda) -> None:
    pages.create("/memories/boat.md", "It is blue.\n")
    version = pages.version("/memories/boat.md")
    memory.directory.write("boat.md", "It is red.\n")
    with pytest.raises(Refused, match="changed since"):
        pages.str_replace("/memories/boat.md", "red", "green", version=version)
    assert "It is red." in pages.view("/memories/boat.md")


def test_everything_that_a_model_wrote_is_cleared(pages: Pages, memory: Credenda) -> None:
    memory.remember("I live in Linz.")
    memory.settle()
    pages.create("/memories/boat.md", "It is blue.\n")
    pages.create("/memories/trips/a.md", "It is far.\n")
    pages.clear_all_memory()
    assert [one.text for one in memory.list().items] == ["I live in Linz."]
