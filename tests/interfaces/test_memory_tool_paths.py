"""No name of a page leads anywhere else, and no two processes lose a line."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from credenda.interfaces.anthropic_memory import Pages, Refused
from credenda.interfaces.anthropic_memory.paths import fold, split_path

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


@pytest.mark.parametrize("path", ESCAPES, ids=range(len(ESCAPES)))
def test_no_name_leads_anywhere_else(tmp_path: Path, path: str) -> None:
    (tmp_path / "x").write_text("outside", "utf-8")
    pages = Pages(tmp_path / "pages", kept=False)
    pages.create("/memories/ok.md", "fine")
    before = sorted(str(one) for one in tmp_path.rglob("*"))
    for command in (
        {"command": "view", "path": path},
        {"command": "create", "path": path, "file_text": "x"},
        {"command": "str_replace", "path": path, "old_str": "outside", "new_str": "y"},
        {"command": "insert", "path": path, "insert_line": 0, "insert_text": "y"},
        {"command": "delete", "path": path},
        {"command": "rename", "old_path": path, "new_path": "/memories/new"},
        {"command": "rename", "old_path": "/memories/ok.md", "new_path": path},
    ):
        assert ours(pages, command)[0] == "refused"
    assert sorted(str(one) for one in tmp_path.rglob("*")) == before
    assert (tmp_path / "x").read_text("utf-8") == "outside"


@given(st.text(max_size=40))
def test_a_path_that_is_taken_stays_below_the_root(tail: str) -> None:
    try:
        names = split_path(f"/memories/{tail}")
    except Refused:
        return
    assert all(name not in {"", ".", ".."} and "/" not in name and "\0" not in name for name in names)
    assert os.path.normpath("/".join(["/r", *names])) == "/".join(["/r", *names])


def test_links_are_neither_followed_nor_shown(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("secret", "utf-8")
    pages = Pages(tmp_path / "pages", kept=False)
    root = pages.folder.root
    (root / "folder").symlink_to(outside)
    (root / "file.md").symlink_to(outside / "secret.md")
    (root / "dangling").symlink_to(tmp_path / "made")
    (root / "fifo").parent.mkdir(exist_ok=True)
    os.mkfifo(root / "fifo")
    for path in ("folder", "folder/secret.md", "folder/new.md", "file.md", "dangling", "fifo"):
        whole = f"/memories/{path}"
        for command in (
            {"command": "view", "path": whole},
            {"command": "create", "path": whole, "file_text": "x"},
            {"command": "str_replace", "path": whole, "old_str": "secret", "new_str": "y"},
            {"command": "insert", "path": whole, "insert_line": 0, "insert_text": "y"},
            {"command": "delete", "path": whole},
            {"command": "rename", "old_path": whole, "new_path": "/memories/taken"},
        ):
            assert ours(pages, command)[0] == "refused", command
    assert "secret" not in pages.view("/memories")
    assert sorted(one.name for one in outside.iterdir()) == ["secret.md"]
    assert (outside / "secret.md").read_text("utf-8") == "secret"
    assert not (tmp_path / "made").exists()


def test_a_folder_with_a_link_inside_is_deleted_without_following_it(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "keep.md").write_text("x", "utf-8")
    pages = Pages(tmp_path / "pages")
    pages.create("/memories/a/b.md", "x")
    (pages.folder.root / "a" / "link").symlink_to(tmp_path / "outside")
    pages.delete("/memories/a")
    assert (tmp_path / "outside" / "keep.md").exists()


@pytest.mark.parametrize("other", ["Notes.md", "NOTES.MD", "\uff4eotes.md", "note\u017f.md"])
def test_one_page_has_one_name_on_every_system(tmp_path: Path, other: str) -> None:
    pages = Pages(tmp_path / "pages")
    pages.create("/memories/notes.md", "mine")
    pages.create("/memories/x.md", "other")
    assert fold(other) == "notes.md"
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
def test_what_credenda_and_persons_keep_is_read_and_never_written(tmp_path: Path, path: str) -> None:
    pages = Pages(tmp_path / "pages")
    place = pages.folder.root / path
    place.parent.mkdir(exist_ok=True)
    place.write_text("kept\n", "utf-8")
    assert "kept" in pages.view(f"/memories/{path}")
    pages.create("/memories/own.md", "x")
    for command in (
        {"command": "create", "path": f"/memories/{path}", "file_text": "x"},
        {"command": "str_replace", "path": f"/memories/{path}", "old_str": "kept", "new_str": "y"},
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
    assert place.read_text("utf-8") == "kept\n"
    assert not (pages.folder.root / "own.md").exists()


def test_what_a_killed_writer_left_is_swept_away(tmp_path: Path) -> None:
    pages = Pages(tmp_path / "pages")
    left, other = pages.folder.root / f".{'a' * 64}.part", pages.folder.root / ".notes.md.x.part"
    left.touch()
    other.touch()
    pages.create("/memories/a.md", "x")
    assert not left.exists()
    assert other.exists()


WRITER = """
import sys
from credenda.interfaces.anthropic_memory.pages import Pages
pages = Pages(sys.argv[1])
for number in range(60):
    pages.insert("/memories/log.md", 0, f"{sys.argv[2]} {number}")
"""


def test_two_processes_lose_no_line(tmp_path: Path) -> None:
    pages = Pages(tmp_path / "pages")
    pages.create("/memories/log.md", "")
    running = [subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path / "pages"), name]) for name in ("a", "b")]
    assert [one.wait(40) for one in running] == [0, 0]
    lines = (pages.folder.root / "log.md").read_text("utf-8").split("\n")
    assert {f"{name} {number}" for name, number in itertools.product("ab", range(60))} <= set(lines)
    assert [one.name for one in pages.folder.root.iterdir() if one.name.endswith(".part")] == []
