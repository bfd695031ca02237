"""What the terminal says of memories that are made again: derived afresh, or restored from a backup."""

from __future__ import annotations

from pathlib import Path

import pytest

from credenda.interfaces.cli import actions

from .terminal import Terminal


def test_who_breaks_off_deriving_afresh_learns_that_nothing_was_changed(
    ana: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    ana.remember("I live in Linz.")
    monkeypatch.setattr(actions, "_LONG_MESSAGES", 1)
    told = ana.run("rebuild", "--reextract", "--dry-run").stderr
    assert "extracting 1 message by rules" in told
    assert "nothing changes before the end" in told

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(actions, "invoke", interrupted)
    told = ana.run("rebuild", "--reextract", "--yes", code=130).stderr
    assert "interrupted: nothing was changed, and the next run starts over\n" in told
    told = ana.run("rebuild", "--reextract", "--model", "--yes", code=130).stderr
    assert "the model's answers are kept" in told


@pytest.mark.sqlite_file  # a backup is a copy of the file
def test_a_backup_restored_elsewhere_says_that_deletions_are_not_replayed(ana: Terminal, tmp_path: Path) -> None:
    ana.remember("I'm allergic to peanuts.")
    saved = tmp_path / "saved.db"
    ana.run("backup", str(saved))
    ana.run("delete", ana.held()[0]["id"], "--yes")
    bare = Terminal(tmp_path / "bare")
    bare.db.parent.mkdir()
    assert "Later deletions are not in this backup" in bare.text("restore", str(saved), "--yes")
    assert bare.values() == ["peanuts"]
    carried = Terminal(tmp_path / "carried")
    carried.db.parent.mkdir()
    told = carried.text("restore", str(saved), "--yes", "--deletions", str(ana.db))
    assert "Repeated 1 deletion of memories and messages" in told
    assert "Later deletions are not in this backup" not in told
    assert carried.values() == []
    carried.remember("I have a peanut allergy.")
    assert carried.values() == []
    assert "holds other memories" in carried.error(
        "restore", str(saved), "--yes", "--replace", "--deletions", str(_other(tmp_path)), code=2
    )


def _other(folder: Path) -> Path:
    (folder / "other").mkdir()
    other = Terminal(folder / "other")
    other.remember("I live in Wels.")
    return other.db
