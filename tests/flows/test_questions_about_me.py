"""Questions about the user as a whole, and about groups such as the family or the pets."""

from collections.abc import Callable

import pytest

from credenda import Credenda

Say = Callable[..., None]

TOLD = (
    "I live in Linz.",
    "My sister Mia studies law in Vienna.",
    "I'm allergic to penicillin.",
    "My dad lives in Graz.",
    "My dog Rex is a beagle.",
    "Can you help me with a regex?",
)


@pytest.mark.parametrize(
    "question",
    [
        "What do you know about me?",
        "Who am I?",
        "Tell me about myself.",
        "Summarize what you know about me",
        "Was weißt du über mich?",
        "Qué sabes de mí?",
    ],
)
def test_a_question_about_me_is_answered_by_what_is_known_of_me(mem: Credenda, say: Say, question: str) -> None:
    say(*TOLD)
    found = mem.search(question)
    assert not found.abstained
    assert found.probability > 0.5
    assert {"I live in Linz.", "I'm allergic to penicillin."} <= {hit.quote for hit in found.hits}
    assert all(hit.memory is not None and hit.memory.entity == "user" for hit in found.hits)


def test_what_was_replaced_is_not_told_as_known(mem: Credenda, say: Say) -> None:
    say("I live in Linz.", "I moved to Graz.")
    values = [hit.memory.value for hit in mem.search("What do you know about me?").hits if hit.memory]
    assert "Graz" in values
    assert "Linz" not in values


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("Tell me about my family", {"My sister Mia studies law in Vienna.", "My dad lives in Graz."}),
        ("Who is in my family?", {"My sister Mia studies law in Vienna.", "My dad lives in Graz."}),
        ("Do I have any pets?", {"My dog Rex is a beagle."}),
        ("What do you know about my sister?", {"My sister Mia studies law in Vienna."}),
        ("Tell me about my siblings", {"My sister Mia studies law in Vienna."}),
    ],
)
def test_a_group_finds_its_members(mem: Credenda, say: Say, question: str, first: set[str]) -> None:
    say(*TOLD)
    found = mem.search(question)
    assert found.probability > 0.5
    said = list(dict.fromkeys(hit.quote for hit in found.hits))
    assert set(said[: len(first)]) == first


def test_nothing_known_of_me_is_nothing(mem: Credenda, say: Say) -> None:
    assert mem.search("What do you know about me?").abstained
    say("The bakery opens at seven.")
    found = mem.search("What do you know about me?")
    assert found.abstained
    assert not found.hits


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("My brother Tim lives in Hamburg with his girlfriend Sara.", "Where do I live?"),
        ("My sister Eva works as a nurse.", "What's my job?"),
    ],
)
def test_what_is_told_of_somebody_else_makes_no_answer_about_me_likely(
    mem: Credenda, say: Say, text: str, question: str
) -> None:
    say(text)
    assert mem.search(question).probability < 0.1


def test_a_value_that_was_replaced_by_a_forgotten_one_makes_no_answer_likely(mem: Credenda, say: Say) -> None:
    say("I live in Linz.")
    say("I moved to Graz.")
    assert mem.search("Where do I live?").probability > 0.9
    mem.forget(next(one.id for one in mem.list().items if one.value == "Graz"))
    assert mem.search("Where do I live?").probability < 0.1
