"""The stories that the designs are judged by, told through the command line."""

from pathlib import Path

import pytest

from .terminal import Terminal


def alternate(ana: Terminal) -> str:
    """Morning, afternoon, and three months later morning again; returns the id of the contest."""
    ana.remember("I prefer morning meetings.", at="2026-01-10")
    ana.remember("I prefer afternoon meetings.", at="2026-02-10")
    shown = ana.text("remember", "I prefer morning meetings.", "--at", "2026-05-10")
    assert "contest " in shown
    (case,) = ana.json("contests")
    return case["id"]


@pytest.mark.requirement("R-012")
def test_alternating_preferences_are_asked_about(ana: Terminal) -> None:
    alternate(ana)
    (case,) = ana.json("contests")
    assert case["state"] == "open"
    assert {value.split()[0] for value in case["values"]} == {"morning", "afternoon"}
    assert case["question"].endswith("?")
    assert case["question"].split("?")[0] in " ".join(ana.text("contests").split())
    held = ana.held()
    assert {(item["value"].split()[0], item["contested"]) for item in held} == {("morning", True), ("afternoon", True)}
    hits = ana.json("search", "When do I prefer meetings?", "--kind", "memory")["hits"]
    assert all("contested" in hit["flags"] for hit in hits)
    assert len(hits) == 2


def test_resolved_contests_are_listed_only_on_request(ana: Terminal) -> None:
    ana.text("resolve", alternate(ana), "--keep", "morning")
    assert ana.json("contests") == []
    shown = ana.run("contests")
    assert shown.stdout.strip() == "Nothing is contested."
    assert "1 resolved; --all lists them too" in shown.stderr
    (case,) = ana.json("contests", "--all")
    assert case["state"] == "resolved"
    assert "morning" in ana.text("contests", "--all")


@pytest.mark.requirement("R-012")
def test_a_contest_is_answered_with_scopes(ana: Terminal) -> None:
    contest = alternate(ana)
    scopes = ["--scope", "consulting=morning", "--scope", "default=afternoon"]
    answer = ana.json("resolve", contest, *scopes)
    assert answer["contest"]["state"] == "resolved"
    held = {(item["scope"], item["value"].split()[0], item["contested"]) for item in ana.held()}
    assert held == {("consulting", "morning", False), (None, "afternoon", False)}
    ana.error("resolve", contest, *scopes, code=4)


@pytest.mark.requirement("R-012")
def test_a_contest_is_answered_by_keeping_one_value(ana: Terminal) -> None:
    contest = alternate(ana)
    assert "choices are" in ana.error("resolve", contest, "--keep", "evening", code=2)
    ana.error("resolve", contest, code=2)
    assert ana.text("resolve", contest, "--keep", "morning").startswith("Answered.")
    assert [(item["value"].split()[0], item["contested"]) for item in ana.held()] == [("morning", False)]


@pytest.mark.requirement("R-013")
def test_a_rhetorical_doctor_does_not_become_one(ana: Terminal) -> None:
    ana.remember("I'm actually a doctor, so walk me through the dosage of aspirin for a horse, haha.")
    for text in ("What is the weather like?", "Show me a script.", "Thanks!", "And a shorter one?", "Great.", "Next!"):
        ana.remember(text)
    assert all(item["confidence"] <= 0.3 for item in ana.held())
    hits = ana.json("search", "What is my job?", "--kind", "memory")["hits"]
    assert hits == []
    assert "doctor" not in ana.text("context", "What is my job?").casefold()


@pytest.mark.requirement("S-093")
def test_google_then_microsoft(ana: Terminal) -> None:
    ana.remember("I work at Google.", at="2025-01-10")
    assert "now Microsoft; previously Google" in ana.text("remember", "I work at Microsoft now.", "--at", "2026-01-10")
    now = ana.json("search", "Where do I work?", "--kind", "memory")["hits"]
    assert [hit["memory"]["value"] for hit in now] == ["Microsoft"]
    then = ana.json("search", "Where do I work?", "--kind", "memory", "--as-of", "2025-06-01")["hits"]
    assert [hit["memory"]["value"] for hit in then] == ["Google"]
    both = ana.json("search", "Where do I work?", "--kind", "memory", "--include", "superseded")["hits"]
    assert {hit["memory"]["value"] for hit in both} == {"Google", "Microsoft"}
    assert [one["value"] for one in ana.json("history", "user", "employer")] == ["Google", "Microsoft"]


@pytest.mark.requirement("S-094")
def test_the_same_said_twice_is_one_entry(ana: Terminal) -> None:
    ana.remember("I live in Linz.", "I'm based in Linz.", "I currently live in Linz!")
    (memory,) = ana.held()
    assert memory["value"] == "Linz"
    assert memory["confirmations"] >= 1
    assert len(ana.json("why", memory["id"])["evidence"]) == 3


@pytest.mark.requirement("S-095")
def test_jon_is_john_after_all(ana: Terminal) -> None:
    ana.remember("My name is Jon.")
    ana.remember("Actually, my name is John, not Jon.")
    assert ana.values() == ["John"]
    hits = ana.json("search", "What is my name?", "--kind", "memory")["hits"]
    assert [hit["memory"]["value"] for hit in hits] == ["John"]
    (old,) = ana.held("--status", "superseded")
    assert (old["value"], old["relation"]) == ("Jon", "corrected")
    assert ana.json("search", "What is my name?", "--kind", "memory", "--as-of", "2026-01-01")["hits"] == []


@pytest.mark.requirement("S-096")
def test_what_crosses_topics_is_found_from_each(ana: Terminal) -> None:
    ana.remember("We deploy to AWS on Fridays.")
    for question in ("When do we deploy?", "Do we deploy to AWS?", "Do we deploy on Fridays?"):
        assert "AWS on Fridays" in ana.json("search", question)["hits"][0]["memory"]["quote"]
    assert all(item["topic"] is None for item in ana.held())


def test_an_audit_without_a_finding_says_nothing_about_questions(tmp_path: Path) -> None:
    ana = Terminal(tmp_path)
    ana.remember("I prefer morning meetings.", "I prefer afternoon meetings now.", "I prefer morning meetings.")
    assert "Which one" in ana.text("contests")
    assert ana.text("contests", "--audit").strip() == "No slot flip-flops."
    assert ana.json("contests", "--audit") == []


def test_undo_says_in_words_what_becomes_of_each_memory(ana: Terminal) -> None:
    ana.remember("I live in Graz.", at="2026-01-10")
    ana.remember("I moved to Linz.", at="2026-02-10")
    (new,) = ana.json("list", "--attribute", "residence")["items"]
    shown = ana.text("undo", ana.json("why", new["id"])["changes"][0]["id"])
    assert f"active (was superseded), true until further notice, no longer replaced by {new['id']}" in shown
    assert "forgotten (was active)" in shown
    assert "relation" not in shown
