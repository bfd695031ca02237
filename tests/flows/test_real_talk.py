"""Real talk: what is findable, who speaks, what is an instruction, and which sentences become memories."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from credenda import Credenda
from credenda.model.memory import Memory

Say = Callable[..., None]


def held(mem: Credenda) -> list[Memory]:
    return list(mem.list(limit=50).items)


def values(mem: Credenda, attribute: str) -> list[str | None]:
    return [one.value for one in held(mem) if one.attribute == attribute]


@pytest.mark.requirement("R-040")
def test_a_supposition_in_a_message_hides_none_of_it(mem: Credenda, say: Say) -> None:
    say("If I won the lottery, I would buy the lighthouse of Sintra.", "I work at Initech.")
    (hit,) = mem.search("the lighthouse of Sintra").hits
    assert (hit.kind, hit.flags) == ("event", {"low_confidence"})
    assert not mem.search("Which lighthouse would I buy?").abstained


@pytest.mark.parametrize(
    "text",
    ["Please let me know how it goes!", "Don't forget to have fun!", "Always enjoy your vacation!", "Take care."],
)
def test_a_pleasantry_is_no_instruction(mem: Credenda, say: Say, text: str) -> None:
    say(text)
    assert values(mem, "instruction") == []


def test_persons_do_not_instruct_the_assistant(mem: Credenda) -> None:
    mem.remember({"role": "person", "name": "Ben", "content": "I never know what to answer you."}, session="s")
    mem.remember({"role": "user", "content": "Always answer me in French."}, session="s")
    mem.settle()
    assert values(mem, "instruction") == []
    mem.remember({"role": "user", "content": "Always answer me in French."}, session="t")
    mem.settle()
    assert values(mem, "instruction") == ["answer me in French"]


def test_instructions_take_a_third_of_a_context_first_those_the_question_calls_for(mem: Credenda, say: Say) -> None:
    say(*(f"Always add remark number {n} about the weather to your answers." for n in range(30)), days=0.01)
    say("Always give dates in full when I ask about deadlines.", "My paper is due on 3 May 2026.")
    text = mem.context("Which deadlines does my paper have?", token_budget=300).text
    lines = [line for line in text.splitlines() if "Always" in line and line.startswith("- ")]
    assert 1 <= len(lines) < 12
    assert "dates in full" in lines[0]
    assert "3 May 2026" in text


def test_a_question_never_comes_back_as_a_memory(mem: Credenda, say: Say) -> None:
    say(
        "Is my sister Ana going to like the new flat?",
        "I'm on a MacBook Air M2, will that be enough for video?",
        "Could you explain how my mortgage works?",
        "As a nurse on nights I need a routine, can you suggest one?",
    )
    assert [one.text for one in held(mem) if one.text.endswith("?")] == []
    assert "I'm on a MacBook Air M2" in [one.text for one in held(mem)]


@pytest.mark.parametrize(
    "text",
    [
        "It's a legal drama series, I watched it months ago.",
        "That sounds amazing and I am so happy for you.",
        "By sharing our stories, we can build a strong community.",
        "The event last month was fun. They were so nice.",
        "I'm looking forward to it, and I'm really excited.",
    ],
)
def test_a_sentence_that_leans_on_another_is_no_memory(mem: Credenda, text: str) -> None:
    mem.remember({"role": "person", "name": "Ben", "content": f"Hey there! {text}"}, session="s")
    mem.settle()
    assert [one.text for one in held(mem) if one.attribute is None] == []
    assert mem.search(text).hits[0].kind == "event"


def test_a_line_of_a_context_says_who_said_it_and_since_when(mem: Credenda) -> None:
    mem.remember({"role": "person", "name": "Ben", "content": "I live in Graz since May 2020."}, session="s")
    mem.settle()
    line = next(one for one in mem.context("Where does Ben live?").text.splitlines() if one.startswith("- "))
    assert "] Ben: I live in Graz" in line
    assert "since 2020-05-01" in line


def test_what_is_too_long_to_extract_from_is_named_in_the_receipt(mem: Credenda) -> None:
    run_on = "I like tea and " * 50 + "that is all."
    receipt = mem.remember(f"I live in Porto. {run_on}")
    assert receipt.refused == ()
    (part,) = receipt.unread
    assert part.startswith(f"characters 17 to {17 + len(run_on)} of message 1")
    assert mem.remember("I work at Initech.").unread == ()


def test_a_nickname_leaves_the_name(mem: Credenda, say: Say) -> None:
    say("I'm Samira Haddad.", "Hi, I'm Samira Haddad, but everyone calls me Sam.")
    assert values(mem, "name") == ["Samira Haddad"]
    assert values(mem, "preferred_name") == ["Sam"]


@pytest.mark.parametrize(
    ("text", "slot"), [("Mila is 5 now.", ("age", "5")), ("Car: 2019 VW ID.3", ("car", "2019 VW ID.3"))]
)
def test_an_age_and_a_car_are_no_dates(mem: Credenda, say: Say, text: str, slot: tuple[str, str]) -> None:
    say(text)
    assert [(one.attribute, one.value) for one in held(mem)] == [slot]


def test_a_number_that_is_taken_back_is_no_belief(mem: Credenda, say: Say) -> None:
    say("My phone number is 555 1234.", "Never mind, forget that number.", session="s", days=0.001)
    assert values(mem, "phone_number") == []
