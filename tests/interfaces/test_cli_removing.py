"""What removes or overwrites asks first, and does nothing unasked where nobody can be asked."""

import json
from pathlib import Path

import pytest

from credenda.interfaces.cli.output import Screen
from credenda.interfaces.cli.render import render
from credenda.model.report import EraseReceipt

from .terminal import Terminal


@pytest.fixture
def ana(tmp_path: Path) -> Terminal:
    terminal = Terminal(tmp_path)
    terminal.remember("I live in Linz.")
    return terminal


def test_deleting_without_a_terminal_needs_yes(ana: Terminal) -> None:
    for args in (("delete", "m1"), ("delete", "--before", "2100-01-01"), ("erase", "--confirm", "ana")):
        assert "add --yes" in ana.error(*args, code=2)
    ana.run("forget", "m1")
    assert "add --yes" in ana.error("restore", "m1", code=2)
    assert ana.text("restore", "m1", "--yes").startswith("Restored.")
    assert ana.values() == ["Linz"]


def test_forgetting_names_the_other_words_that_it_hides(tmp_path: Path) -> None:
    ana = Terminal(tmp_path)
    ana.remember("I live in Linz and I sing in a choir.", "I work at Bosch.")
    first, second = (ana.an_id("--attribute", name) for name in ("residence", "employer"))
    alone = ana.run("forget", second)
    assert "hide the other words" not in alone.stderr
    assert "with `--yes`" in alone.stdout
    others = [one["id"] for one in ana.held() if one["id"] != first]
    hidden = [ana.run("forget", one).stderr for one in [*others, first]][-1]
    assert "hide the other words of e1-" in hidden
    assert "I sing in a choir." in hidden
    assert "hide" not in ana.run("forget", first).stderr


def test_a_dry_run_says_what_would_go_and_deletes_nothing(ana: Terminal) -> None:
    shown = ana.text("delete", "m1", "--dry-run")
    assert shown.startswith("Would delete 1 memory, and words in 1 message. Nothing was deleted.")
    told = ana.json("delete", "m1", "--dry-run")
    assert (told["memories"], told["events"], told["dry_run"]) == (1, 1, True)
    assert ana.values() == ["Linz"]


def test_a_short_id_is_spelled_out_before_it_is_deleted(ana: Terminal) -> None:
    result = ana.run("delete", "m1", "--yes")
    assert "I live in Linz." in result.stderr
    assert result.stdout.startswith("Deleted: m1-")
    assert ana.values() == []


def test_an_export_replaces_no_file_without_force(ana: Terminal, tmp_path: Path) -> None:
    file = tmp_path / "all.jsonl"
    file.write_text("mine")
    assert "--force" in ana.error("export", str(file), code=4)
    assert "--force" in ana.error("erase", "--confirm", "ana", "--export", str(file), "--yes", code=4)
    assert file.read_text() == "mine"
    assert ana.values() == ["Linz"]
    ana.run("export", str(file), "--force")
    assert file.read_text() != "mine"
    ana.run("erase", "--confirm", "ana", "--export", str(file), "--yes", "--force")
    assert ana.values() == []


def test_a_dash_exports_to_standard_output(ana: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    ana.run("export", "whole.jsonl")
    written = ana.text("export", "-")
    assert written == (tmp_path / "whole.jsonl").read_text(encoding="utf-8")
    assert not (tmp_path / "-").exists()


def test_an_event_is_shown_by_its_id(ana: Terminal) -> None:
    shown = ana.text("get", "e1")
    assert "“I live in Linz.”" in shown
    assert "residence: Linz" in shown
    told = ana.json("get", "e1")
    assert (told["text"], told["speaker"], told["memories"][0]["value"]) == ("I live in Linz.", "user", "Linz")
    ana.error("get", "e1", "--as-of", "yesterday", code=2)
    ana.error("get", "e9", code=3)
    json.dumps(told)


def test_a_dry_run_says_what_shares_the_words_and_the_whole_message_is_a_choice(ana: Terminal) -> None:
    ana.remember("I work at Siemens and like tea very much.")
    name = next(one["id"] for one in ana.json("list")["items"] if one["value"] == "Siemens")
    plan = ana.run("delete", name, "--dry-run").stdout
    assert "Blanks in e" in plan
    assert "Siemens" in plan
    ana.error("delete", "--session", "s", "--whole-message", "--yes", code=2)
    receipt = ana.json("delete", name, "--whole-message", "--yes")
    assert receipt["events"] == 1


@pytest.mark.sqlite_file  # a backup is a copy of the file
def test_an_erasure_prints_the_backup_that_does_not_list_it_yet(ana: Terminal, tmp_path: Path) -> None:
    ana.remember("I live in Linz.")
    backup = tmp_path / "backup.db"
    ana.run("backup", str(backup))
    Path(f"{backup}.erasures").mkdir()
    told = ana.run("erase", "--confirm", "ana", "--yes").stdout
    assert "The erasure is not listed beside these yet." in told
    assert f"{backup}: {backup}.erasures cannot be" in told
    assert str(backup) in ana.run("doctor", code=7).stdout
    assert ana.remember("I like tea.")


def test_an_erasure_speaks_of_bytes_only_if_they_were_searched() -> None:
    rows_alone = render(Screen(), "erase", EraseReceipt(rows=3, windows_searched=0, remaining_matches=0))
    assert "Looked for rows that are left: 0 found." in rows_alone
    assert "bytes" not in rows_alone
    whole = EraseReceipt(rows=3, windows_searched=9, remaining_matches=0)
    assert "Searched all bytes for 9 pieces of its text: 0 found." in render(Screen(), "erase", whole)


def test_a_dry_run_by_conditions_names_the_memories(ana: Terminal) -> None:
    (name,) = (one["id"] for one in ana.json("list")["items"])
    ana.remember("The bakery in Linz is closed.")
    shown = ana.text("delete", "--before", "2100-01-01", "--dry-run")
    assert shown.startswith("Would delete")
    assert f"These memories go:\n  {name} “I live in Linz.”" in shown
    assert name in {one["id"] for one in ana.json("list")["items"]}
    told = ana.json("delete", "--before", "2100-01-01", "--dry-run")
    assert told["memories"] == len(told["taken"])
    done = ana.json("delete", "--before", "2100-01-01", "--yes")
    assert {one["id"] for one in done["taken"]} == {one["id"] for one in told["taken"]}
    assert name not in {one["id"] for one in ana.json("list")["items"]}
