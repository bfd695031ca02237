"""No name of a page leads anywhere else, and no two processes lose a line."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from credenda import Credenda
from credenda.interfaces.anthropic_memory import Pages, Refused, open_pages, split_path
from credenda.services.directory import fold_page_name
from tests.waiting import PATIENCE_SECONDS

from .commands import ours

ESCAPES = [
    "/memories/..",
    "/memories/../memories/x",
    "/memories/a/../../x",
    "/memories/a/..",
    "/memoriesx",
    "/memories../x",
    "//memories/x",
    "/etc/passwd",
    "../x",
    "/memories/%2e%2e/x",
    "/memories/%2E%2E%2Fx",
    "/memories/..%2fx",
    "/memories/a%00b",
    "/memories/%252e%252e/x",
    "/memories/a\x00b",
    "/memories/a\nb",
    "/memories/..\\x",
    "/memories/a\\b",
    "/memories/\uff0e\uff0e/x",
    "/memories/\u2024\u2024/x",
    "/memories/\u2025/x",
    "/memories/a\uff0fb",
    "/memories/a\u2215b",
    "/memories/a\u2044b",
    "/memories/.credenda/pages.json",
    "/memories/.git/config",
    "/memories/\uff0ecredenda/x",
    "/memories/a\u202egpj.md",
    "/memories/a\u200bb",
    "/memories/a\ud800b",
    "/memories/a.",
    "/memories/a ",
    "/memories/ a",
    "/memories/C:x",
    "/memories/" + "n" * 201,
    "/memories/" + "é" * 101,
    "/memories/" + "/".join("abcdefghi"),
    "/memories/" + "a/" * 600,
]


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Credenda]:
    with Credenda.open(tmp_path / "m.db", user="ana", workers=False, embedder="none") as opened:
        yield opened


@pytest.fixture
def pages(memory: Credenda) -> Pages:
    return open_pages(memory)


def test_no_name_leads_anywhere_else(memory: Credenda, pages: Pages) -> None:
    pages.create("/memories/ok.md", "fine")
    before = memory.directory.ls(depth=8)
    for path in ESCAPES:
        for command in list_commands(path):
            assert ours(pages, command)[0] == "refused", command
    assert memory.directory.ls(depth=8) == before


def list_commands(path: str) -> tuple[dict[str, object], ...]:
    return (
        {"command": "view", "path": path},
        {"command": "create", "path": path, "file_text": "x"},
        {"command": "str_replace", "path": path, "old_str": "outside", "new_str": "y"},
        {"command": "insert", "path": path, "insert_line": 0, "insert_text": "y"},
        {"command": "delete", "path": path},
        {"command": "rename", "old_path": path, "new_path": "/memories/new"},
        {"command": "rename", "old_path": "/memories/ok.md", "new_path": path},
    )


@given(st.text(max_size=40))
def test_a_path_that_is_taken_stays_below_the_root(tail: str) -> None:
    try:
        names = split_path(f"/memories/{tail}")
    except Refused:
        return
    assert all(name not in {"", ".", ".."} and "/" not in name and "\0" not in name for name in names)
    assert os.path.normpath("/".join(["/r", *names])) == "/".join(["/r", *names])


@pytest.mark.parametrize("other", ["Notes.md", "NOTES.MD", "\uff4eotes.md", "note\u017f.md"])
def test_one_page_has_one_name_on_every_system(pages: Pages, other: str) -> None:
    pages.create("/memories/notes.md", "mine")
    pages.create("/memories/x.md", "other")
    assert fold_page_name(other) == "notes.md"
    with pytest.raises(Refused, match="already exists"):
        pages.create(f"/memories/{other}", "taken over")
    with pytest.raises(Refused, match="already exists"):
        pages.rename("/memories/x.md", f"/memories/{other}")
    assert "mine" in pages.view("/memories/notes.md")


@pytest.mark.parametrize(
    "path",
    ["MEMORY.md", "memory.MD", "index.md", "archive/2026-01-01.md", "consolidated/user.md", "persona.md", "User.md"],
)
@pytest.mark.requirement("S-017")
def test_pages_of_beliefs_and_of_persons_are_never_written(memory: Credenda, pages: Pages, path: str) -> None:
    memory.remember("I live in Linz.")
    memory.settle()
    shown = [one.path for one in memory.directory.ls(depth=3)]
    pages.create("/memories/own.md", "x")
    for command in (
        {"command": "create", "path": f"/memories/{path}", "file_text": "x"},
        {"command": "str_replace", "path": f"/memories/{path}", "old_str": "Linz", "new_str": "y"},
        {"command": "insert", "path": f"/memories/{path}", "insert_line": 0, "insert_text": "y"},
        {"command": "delete", "path": f"/memories/{path}"},
        {"command": "delete", "path": f"/memories/{path.partition('/')[0]}"},
        {"command": "rename", "old_path": f"/memories/{path}", "new_path": "/memories/z"},
        {"command": "rename", "old_path": "/memories/own.md", "new_path": f"/memories/{path}"},
    ):
        state, told = ours(pages, command)
        assert state == "refused"
        assert "is kept by Credenda" in told
    pages.clear_all_memory()
    assert [one.path for one in memory.directory.ls(depth=3)] == shown


WRITER = """
import sys
from credenda import Credenda
from credenda.interfaces.anthropic_memory import Refused, open_pages
with Credenda.open(sys.argv[1], user="ana", workers=False, embedder="none") as memory:
    pages = open_pages(memory)
    for number in range(12):
        while True:
            try:
                pages.insert("/memories/log.md", 0, f"{sys.argv[2]} {number}")
                break
            except Refused as refused:
                assert "has changed" in str(refused), refused
"""


def test_two_processes_lose_no_line(tmp_path: Path) -> None:
    db = tmp_path / "m.db"
    with Credenda.open(db, user="ana", workers=False, embedder="none") as memory:
        open_pages(memory).create("/memories/log.md", "")
        running = [subprocess.Popen([sys.executable, "-c", WRITER, str(db), name]) for name in ("aa", "bb")]
        assert [one.wait(PATIENCE_SECONDS) for one in running] == [0, 0]
        lines = memory.directory.read("log.md").text.split("\n")
    assert {f"{name} {number}" for name, number in itertools.product(("aa", "bb"), range(12))} <= set(lines)
