"""The Anthropic memory tool: the words of the reference, string by string."""

from __future__ import annotations

import asyncio
import itertools
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from anthropic.lib.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool, ToolError
from anthropic.lib.tools._beta_builtin_memory_tool import (
    BetaAsyncLocalFilesystemMemoryTool,
    BetaLocalFilesystemMemoryTool,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from credenda import Credenda
from credenda.interfaces.anthropic_memory import Pages, Refused, async_memory_tool, memory_tool, open_pages
from tests.waiting import PATIENCE_SECONDS

from .commands import answer, answer_later, ours

BELIEFS = re.compile(r"\t/memories/(?:MEMORY\.md|index\.md|consolidated/|archive/)")
NAMES = ("a", "b.md", "c.txt", "d")
PATHS = [
    "/memories",
    *(f"/memories/{one}" for one in NAMES),
    "/memories/a/b.md",
    "/memories/a/d/c.txt",
    "/memories/d/d",
    "/memories/",
    "/memories/a/",
    "/memories//b.md",
    "/else",
    "",
    "memories/a",
]
TEXTS = ("", "one", "one\n", "one\ntwo\none\n", "é ü\r\nzwei\n", "\n\n", "x" * 90, "a\tb\u2028c")
PIECES = ("one", "two", "", "\n", "missing", "x", "zwei\n")

paths = st.sampled_from(["/memories/b.md"] * 2 * len(PATHS) + PATHS)
"""Mostly one page, so that a command meets what others did."""
commands = st.one_of(
    st.fixed_dictionaries(
        {"command": st.just("view"), "path": paths},
        optional={"view_range": st.lists(st.integers(-2, 6), min_size=1, max_size=3)},
    ),
    st.fixed_dictionaries({"command": st.just("create"), "path": paths, "file_text": st.sampled_from(TEXTS)}),
    st.fixed_dictionaries(
        {
            "command": st.just("str_replace"),
            "path": paths,
            "old_str": st.sampled_from(PIECES),
            "new_str": st.sampled_from(PIECES),
        }
    ),
    st.fixed_dictionaries(
        {
            "command": st.just("insert"),
            "path": paths,
            "insert_line": st.integers(-1, 5),
            "insert_text": st.sampled_from(TEXTS),
        }
    ),
    st.fixed_dictionaries({"command": st.just("delete"), "path": paths}),
    st.fixed_dictionaries({"command": st.just("rename"), "old_path": paths, "new_path": paths}),
)


def tidy(root: Path) -> None:
    """Take away the empty folders that the reference makes for a page and then does not write."""
    for folder, _, _ in sorted(os.walk(root), reverse=True):
        path = Path(folder)
        if path != root and not any(path.iterdir()):
            path.rmdir()


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Credenda]:
    with Credenda.open(tmp_path / "m.db", user="ana", workers=False, embedder="none") as opened:
        yield opened


@pytest.fixture
def pages(memory: Credenda) -> Pages:
    return open_pages(memory)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(TEXTS), st.lists(commands, min_size=1, max_size=14))
def test_every_string_is_that_of_the_reference(
    memory: Credenda, tmp_path_factory: pytest.TempPathFactory, first: str, played: list[Any]
) -> None:
    reference = BetaLocalFilesystemMemoryTool(str(tmp_path_factory.mktemp("theirs")))
    pages = open_pages(memory)
    pages.clear_all_memory()
    for command in ({"command": "create", "path": "/memories/b.md", "file_text": first}, *played):
        theirs, mine = answer(reference.call, command), ours(pages, command)
        tidy(reference.memory_root)
        assert mine[0] == theirs[0], (command, mine, theirs)
        if theirs[1]:
            assert sized(mine[1]) == sized(theirs[1])


@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(TEXTS), st.lists(commands, min_size=1, max_size=14))
def test_every_string_of_the_asynchronous_tool_is_that_of_the_reference(
    memory: Credenda, tmp_path_factory: pytest.TempPathFactory, first: str, played: list[Any]
) -> None:
    async def play() -> None:
        reference = BetaAsyncLocalFilesystemMemoryTool(str(tmp_path_factory.mktemp("theirs")))
        tool = async_memory_tool(memory)
        await tool.clear_all_memory()
        for command in ({"command": "create", "path": "/memories/b.md", "file_text": first}, *played):
            theirs, mine = await answer_later(reference.call, command), await answer_later(tool.call, command)
            tidy(Path(str(reference.memory_root)))
            assert mine[0] == theirs[0], (command, mine, theirs)
            if theirs[1]:
                assert sized(mine[1]) == sized(theirs[1])

    asyncio.run(play())


def test_every_edge_of_a_page_is_that_of_the_reference(pages: Pages, tmp_path: Path) -> None:
    reference = BetaLocalFilesystemMemoryTool(str(tmp_path / "theirs"))
    path = "/memories/b.md"
    edits: list[dict[str, Any]] = [
        {"command": "str_replace", "path": path, "old_str": old, "new_str": new}
        for old, new in itertools.product((*PIECES, "four", "aa"), ("", "new\nlines"))
    ]
    edits += [
        {"command": "insert", "path": path, "insert_line": line, "insert_text": text}
        for line, text in itertools.product((-1, 2, 9), ("", "x\n\n"))
    ]
    ranges = itertools.product((-2, 0, 1, 3, 8), repeat=2)
    views: list[dict[str, Any]] = [{"view_range": list(pair)} for pair in ranges]
    views += [{}, {"view_range": []}, {"view_range": [1]}, {"view_range": [1, 2, 3]}]
    for text in ("", "one\ntwo\none\n", "one\ntwo\nthree\nfour\nfive\nten\nseven", "aaa\naaa"):
        made = {"command": "create", "path": path, "file_text": text}
        played = [made, *({"command": "view", "path": path} | view for view in views)]
        for edit in edits:
            played += [edit, {"command": "view", "path": path}, {"command": "delete", "path": path}, made]
        for command in (*played, {"command": "delete", "path": path}):
            assert ours(pages, command) == answer(reference.call, command), command


def sized(text: str) -> list[str]:
    """Leave out the sizes of folders, which the file system decides, and the pages of beliefs."""
    lines = [line for line in text.split("\n") if not BELIEFS.search(line)]
    return [line.partition("\t")[2] if is_folder(line) else line for line in lines]


def is_folder(line: str) -> bool:
    size, tab, name = line.partition("\t")
    return (
        bool(tab)
        and size[-1:] in "BKMG"
        and (name.endswith("/") or name in PATHS)
        and not name.endswith((".md", ".txt"))
    )


SAID = [
    (
        "create",
        {"path": "/memories/n.md", "file_text": "one\ntwo\nthree\none\n"},
        "File created successfully at: /memories/n.md",
    ),
    ("create", {"path": "/memories/n.md", "file_text": ""}, "File /memories/n.md already exists"),
    (
        "view",
        {"path": "/memories/n.md", "view_range": [2, 3]},
        "Here's the content of /memories/n.md with line numbers:\n     2\ttwo\n     3\tthree",
    ),
    (
        "view",
        {"path": "/memories/x"},
        "The path /memories/x does not exist. Please provide a valid path.",
    ),
    (
        "str_replace",
        {"path": "/memories/n.md", "old_str": "one", "new_str": "1"},
        (
            "No replacement was performed. Multiple occurrences of old_str `one` in lines: 1, 4. "
            "Please ensure it is unique"
        ),
    ),
    (
        "str_replace",
        {"path": "/memories/n.md", "old_str": "four", "new_str": "4"},
        "No replacement was performed, old_str `four` did not appear verbatim in /memories/n.md.",
    ),
    (
        "str_replace",
        {"path": "/memories/n.md", "old_str": "two", "new_str": "2"},
        (
            "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n"
            "     1\tone\n     2\t2\n     3\tthree\n     4\tone"
        ),
    ),
    (
        "insert",
        {"path": "/memories/n.md", "insert_line": 99, "insert_text": "x"},
        "Invalid `insert_line` parameter: 99. It should be within the range [0, 4].",
    ),
    (
        "insert",
        {"path": "/memories/n.md", "insert_line": 0, "insert_text": "x"},
        "The file /memories/n.md has been edited.",
    ),
    (
        "rename",
        {"old_path": "/memories/n.md", "new_path": "/memories/a/m.md"},
        "Successfully renamed /memories/n.md to /memories/a/m.md",
    ),
    (
        "rename",
        {"old_path": "/memories/a", "new_path": "/memories/a"},
        "The destination /memories/a already exists",
    ),
    ("delete", {"path": "/memories"}, "Cannot delete the /memories directory itself"),
    ("delete", {"path": "/memories/a"}, "Successfully deleted /memories/a"),
    ("delete", {"path": "/memories/a"}, "The path /memories/a does not exist"),
    ("view", {"path": "/etc/passwd"}, "Path must start with /memories, got: /etc/passwd"),
    ("view", {"path": "/memories/../x"}, "Path /memories/../x would escape /memories directory"),
]


def test_the_strings_of_the_protocol(pages: Pages) -> None:
    for name, fields, told in SAID:
        assert ours(pages, {"command": name, **fields})[1] == told


def test_a_version_is_the_hash_of_the_text(pages: Pages) -> None:
    pages.create("/memories/a.md", "one\n")
    first = pages.version("/memories/a.md")
    pages.insert("/memories/a.md", 1, "two", version=first)
    assert pages.version("/memories/a.md") != first
    with pytest.raises(Refused, match="has changed since"):
        pages.str_replace("/memories/a.md", "one", "1", version=first)
    pages.str_replace("/memories/a.md", "\ntwo\n", "\n")
    assert pages.version("/memories/a.md") == first


def test_sizes_are_bounded(pages: Pages) -> None:
    with pytest.raises(Refused, match="is too long"):
        pages.create("/memories/a.md", "1" * ((1 << 20) + 1))
    with pytest.raises(Refused, match="surrogate"):
        pages.create("/memories/a.md", "\ud800")
    pages.create("/memories/a.md", "1" * ((1 << 20) - 100))
    with pytest.raises(Refused, match="is too long"):
        pages.insert("/memories/a.md", 0, "2" * 200)
    told = ours(pages, {"command": "str_replace", "path": "/memories/a.md", "old_str": "1", "new_str": "2"})[1]
    assert len(told) < 1_000


def test_the_library_is_loaded_only_when_a_tool_is_made() -> None:
    code = "import sys, credenda.interfaces.anthropic_memory as tool; sys.exit('anthropic' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=PATIENCE_SECONDS).returncode == 0


def test_the_tool_is_the_librarys(tmp_path: Path) -> None:
    with Credenda.open(tmp_path / "m.db", user="ana", workers=False) as memory:
        tool = memory_tool(memory, cache_control={"type": "ephemeral"})
        assert isinstance(tool, BetaAbstractMemoryTool)
        assert tool.to_dict() == {
            "type": "memory_20250818",
            "name": "memory",
            "cache_control": {"type": "ephemeral"},
        }
        made = tool.call({"command": "create", "path": "/memories/a.md", "file_text": "The user likes tea.\n"})
        assert made == "File created successfully at: /memories/a.md"
        assert "likes tea" in str(tool.call({"command": "view", "path": "/memories/a.md"}))
        for broken in (
            {"command": "view"},
            {"command": "view", "path": 7},
            {"command": "view", "path": "/memories/a.md", "view_range": ["x"]},
            {"command": "insert", "path": "/memories/a.md", "insert_line": "top", "insert_text": "x"},
            {"command": "create", "path": "/memories/b.md"},
        ):
            with pytest.raises(ToolError, match="parameter"):
                tool.call(broken)
        assert tool.clear_all_memory() == "All memory cleared"


def test_the_asynchronous_tool_is_the_librarys(tmp_path: Path) -> None:
    async def play(memory: Credenda) -> None:
        tool = async_memory_tool(memory)
        assert isinstance(tool, BetaAsyncAbstractMemoryTool)
        await asyncio.gather(
            *(
                tool.call({"command": "create", "path": f"/memories/{n}.md", "file_text": f"The user owns boat {n}."})
                for n in range(6)
            )
        )
        assert len(re.findall(r"/memories/\d\.md", str(await tool.call({"command": "view", "path": "/memories"})))) == 6
        with pytest.raises(ToolError, match="does not exist"):
            await tool.call({"command": "delete", "path": "/memories/7.md"})

    with Credenda.open(tmp_path / "m.db", user="ana", workers=False) as memory:
        asyncio.run(asyncio.wait_for(play(memory), PATIENCE_SECONDS))
        assert memory.stats().total == 6
