"""`credenda test` and `credenda replay` at a terminal: words, exit codes, and files for build servers."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree as ET

from .terminal import Terminal


def write(tmp_path: Path, text: str) -> str:
    (tmp_path / "beliefs.test").write_text(text, encoding="utf-8")
    return str(tmp_path / "beliefs.test")


def test_a_build_stops_at_an_assertion_that_does_not_hold(ana: Terminal, tmp_path: Path) -> None:
    ana.remember("I work at Acme.")
    path = write(tmp_path, "expect: employer(user) == Acme; never recalled: password\n")
    assert ana.text("test", path) == "2 passed, 0 failed, against this memory\n"
    path = write(tmp_path, "# who\nexpect: employer(user) == Microsoft\n")
    told = ana.run("test", path, "--junit", str(tmp_path / "out.xml"), code=4).stdout
    assert "FAILED beliefs.test:2: expect: employer(user) == Microsoft\n  - Microsoft\n  + Acme [m1-" in told
    assert told.endswith("0 passed, 1 failed, against this memory\n")
    suite = ET.parse(tmp_path / "out.xml").getroot()[0]  # noqa: S314 - written by the command above
    assert (suite.get("failures"), [one.get("name") for one in suite]) == ("1", ["expect: employer(user) == Microsoft"])
    report = json.loads(ana.run("--json", "test", path, code=4).stdout)
    assert (report["failed"], report["checks"][0]["expected"]) == (1, ["Microsoft"])
    assert "line 1 of beliefs.test is no assertion" in ana.run("test", write(tmp_path, "hm\n"), code=2).stderr
    ana.run("test", str(tmp_path / "none"), code=3)


def test_a_repository_without_a_memory_is_tested_on_its_data(ana: Terminal, tmp_path: Path) -> None:
    path = write(tmp_path, "expect: residence(user) == Linz\n")
    (tmp_path / "talk.txt").write_text("I live in Linz.\n", encoding="utf-8")
    (tmp_path / "chat.json").write_text('[{"role": "user", "content": "I live in Linz."}]', encoding="utf-8")
    assert ana.text("test", path, "--data", str(tmp_path / "chat.json")) == "1 passed, 0 failed, against the data\n"
    assert "1 failed" in ana.run("test", path, "--data", str(tmp_path / "talk.txt"), code=4).stdout
    ana.run("test", path, "--data", str(tmp_path / "chat.json"), "--reextract", code=2)


def test_a_replay_shows_the_lines_that_a_memory_brings(ana: Terminal) -> None:
    ana.remember("I work at Acme.")
    ana.run("remember", "Where do I work?", "--session", "s1")
    (acme,) = ana.held()
    told = ana.text("replay", "s1", "--without", acme["id"])
    assert "\n  --- with\n  +++ without\n" in told
    assert f"{acme['id']}] employer: Acme" in told
    assert told.endswith(f"{acme['id']} changes 1 of 1 contexts\n")
    whole = json.loads(ana.run("--json", "replay", "s1").stdout)
    assert "employer: Acme" in whole["prompts"][0]["with_text"]
    ana.run("replay", "nowhere", code=3)
