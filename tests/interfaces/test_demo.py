"""The demo does the main job for real, and says what it found."""

from pathlib import Path

import pytest

from check_demo import check, find_answered, load_expectations
from credenda import Credenda
from credenda.interfaces.cli.demo_run import load_script, run_demo

from .terminal import NO_SETTINGS, Terminal


@pytest.fixture
def ana(tmp_path: Path) -> Terminal:
    return Terminal(tmp_path)


@pytest.mark.requirement("R-012", "R-013")
def test_the_demo_finds_what_it_must(tmp_path: Path) -> None:
    script = load_script()
    checked = check(run_demo(script, tmp_path / "demo.db", "ana"), script, load_expectations(), "ana")
    assert checked.mismatches == ()
    assert checked.checks > 60


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
        "asked “What is my day rate?”: 0 of 5 hits have it",
    ):
        assert told in "\n".join(lines)
    given = "\n".join(lines[next(at for at, line in enumerate(lines) if line.startswith("5.")) :])
    assert "hazelnuts" in given
    assert "metric units" in given
    assert f"--db {ana.db}" in lines[-1]
    assert lines[-1].endswith(" list")
    assert "Ferrowind" in [item["value"] for item in ana.held("--attribute", "employer")]


def test_a_model_answers_questions_that_words_do_not(tmp_path: Path) -> None:
    path = tmp_path / "demo.db"
    run_demo(load_script(), path, "ana")
    entries = load_expectations()["reworded"]
    found: dict[str, int] = {}
    for embedder in ("none", "minilm"):
        with Credenda.open(path, user="ana", embedder=embedder) as memory:
            if embedder != "none":
                memory.data.reembed()
            found[embedder] = len(find_answered(memory, entries))
    assert found["none"] < found["minilm"]


def test_the_demo_as_json(ana: Terminal) -> None:
    run = ana.json("demo")
    assert {"database", "held", "events", "answered", "deleted", "earlier", "context"} <= set(run)
    assert run["turns"] == len(load_script().turns)
    assert run["seconds_total"] > 0


def test_the_demo_never_touches_a_database_that_exists(ana: Terminal) -> None:
    ana.remember("I live in Linz.")
    assert "exists already" in ana.error("demo", code=4)
    assert ana.values() == ["Linz"]


def test_a_mismatch_is_listed(tmp_path: Path) -> None:
    script, expected = load_script(), load_expectations()
    expected["current"].append({"entity": "user", "attribute": "residence", "value": "Atlantis", "turn": "s13t01"})
    checked = check(run_demo(script, tmp_path / "demo.db", "ana"), script, expected, "ana")
    assert not checked.ok
    assert any("Atlantis" in problem for problem in checked.mismatches)
