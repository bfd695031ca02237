"""Time from outside: earlier times in words, the life of a slot as a timeline, and what changed."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from credenda.clock import parse_time
from credenda.interfaces.cli.main import cli
from credenda.interfaces.cli.output import Screen, count_cells
from credenda.interfaces.cli.render import render
from credenda.model.memory import Relation, Status
from credenda.model.query import SlotVersion

from .terminal import NO_SETTINGS, Terminal, environment, process

NOW = parse_time("2026-11-22T10:00:00Z")


@pytest.fixture
def moved(ana: Terminal) -> Terminal:
    ana.remember("I live in Linz.", at="2024-01-10")
    ana.remember("I moved to Graz.", at="2025-03-03T09:00:00Z")
    return ana


@pytest.mark.requirement("R-080", "S-055", "S-093")
def test_the_past_is_asked_in_words(moved: Terminal) -> None:
    assert moved.values("--as-of", "2 March 2025") == ["Linz"]
    assert moved.values("--as-of", "3 March 2025") == ["Graz"]
    assert moved.values("--as-of", "3 March 2025 08:59") == ["Linz"]
    assert moved.values("--known-at", "yesterday") == []
    assert moved.values("--known-at", "today") == ["Graz"]
    hits = moved.json("search", "Where do I live?", "--kind", "memory", "--as-of", "2 March 2025")["hits"]
    assert [hit["memory"]["value"] for hit in hits] == ["Linz"]
    assert "Linz" in moved.text("context", "Where do I live?", "--as-of", "2 March 2025")
    assert [one["value"] for one in moved.json("history", "user", "residence", "--as-of", "2 March 2025")] == ["Linz"]
    assert moved.json("history", "user", "residence", "--known-at", "yesterday") == []
    old = moved.json("list", "--status", "superseded")["items"][0]["id"]
    assert moved.json("get", old, "--as-of", "2 March 2025")["value"] == "Linz"
    assert "was true from" in moved.error("get", old, "--as-of", "4 March 2025", code=3)
    assert "not held then" in moved.error("get", old, "--known-at", "yesterday", code=3)


@pytest.mark.requirement("S-095", "C-005")
def test_a_corrected_name_is_in_no_earlier_truth(ana: Terminal) -> None:
    ana.remember("My name is Jon.", at="2025-01-01")
    ana.remember("No, my name is John with an h.", at="2025-01-02")
    assert ana.values("--attribute", "name", "--as-of", "2025-01-01") == ["John"]
    shown = ana.text("history", "user", "name")
    assert "superseded (corrected)" in shown
    old = next(one["memory_id"] for one in ana.json("history", "user", "name") if one["value"] == "Jon")
    assert re.search(r"true +never", ana.text("get", old))
    assert "John; Jon was wrong" in ana.text("diff", "--from", "today") or "John" in ana.text("diff", "--from", "today")


@pytest.mark.parametrize("option", ["--as-of", "--known-at"])
@pytest.mark.parametrize(
    ("words", "why"),
    [("3/4/2026", "may be exchanged"), ("someday", "neither"), ("last month", "more than a day"), ("", "neither")],
)
def test_a_time_that_cannot_be_read_is_named_in_one_line(ana: Terminal, option: str, words: str, why: str) -> None:
    line = ana.error("list", option, words, code=2)
    assert why in line
    assert repr(words) in line


def test_every_option_with_a_time_reads_the_same_words(ana: Terminal) -> None:
    ana.text("remember", "I live in Linz.", "--at", "3 March 2025")
    ana.text("remember", "I work at Siemens.", "--at", "yesterday", "--expires", "2100-01-01")
    assert ana.json("undo", "--since", "yesterday", "--dry-run")["undone"]
    assert ana.json("undo", "--until", "last month", "--dry-run")["undone"] == []
    shown = ana.text("delete", "--before", "5 March 2025", "--dry-run")
    assert shown.startswith("Would delete 1 event and 1 memory from before 2025-03-05T00:00:00Z.")
    assert ana.json("delete", "--before", "yesterday", "--yes")["events"] == 1
    assert ana.values("--attribute", "employer") == ["Siemens"]


def test_a_zone_of_the_person_governs(tmp_path: Path) -> None:
    db = tmp_path / "zone.db"

    def run(*args: str, zone: str = "Europe/Vienna") -> str:
        env = {**NO_SETTINGS, "CREDENDA_TIME_ZONE": zone}
        result = CliRunner().invoke(cli, ["--db", str(db), *args], env=env)
        assert result.exit_code == 0, result.output
        return result.stdout

    run("remember", "I live in Linz.", "--at", "2024-01-10")
    run("remember", "I moved to Graz.", "--at", "2025-03-04T00:30")
    asked = ("--json", "list", "--attribute", "residence", "--as-of", "3 March 2025")
    assert [one["value"] for one in json.loads(run(*asked))["items"]] == ["Linz"]
    assert [one["value"] for one in json.loads(run(*asked, zone="UTC"))["items"]] == ["Graz"]
    assert "since 2025-03-04" in run("history", "user", "residence")
    assert "since 2025-03-03" in run("history", "user", "residence", zone="UTC")
    shown = run("get", json.loads(run("--json", "list"))["items"][0]["id"])
    assert "+01:00" in shown or "+02:00" in shown


@pytest.mark.requirement("S-054", "C-005")
def test_a_diff_tells_now_and_previously(moved: Terminal) -> None:
    shown = moved.text("diff", "--from", "in 2025", "--axis", "valid")
    assert "Changed" in shown
    assert "now Graz; previously Linz" in " ".join(shown.split())
    diff = moved.json("diff")
    assert diff["counts"] == {"added": 1}
    assert {"axis", "since", "until", "differences", "counts"} == set(diff)
    (one,) = diff["differences"]
    assert {"kind", "memory", "previous", "confirmations", "reason", "at", "changes"} == set(one)
    assert moved.text("diff", "--to", "now", "--from", "now").splitlines()[-1] == "Nothing changed."
    assert "swap them" in moved.error("diff", "--from", "today", "--to", "yesterday", code=2)
    assert moved.json("diff", "--topic", "work")["differences"] == []


def test_another_process_that_may_only_read_answers_all_of_it(moved: Terminal) -> None:
    for command in (
        ["list", "--as-of", "2 March 2025"],
        ["history", "user", "residence", "--known-at", "today"],
        ["diff", "--from", "yesterday"],
        ["search", "Where do I live?", "--as-of", "2 March 2025"],
    ):
        done = process("--db", str(moved.db), "--user", "ana", "--read-only", *command, env=environment())
        assert (done.returncode, done.stderr) == (0, b"")
        assert b"Linz" in done.stdout or b"Graz" in done.stdout


def version(value: str, since: str, until: str | None = None, **more: object) -> SlotVersion:
    given: dict[str, object] = {
        "memory_id": f"m-{value}",
        "text": f"I live in {value}",
        "value": value,
        "scope": None,
        "status": Status.ACTIVE if until is None else Status.SUPERSEDED,
        "relation": None if until is None else Relation.CHANGED,
        "superseded_by": None,
        "reason": "",
        "valid_from_us": parse_time(since),
        "valid_until_us": None if until is None else parse_time(until),
        "recorded_us": parse_time(since),
        "entity": "user",
        "attribute": "residence",
    }
    return SlotVersion(**{**given, **more})  # pyright: ignore[reportArgumentType]


def bars(shown: str) -> list[str]:
    return [line[:24].rstrip() for line in shown.splitlines() if line[:24].strip(" 0123456789-")]


def test_a_timeline_is_drawn_to_scale() -> None:
    versions = [version("Linz", "2024-11-22", "2025-11-22"), version("Graz", "2025-11-22")]
    shown = render(Screen(now_us=parse_time("2026-11-22")), "history", versions)
    assert bars(shown) == ["|==========|", "            |==========>"]
    assert shown.splitlines()[0] == "2024-11-22    2026-11-22  residence"
    assert shown.isascii() or set(shown) - set(map(chr, range(128))) <= set("–·“”…")


def test_on_a_terminal_it_is_drawn_with_lines_and_never_wider_than_80() -> None:
    long = "Llanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogogoch and a great deal of other words beside it " * 2
    versions = [version("Linz", "2024-11-22", "2025-11-22", reason=long), version(long, "2025-11-22")]
    for width in (200, 80, 60):
        shown = render(Screen(width=width, now_us=NOW), "history", versions)
        assert max(count_cells(line) for line in shown.splitlines()) <= min(width, 80)
        assert "┣━━━━━━━━━━┫" in shown
        assert "beside it" in shown.replace("\n", " "), "nothing is cut"


def test_each_scope_speaker_and_class_has_a_timeline_of_its_own() -> None:
    versions = [
        version("tea", "2025-01-01"),
        version("coffee", "2025-02-01", scope="at work"),
        version("cocoa", "2025-03-01", speaker="Ben"),
        version("pollen", "2025-04-01"),
    ]
    headings = [
        line[26:] for line in render(Screen(now_us=NOW), "history", versions).splitlines() if line[:4] == "2025"
    ]
    assert headings == ["residence", "residence (at work)", "residence, speaker Ben"]


def test_what_was_wrong_unsettled_or_deleted_looks_so() -> None:
    versions = [
        version("Jon", "2025-01-01", "2025-06-01", relation=Relation.CORRECTED),
        version("", "2025-01-01", "2025-06-01", status=Status.DELETED, entity=None, attribute=None),
        version("one", "2025-06-01", contested=True),
        version("other", "2025-06-01", contested=True, denied=True),
        version("short", "2026-11-22T09:59:59Z"),
    ]
    shown = render(Screen(now_us=NOW), "history", versions)
    drawn = bars(shown)
    assert [set(bar.strip()) for bar in drawn] == [set("|."), set("|."), set("|~>"), set("|~>"), set(">")]
    assert "(deleted)" in shown
    assert "not other" in shown
    assert shown.count("residence") == 1


def test_what_is_yet_to_come_and_the_ends_of_time_are_drawn() -> None:
    versions = [version("Linz", "0001-01-02"), version("Graz", "9999-12-30")]
    assert "9999-12-30" in render(Screen(now_us=NOW), "history", versions)
    assert render(Screen(), "history", []) == "This slot never had a value."
