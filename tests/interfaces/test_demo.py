"""The demo does the main job for real, and says what it found."""

import json
from pathlib import Path

import pytest

from credenda.interfaces.cli.demo_run import load_script

from .terminal import NO_SETTINGS, Terminal


@pytest.mark.requirement("R-012", "R-013")
def test_an_installed_program_checks_itself_by_the_demo(ana: Terminal) -> None:
    found, _, total, *_ = ana.text("demo", "--check", "--keep", str(ana.db)).split()
    assert found == total
    assert int(total) > 40


@pytest.mark.parametrize("embedder", ["none", None], ids=["words", "as installed"])
def test_the_demo_tells_a_story_of_five_scenes(
    ana: Terminal, monkeypatch: pytest.MonkeyPatch, embedder: str | None
) -> None:
    monkeypatch.setitem(NO_SETTINGS, "CREDENDA_EMBEDDER", embedder)
    lines = [line.strip() for line in ana.text("demo").splitlines() if line.strip()]
    assert len(lines) <= 30
    assert sum(line[:2] in {f"{number}." for number in range(1, 6)} for line in lines) == 5
    for told in (
        "you: “I left Quillmark Advisory, I'm at Ferrowind now.”",
        "held: employer: now Ferrowind; previously Quillmark Advisory (2025-01-15 – 2025-03-28)",
        "asked what was true on 2025-03-01: Quillmark Advisory",
        "held: meetings: afternoon meetings · meetings (consulting): morning meetings",
        "refused: restates deleted text (characters 10 to 47)",
        "asked “What is my day rate?”: no hit has it",
    ):
        assert told in "\n".join(lines)
    given = "\n".join(lines[next(at for at, line in enumerate(lines) if line.startswith("5.")) :])
    assert "hazelnuts" in given
    assert "metric units" in given
    assert f"--db {ana.db}" in lines[-1]
    assert lines[-1].endswith(" list")
    assert "Ferrowind" in [item["value"] for item in ana.held("--attribute", "employer")]


def test_the_long_demo_shows_everything_and_leaves_a_database_to_explore(ana: Terminal) -> None:
    shown = ana.text("demo", "--long")
    assert "search is lexical only" in shown
    for part in ("Current beliefs", "was wrong", "not beliefs about you", "you: “Mornings", "deleted: ", "ms median"):
        assert part in shown
    path = ana.db
    assert f"The database is {path}" in shown
    commands = [line.strip() for line in shown.splitlines() if " --db " in line]
    assert len(commands) == 3
    assert "now Ferrowind; previously Quillmark Advisory" in shown
    assert "Ferrowind" in [item["value"] for item in ana.held("--attribute", "employer")]


def test_the_demo_as_json_measures_what_a_model_gains(ana: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = ana.db.with_name("config.toml")
    settings.write_text('embedder = "minilm"\n')
    monkeypatch.setitem(NO_SETTINGS, "CREDENDA_EMBEDDER", None)
    monkeypatch.setitem(NO_SETTINGS, "CREDENDA_CONFIG", str(settings))
    checked = ana.json("demo", "--check", "--keep", str(ana.db.with_name("checked.db")))
    assert checked["mismatches"] == []
    run = ana.json("demo")
    gain = run["gain"]
    assert gain["model_id"].startswith("minilm")
    assert len(gain["by_words"]) < len(gain["by_meaning"]) <= gain["questions"]
    assert {"database", "held", "contests", "searches", "unanswered", "answered", "deleted", "timings"} <= set(run)
    assert run["turns"] == len(load_script().turns)
    assert run["timings"]["ack_ms_median"] > 0


def test_the_demo_never_touches_a_database_that_exists(ana: Terminal) -> None:
    ana.remember("I live in Linz.")
    assert "exists already" in ana.error("demo", code=4)
    assert ana.values() == ["Linz"]


def test_a_mismatch_is_listed_and_fails(ana: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "demo_beliefs.test").write_text("expect: residence(user) == Atlantis\n", encoding="utf-8")
    script = load_script()
    monkeypatch.setattr("credenda.interfaces.cli.demo_run.load_script", lambda: script)
    monkeypatch.setattr("credenda.interfaces.cli.demo_run._DATA", tmp_path)
    report = json.loads(ana.run("--json", "demo", "--check", code=1).stdout)
    assert (report["ok"], report["checks"]) == (False, 1)
    assert "Atlantis" in report["mismatches"][0]
    assert "Portland" in report["mismatches"][0]
