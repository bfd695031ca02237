"""The command line answers a wrong or unfinished command with what helps."""

import json
import re
from pathlib import Path

import pytest

from credenda.interfaces.cli import actions

from .terminal import NO_SETTINGS, Terminal


def test_an_import_waits_for_as_long_as_jobs_are_run(
    ana: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns = [{"id": f"t{n}", "speaker": "user", "text": f"I like soup number {n}."} for n in range(100)]
    session = {"id": "s", "time": "2026-01-01T09:00:00Z", "turns": turns}
    file = tmp_path / "talk.jsonl"
    file.write_text(json.dumps({"conv": "c", "speakers": ["user"], "sessions": [session]}))
    monkeypatch.setattr(actions, "_IDLE_STEPS", 1)
    monkeypatch.setattr(actions, "_STEP_SECONDS", 1e-6)
    monkeypatch.setitem(NO_SETTINGS, "CREDENDA_EMBEDDER", "hashed")
    ana.run("import", str(file), "--format", "conversation")
    stats = ana.json("stats")
    assert (stats["pending_extractions"], stats["events"]) == (0, 100)
    assert stats["vectors"] >= 100


def test_a_search_says_how_many_messages_were_not_read_yet(ana: Terminal) -> None:
    ana.run("remember", "I live in Linz.", "--no-wait")
    assert ana.run("search", "Linz").stderr == "1 message not read yet\n"
    ana.run("remember", "I like soup.", "--no-wait")
    assert ana.json("search", "Linz")["waiting"] == 2
    assert ana.json("context", "Linz")["waiting"] == 2
    assert "2 messages not read yet" in ana.run("context", "Linz").stderr
    assert ana.json("stats")["waiting"] == 2
    ana.run("remember", "I work in Graz.")
    result = ana.run("search", "Linz")
    assert "not read yet" not in result.stderr
    assert ana.json("search", "Linz")["waiting"] == 0


@pytest.mark.parametrize("group", [("files",), ("bench",), ("files", "--user", "bob")])
def test_a_group_without_a_command_shows_its_help(group: tuple[str, ...], ana: Terminal) -> None:
    result = ana.run(*group, code=2)
    assert result.stdout == ""
    assert result.stderr.startswith(f"Usage: credenda {group[0]} ")
    assert len(result.stderr.splitlines()) > 5


def test_with_json_a_group_without_a_command_is_one_json_error(ana: Terminal) -> None:
    result = ana.run("--json", "files", code=2)
    (line,) = result.stderr.splitlines()
    assert '"code": "usage"' in line
    assert "a command is missing: sync" in line


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        (("serch", "peanuts"), "`search`"),
        (("Remember", "a"), "`remember`"),
        (("files", "snc"), "`sync`"),
        (("bench", "locmo"), "`locomo`"),
        (("search", "a", "--limt", "3"), "--limit"),
    ],
)
def test_a_wrong_name_is_answered_with_the_nearest(given: tuple[str, ...], meant: str, ana: Terminal) -> None:
    line = ana.error(*given, code=2)
    assert "Did you mean" in line
    assert meant in line


def test_a_name_that_is_near_to_none_is_answered_without_a_guess(ana: Terminal) -> None:
    assert "Did you mean" not in ana.error("xyzzy", code=2)


def test_a_list_names_the_speaker_of_words_that_are_not_the_users(ana: Terminal, tmp_path: Path) -> None:
    turns = [
        {"id": "1", "speaker": "Joel", "text": "I work at the bakery."},
        {"id": "2", "speaker": "user", "text": "I live in Rome."},
    ]
    session = {"id": "s", "time": "2026-01-01T09:00:00Z", "turns": turns}
    file = tmp_path / "talk.jsonl"
    file.write_text(json.dumps({"conv": "c", "speakers": ["Joel", "user"], "sessions": [session]}))
    ana.run("import", str(file), "--format", "conversation")
    shown = ana.text("list").splitlines()
    assert [("said by Joel" in line) for line in shown if "bakery" in line] == [True]
    assert [("said by" in line) for line in shown if "Rome" in line] == [False]


def test_a_preview_shows_a_denial_as_one(ana: Terminal) -> None:
    assert "allergy: not penicillin" in ana.text("preview-extraction", "I'm not allergic to penicillin.")


def test_an_id_of_another_kind_is_named_with_its_article(ana: Terminal) -> None:
    ana.remember("I live in Rome.")
    assert "does not name a memory: it names an event" in ana.error("forget", "e1", code=3)


def test_an_empty_memory_says_what_to_do_next(ana: Terminal) -> None:
    assert "credenda remember TEXT" in " ".join(ana.text("stats").split())
    assert "credenda import FILE" in ana.run("doctor").stderr
    ana.remember("I live in Rome.")
    assert "credenda import" not in ana.text("stats") + ana.run("doctor").stderr


def test_the_help_cuts_no_description_of_a_command(ana: Terminal) -> None:
    for group in ((), ("files",), ("token",), ("plugin",), ("bench",)):
        shown = ana.text(*group, "--help")
        assert [line for line in shown.splitlines() if line.startswith("  ") and line.endswith("...")] == []
    assert "both directions" in " ".join(ana.text("--help").split())


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("empty.json", "", "it is empty"),
        ("blank.csv", " \n", "it is empty"),
        ("empty.txt", "", "it is empty"),
        ("WhatsApp Chat with Ben.txt", "", "it is empty"),
        ("note.md", "\n", "it is empty"),
        ("cut.json", '{"a":\n ', "it is no JSON: line 2"),
    ],
)
def test_a_file_that_is_empty_or_broken_is_not_called_a_format(
    ana: Terminal, tmp_path: Path, *, name: str, content: str, why: str
) -> None:
    (tmp_path / name).write_text(content)
    error = ana.error("import", str(tmp_path / name), code=2)
    assert why in error
    assert "cannot detect the format" not in error


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("photo.jpg", b"\xff\xd8\xff\xe0\x00\x10JFIF", "it is binary"),
        ("paper.pdf", b"%PDF-1.4\n1 0 obj", "it is binary"),
        ("notes.csv", b"a,b\n1,2\n", "save it as UTF-8 text with the suffix .txt"),
        ("package.json", b'{"name": "x", "version": "1"}', "it is JSON of no known export"),
        ("user.json", b'{"id": "user-1", "email": "a@b.c"}', "the conversations.json in it"),
        ("users.json", b'[{"uuid": "1", "full_name": "Tom"}]', "the conversations.json in it"),
        ("list.json", b"[]", "it has no conversation"),
    ],
)
def test_a_wrong_file_is_called_by_its_kind(
    ana: Terminal, tmp_path: Path, *, name: str, content: bytes, words: str
) -> None:
    (tmp_path / name).write_bytes(content)
    error = ana.error("import", str(tmp_path / name), code=2)
    assert words in error
    assert "sillytavern" not in error


def test_a_dry_run_says_that_nothing_was_stored_and_an_import_how_much_is_new(ana: Terminal, tmp_path: Path) -> None:
    path = tmp_path / "memories.txt"
    path.write_text("[2025-03-01] - Lives in Graz\n[2025-03-01] - Is vegetarian\n")
    assert f"Would import {path}; nothing was stored" in ana.text("import", str(path), "--dry-run")
    for more in ("2 more than before", "no more than before"):
        result = ana.run("import", str(path))
        assert f"Imported {path}" in result.stdout
        assert f"2 memories now, {more}; see them: credenda list" in result.stderr


def test_a_search_says_how_likely_it_holds_the_answer(ana: Terminal) -> None:
    ana.remember("I live in Graz.")
    assert re.search(
        r"^1 hit, \d+ % likely to hold the answer, in ", ana.text("search", "Where do I live?"), re.MULTILINE
    )
    unknown = ana.text("search", "What is my home computer called?")
    assert unknown.startswith(("Probably unknown", "Nothing relevant is known"))


def test_an_empty_folder_is_called_one(ana: Terminal, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert "it has no file" in ana.error("import", str(tmp_path / "empty"), code=2)


def test_a_correction_that_names_no_value_says_so_and_does_not_outlive_the_next_one(ana: Terminal) -> None:
    ana.remember("I work at Google.")
    shown = ana.text("correct", "m1", "--text", "Meine Firma heißt Weißbäck.")
    assert "No value could be read from the sentence" in shown
    ana.remember("I work at Apple now.")
    assert [one["value"] for one in ana.json("list", "--attribute", "employer")["items"]] == ["Apple"]
    assert ana.text("context", "Where do I work?").count("Weißbäck") == 1  # as the value before
