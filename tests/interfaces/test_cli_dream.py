"""`credenda dream` as a person sees it: a brief in the morning, a plan before, and errors that name the steps."""

import pytest

from .terminal import Terminal

FACTS = (
    "I live in Linz.",
    "I work at Bosch.",
    "My dog is called Rex.",
    "I drive a Skoda.",
    "I prefer tea over coffee.",
)


@pytest.fixture
def told(ana: Terminal) -> Terminal:
    for fact in FACTS:
        ana.text("remember", fact)
    return ana


def test_a_dry_run_plans_and_a_run_reads_like_a_brief(told: Terminal) -> None:
    planned = told.text("dream", "--dry-run")
    assert planned.startswith("A dream now would do this:")
    assert "The card of user would be written, from 5 memories." in planned
    assert "nothing was changed." in planned
    done = told.text("dream")
    assert done.startswith("Dream of ")
    assert "  - The card of user was written, from 5 memories." in done
    assert "Not done: bridges; no language model is in use, and only a model confirms a bridge." in done
    assert "Nothing changed." in told.text("dream")


def test_json_holds_the_brief_the_steps_and_the_exact_changes(told: Terminal) -> None:
    found = told.json("dream", "--dry-run", "--steps", "cards,forgetting")
    assert [step["name"] for step in found["steps"]] == ["forgetting", "cards"]
    assert found["steps"][1]["changes"][0]["draft"]["attribute"] == "peer_card"
    assert found["brief"].startswith("A dream now would do this:")
    assert found["changed"] == 6


@pytest.mark.parametrize("steps", ["deep sleep", "", "cards,,probe"])
def test_a_step_that_there_is_not_is_named(ana: Terminal, steps: str) -> None:
    assert "choose among forgetting, merge, cards, bridges, probe, drift, prune" in ana.error(
        "dream", "--steps", steps, code=2
    )


def test_a_dry_run_needs_no_right_to_write(told: Terminal) -> None:
    assert "would be written" in told.text("--read-only", "dream", "--dry-run")
    assert "read only" in told.error("--read-only", "dream", code=2)


def test_why_says_of_what_a_card_was_made(told: Terminal) -> None:
    told.text("dream", "--steps", "cards")
    card = next(one for one in told.json("list")["items"] if one["attribute"] == "peer_card")
    shown = " ".join(told.text("why", card["id"]).split())
    assert f"derived from {', '.join(sorted(card['metadata']['cites']))};" in shown
    assert "deleted" not in shown
