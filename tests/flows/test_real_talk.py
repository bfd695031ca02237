"""Real talk: what is findable, who speaks, who instructs, and what a receipt names."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from credenda import Credenda

Say = Callable[..., None]


def values(mem: Credenda, attribute: str) -> list[str | None]:
    return [one.value for one in mem.list(attribute=attribute, limit=50).items]


@pytest.mark.requirement("R-040")
def test_a_supposition_in_a_message_hides_none_of_it(mem: Credenda, say: Say) -> None:
    say("If I won the lottery, I would buy the lighthouse of Sintra.", "I work at Initech.")
    (hit,) = mem.search("the lighthouse of Sintra").hits
    assert (hit.kind, hit.flags) == ("event", {"low_confidence"})
    assert not mem.search("Which lighthouse would I buy?").abstained


def test_persons_do_not_instruct_the_assistant(mem: Credenda) -> None:
    mem.remember({"role": "person", "name": "Ben", "content": "I never know what to answer you."}, session="s")
    mem.remember({"role": "user", "content": "Always answer me in French."}, session="s")
    mem.settle()
    assert values(mem, "instruction") == []
    mem.remember({"role": "user", "content": "Always answer me in French."}, session="t")
    mem.settle()
    (order,) = values(mem, "instruction")
    assert "French" in (order or "")


def test_instructions_take_a_third_of_a_context_first_those_the_question_calls_for(mem: Credenda, say: Say) -> None:
    say(*(f"Always add remark number {n} about the weather to your answers." for n in range(30)), days=0.01)
    say("Always give dates in full when I ask about deadlines.", "My paper is due on 3 May 2026.")
    text = mem.context("Which deadlines does my paper have?", token_budget=300).text
    lines = [line for line in text.splitlines() if "Always" in line and line.startswith("- ")]
    assert 1 <= len(lines) < 12
    assert "dates in full" in lines[0]
    assert "2026-05-03" in text


def test_a_line_of_a_context_says_who_said_it_and_since_when(mem: Credenda) -> None:
    mem.remember({"role": "person", "name": "Ben", "content": "I live in Graz since May 2020."}, session="s")
    mem.settle()
    line = next(one for one in mem.context("Where does Ben live?").text.splitlines() if one.startswith("- "))
    assert "] Ben: residence: Graz" in line
    assert "since 1 May 2020" in line


def test_what_is_too_long_to_extract_from_is_named_in_the_receipt(mem: Credenda) -> None:
    run_on = "I like tea and " * 50 + "that is all."
    receipt = mem.remember(f"I live in Porto. {run_on}")
    assert receipt.refused == ()
    (part,) = receipt.unread
    assert part.startswith(f"characters 17 to {17 + len(run_on)} of message 1")
    assert mem.remember("I work at Initech.").unread == ()
