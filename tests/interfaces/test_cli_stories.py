"""Contests and undo at the command line; the stories that lead to them are told in `tests/flows`."""

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
    assert case["question"].split("?")[0] in " ".join(ana.text("contests").split())
    return case["id"]


@pytest.mark.requirement("R-012")
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
