"""Folders of pages at the terminal."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.waiting import PATIENCE_SECONDS, await_that

from .terminal import NO_SETTINGS, Terminal


@pytest.fixture
def ana(tmp_path: Path) -> Terminal:
    made = Terminal(tmp_path)
    made.remember("I live in Linz.", "I like tea.")
    return made


def add(vault: Path, line: str) -> None:
    page = vault / "consolidated/user.md"
    page.write_text(page.read_text("utf-8").replace("## Now\n", f"## Now\n\n- {line}\n", 1), "utf-8")


def test_a_folder_is_made_edited_and_told_about(ana: Terminal, vault: Path) -> None:
    assert "written" in ana.text("files", "sync", str(vault))
    assert "nothing had changed" in ana.text("files", "sync", str(vault))
    add(vault, "I play chess.")
    assert "1 remembered" in ana.text("files", "sync", str(vault))
    assert ana.json("files", "sync", str(vault))["remembered"] == 0
    assert "I play chess." in {one["text"] for one in ana.json("list")["items"]}


def test_entries_that_wait_and_pages_left_alone_exit_with_four(ana: Terminal, vault: Path) -> None:
    ana.text("files", "sync", str(vault))
    page = vault / "consolidated/user.md"
    whole = page.read_bytes()
    page.unlink()
    assert "--missing delete" in ana.text("files", "sync", str(vault), code=4)
    assert "written" in ana.text("files", "sync", str(vault), "--missing", "restore")
    page.write_bytes(b"\xff" + whole)
    assert "skipped: consolidated/user.md" in ana.text("files", "sync", str(vault), code=4)


@pytest.mark.parametrize("kind", ["file", "link"])
def test_a_dry_run_and_a_run_refuse_a_taken_name_alike(ana: Terminal, vault: Path, kind: str) -> None:
    vault.mkdir()
    if kind == "file":
        (vault / ".credenda").write_text("mine\n")
    else:
        (vault / ".credenda").symlink_to(vault)
    run = ana.error("files", "sync", str(vault), code=5)
    assert ana.error("files", "sync", str(vault), "--dry-run", code=5) == run
    assert f".credenda is {'not a folder' if kind == 'file' else 'a link'}" in run
    assert [path.name for path in vault.iterdir()] == [".credenda"]


def test_a_new_database_is_filled_from_the_folder(ana: Terminal, vault: Path, tmp_path: Path) -> None:
    ana.text("files", "sync", str(vault))
    new = Terminal(tmp_path / "new")
    new.db.parent.mkdir()
    assert "applied" in new.text("rebuild", "--from-files", str(vault))
    wanted = [(one["text"], one["value"]) for one in ana.json("list")["items"]]
    assert [(one["text"], one["value"]) for one in new.json("list")["items"]] == wanted
    assert "not empty" in new.error("rebuild", "--from-files", str(vault), code=4)
    assert "no folder" in Terminal(tmp_path).error("rebuild", "--from-files", str(tmp_path / "x"), user="c", code=3)
    assert "not both" in new.error("rebuild", "--from-files", str(vault), "--reextract", "--yes", code=2)


def test_what_is_no_folder_is_refused_in_a_line(ana: Terminal) -> None:
    assert "is not a folder" in ana.error("files", "sync", str(ana.db), code=2)


def test_a_dry_run_names_the_files_of_the_run(ana: Terminal, vault: Path) -> None:
    vault.mkdir()
    theirs = vault / "MEMORY.md"
    theirs.write_bytes(b"# Mine\r\n\r\n- I like figs.  \r\n")
    whole = theirs.read_bytes()
    dry = ana.text("files", "sync", str(vault), "--dry-run").splitlines()
    assert [path.name for path in vault.iterdir()] == ["MEMORY.md"]
    run = ana.text("files", "sync", str(vault)).splitlines()
    assert dry[1:] == run[1:]
    assert {"  written: MEMORY-credenda.md", "  written: consolidated/user.md"} <= set(run)
    assert theirs.read_bytes() == whole


def test_two_processes_at_once_read_a_line_once(ana: Terminal, vault: Path) -> None:
    vault.mkdir()
    pages = {vault / f"{number}.md": f"# Page\n\nI like fig {number}.".encode() for number in range(5)}
    for path, data in pages.items():
        path.write_bytes(data)
    environment = {**os.environ, **{name: value for name, value in NO_SETTINGS.items() if value is not None}}
    command = [sys.executable, "-m", "credenda", "--db", str(ana.db), "--user", "ana", "files", "sync", str(vault)]
    both = [subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment) for _ in "ab"]
    errors = [one.communicate(timeout=PATIENCE_SECONDS)[1].decode() for one in both]
    assert 0 in [one.returncode for one in both]
    assert all(one.returncode == 0 or "by another process" in why for one, why in zip(both, errors, strict=True))
    ana.text("files", "sync", str(vault))
    assert {path: path.read_bytes() for path in pages} == pages
    assert ana.json("stats")["events"] == 2 + len(pages)


@pytest.mark.skipif(sys.platform == "win32", reason="stops by signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_watching_takes_edits_over_and_stops_cleanly(ana: Terminal, vault: Path, number: signal.Signals) -> None:
    environment = {**os.environ, **{name: value for name, value in NO_SETTINGS.items() if value is not None}}
    command = [sys.executable, "-m", "credenda", "--db", str(ana.db), "--user", "ana", "files", "sync", str(vault)]
    watching = subprocess.Popen(
        [*command, "--watch"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment
    )
    try:
        assert watching.stderr is not None
        assert "watching" in watching.stderr.readline()
        add(vault, "I play chess.")
        await_that(
            lambda: "chess" in "".join(one.read_text("utf-8") for one in (vault / "archive").glob("*.md")),
            "the statement in the archive",
        )
        watching.send_signal(number)
        assert watching.wait(PATIENCE_SECONDS) == 0
    finally:
        watching.kill()
        watching.communicate()
    assert "I play chess." in {one["text"] for one in ana.json("list")["items"]}
