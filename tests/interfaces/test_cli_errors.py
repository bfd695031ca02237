"""What goes wrong ends in one line, an exit code, and nothing on standard output."""

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from credenda.errors import Unavailable
from credenda.interfaces.cli import actions
from credenda.interfaces.cli.output import Session

from .terminal import Terminal, environment, process

TWO_MEBIBYTES = "word " * (2 * 2**20 // 5)


@pytest.mark.parametrize(
    "args",
    [
        ("nonsense",),
        ("search",),
        ("search", "a", "--limit", "many"),
        ("search", "a", "--type", "opinion"),
        ("search", "a", "--no-such-option"),
        ("remember", "I", "live", "in", "Linz"),
        ("remember", "a", "--metadata", "pair"),
        ("remember", "a", "--metadata", "k=1", "--metadata", "k=2"),
        ("completion", "powershell"),
    ],
)
def test_a_usage_error_is_one_line(args: tuple[str, ...], ana: Terminal) -> None:
    assert "--help`" in ana.error(*args, code=2)


@pytest.mark.parametrize(
    "args",
    [
        ("remember", ""),
        ("remember", " \n\t"),
        ("remember", "a", "--at", "yesterday-ish"),
        ("search", ""),
        ("search", "a", "--limit", "-5"),
        ("search", "a", "--limit", "0"),
        ("search", "a", "--limit", "51"),
        ("search", "a", "--min-confidence", "1.5"),
        ("search", "a", "--recency-weight", "nan"),
        ("search", "a", "--as-of", "never"),
        ("search", "a", "--kind", "dream"),
        ("list", "--limit", "-1"),
        ("context", "a", "--tokens", "0"),
        ("context", "a", "--tokens", "-3"),
    ],
)
def test_invalid_input_is_refused(args: tuple[str, ...], ana: Terminal) -> None:
    ana.error(*args, code=2)


def test_an_empty_or_foreign_database_name_is_refused() -> None:
    for name, code in ((" ", 2), ("mongodb://x", 2), ("postgresql://127.0.0.1:1/x", 5)):
        result = process("--db", name, "stats")
        assert (result.returncode, result.stdout, len(result.stderr.splitlines())) == (code, b"", 1)


@pytest.mark.parametrize("command", ["get", "why", "forget", "restore", "delete", "pin", "unpin", "resolve", "correct"])
@pytest.mark.parametrize("name", ["m999-000000", "nonsense", "", "' OR 1=1 --", "m1-" + "f" * 300, "e\u202e1"])
def test_an_unknown_id_is_not_found(command: str, name: str, ana: Terminal) -> None:
    ana.remember("I live in Linz.")
    extra = {"resolve": ["--keep", "a"], "correct": ["--value", "a"]}.get(command, [])
    line = ana.error(command, *extra, "--", name, code=3)
    assert len(line) < 400


@pytest.mark.parametrize("command", ["get", "why", "forget", "delete", "pin", "correct"])
def test_an_id_of_another_user_is_not_found(command: str, ana: Terminal) -> None:
    ana.remember("I live in Linz.")
    name = ana.an_id()
    extra = ["--value", "a"] if command == "correct" else []
    ana.run("remember", "I live in Graz.", user="bob")
    foreign = ana.error(command, name, *extra, code=3, user="bob")
    missing = ana.error(command, name.replace("m1", "m7"), *extra, code=3, user="bob")
    assert foreign.replace(name, "ID") == missing.replace(name.replace("m1", "m7"), "ID")
    assert ana.values() == ["Linz"]


def test_users_see_only_their_own(ana: Terminal) -> None:
    ana.run("remember", "I'm allergic to peanuts.", user="ana")
    ana.run("remember", "I live in Graz.", user="Ana")
    assert [item["value"] for item in ana.json("list", user="Ana")["items"]] == ["Graz"]
    assert ana.json("search", "peanuts", user="Ana")["hits"] == []
    assert ana.json("stats", user="bob")["events"] == 0


def test_what_contradicts_the_record_is_a_conflict(ana: Terminal) -> None:
    ana.run("remember", "I live in Linz.", "--key", "k")
    assert "idempotency key" in ana.error("remember", "I live in Graz.", "--key", "k", code=4)
    ana.error("restore", ana.an_id(), "--yes", code=4)


def test_too_much_is_refused_whole(ana: Terminal) -> None:
    ana.error("remember", "-", stdin=TWO_MEBIBYTES, code=6)
    ana.error("search", "word " * 2_000, code=6)
    ana.error("remember", "a", "--topic", "t" * 300, code=6)
    assert ana.json("stats")["events"] == 0


def test_a_place_that_cannot_be_written_is_unavailable(tmp_path: Path) -> None:
    result = process("--db", str(tmp_path / "missing" / "memory.db"), "remember", "I live in Linz.")
    assert result.returncode == 5
    assert result.stdout == b""
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.sqlite_file  # the file is damaged
def test_a_file_that_is_no_database_is_corrupt(ana: Terminal) -> None:
    ana.db.write_bytes(b"not a database, whatever it says " * 200)
    ana.error("list", code=7)


def test_the_doctor_finds_what_was_tampered_with(ana: Terminal) -> None:
    ana.remember("I live in Linz.", "My phone is a Fairphone.")
    database = sqlite3.connect(ana.db)
    for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
        database.execute(f"DROP TRIGGER {name}")
    database.execute("UPDATE events SET text = 'I live in Rome.' WHERE id = 1")
    database.commit()
    database.close()
    report = ana.json("doctor", code=7)
    assert report["ok"] is False
    assert {"check", "detail", "repaired"} <= set(report["findings"][0])
    assert "Problems were found" in ana.text("doctor", code=7)


def test_with_json_an_error_is_one_json_object(ana: Terminal) -> None:
    result = ana.run("--json", "get", "m1-000000", code=3)
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    error = json.loads(line)["error"]
    assert error["code"] == "not_found"
    assert error["retryable"] is False
    assert error["what"] in error["message"]
    usage = json.loads(ana.run("--json", "get", code=2).stderr)["error"]
    assert usage["code"] == "usage"


def test_an_unforeseen_error_is_one_line_without_a_traceback(ana: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> object:
        raise ZeroDivisionError("a\nb")

    monkeypatch.setattr(actions, "invoke", broken)
    line = ana.error("stats", code=1)
    assert "ZeroDivisionError: a b" in line
    assert "CREDENDA_DEBUG=1" in line


def test_the_traceback_is_shown_when_asked_for() -> None:
    result = process("--db", "mongodb://x", "stats", env=environment(CREDENDA_DEBUG="1"))
    assert result.returncode == 2
    assert b"Traceback" in result.stderr


def test_an_interrupt_is_one_line(ana: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: Session) -> object:
        raise KeyboardInterrupt

    monkeypatch.setattr(Session, "open", interrupted)
    result = ana.run("stats", code=130)
    assert (result.stdout, result.stderr.split()) == ("", ["interrupted"])


def test_a_failing_settle_does_not_lose_the_receipt(ana: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: object, **__: object) -> None:
        raise Unavailable("not everything has been read yet", fix="try again")

    with monkeypatch.context() as patch:
        patch.setattr("credenda.client.Credenda.settle", failing)
        result = ana.run("--json", "remember", "I live in Linz.")
    receipt: dict[str, Any] = json.loads(result.stdout)
    assert (len(receipt["event_ids"]), receipt["settled"]) == (1, False)
    assert result.stderr.startswith("stored, but not extracted yet: ")
    ana.remember("Perfect, thanks!")
    assert ana.values() == ["Linz"]


@pytest.mark.parametrize(
    "text",
    [
        "I live in Linz. 🏔️🏔️",
        "私は東京に住んでいます。",
        "a\x00b\x1b[31mred\x1b[0m",
        "\u202eright to left",
        "'; DROP TABLE events; --",
    ],
)
def test_any_text_is_filed_and_shown_without_being_obeyed(text: str, ana: Terminal) -> None:
    ana.run("remember", "-", stdin=text.encode())
    shown = ana.text("search", "live Linz 東京 red right DROP", "--kind", "event")
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert ana.json("stats")["events"] == 1


@pytest.mark.parametrize(
    "query", ["?", "???", '"', "'", '"unclosed', "a AND OR NOT", "NEAR(a b)", "col:x *", "(", "%_", "🏔️"]
)
def test_any_query_is_answered(query: str, ana: Terminal) -> None:
    ana.remember("I live in Linz.")
    assert isinstance(ana.json("search", query)["hits"], list)
    assert isinstance(ana.json("context", query)["text"], str)


def test_a_command_line_that_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    db = str(tmp_path / "memory.db")
    for args, stdin in (
        (("remember", "-"), b"I live in M\xfcnchen."),
        (("remember", b"M\xfcnchen".decode("utf-8", "surrogateescape")), b""),
    ):
        result = process("--db", db, *args, stdin=stdin)
        assert (result.returncode, result.stdout, len(result.stderr.splitlines())) == (2, b"", 1)


LONG = "a" * 300


@pytest.mark.parametrize(
    "args",
    [
        ("export", f"{LONG}.jsonl"),
        pytest.param(("backup", f"{LONG}.db"), marks=pytest.mark.sqlite_file),  # a backup is a copy of the file
        ("import", f"{LONG}.jsonl"),
        ("files", "sync", LONG),
        ("rebuild", "--from-files", LONG),
        ("stats", "--db", f"{LONG}.db"),
        ("remember", "I like tea.", "--db", f"{LONG}.db"),
    ],
)
def test_a_name_that_is_too_long_is_said_to_be(args: tuple[str, ...], ana: Terminal) -> None:
    ana.remember("I live in Linz.")
    assert "its name is too long; " in ana.error(*args, code=5)


@pytest.mark.parametrize(
    "args", [("remember", "I like tea."), ("doctor", "--repair"), ("rebuild",), ("decay",), ("policy", "--days", "3")]
)
def test_a_read_only_memory_says_how_to_write_it(args: tuple[str, ...], ana: Terminal) -> None:
    ana.remember("I live in Linz.")
    line = ana.error("--read-only", *args, code=2)
    assert "opened to be read only" in line
    assert "open it without --read-only" in line
