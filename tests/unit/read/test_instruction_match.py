"""Which standing instruction governs a question."""

import pytest

from credenda.read.plan import extract_trigger, extract_trigger_terms, score_instructions
from credenda.text.tokens import extract_query_terms

DATES = "Always give dates in full when I ask about deadlines."
CELSIUS = "Give temperatures in Celsius whenever we talk about the weather."
BRIEF = "Keep your answers short."


def degrees(question: str, *instructions: str, near: tuple[float | None, ...] = ()) -> list[float]:
    return score_instructions(
        extract_query_terms(question),
        [extract_trigger_terms(one) for one in instructions],
        near or (None,) * len(instructions),
    )


@pytest.mark.parametrize(
    ("instruction", "when"),
    [
        (DATES, "deadlines"),
        (CELSIUS, "the weather"),
        ("Whenever I ask for code, add type hints.", "code"),
        ("If you are asked, say nothing.", "If you are asked, say nothing."),
        (BRIEF, BRIEF),
    ],
)
def test_an_instruction_says_when_it_applies(instruction: str, when: str) -> None:
    assert extract_trigger(instruction) == when


def test_the_occasion_governs_not_what_is_to_be_done_then() -> None:
    assert degrees("Which deadlines are left?", DATES, CELSIUS, BRIEF) == [1.0, 0.0, 0.0]
    assert degrees("Which dates are in the calendar?", DATES) == [0.0]


def test_nothing_governs_a_question_that_is_about_none_of_them() -> None:
    assert degrees("Who painted the kitchen?", DATES, CELSIUS, BRIEF) == [0.0, 0.0, 0.0]
    assert degrees("", DATES) == [0.0]
    assert degrees("Who painted the kitchen?") == []


def test_nearness_in_meaning_finds_what_words_do_not() -> None:
    found = degrees("How cold will it be?", DATES, CELSIUS, near=(0.05, 0.4))
    assert found[0] == 0.0
    assert found[1] == pytest.approx(0.75)


def test_only_the_best_and_those_close_to_it_govern() -> None:
    assert degrees("x", DATES, CELSIUS, near=(0.5, 0.35)) == [1.0, 0.0]
    assert degrees("x", DATES, CELSIUS, near=(0.5, 0.45)) == [1.0, pytest.approx(0.875)]
    assert degrees("x", DATES, near=(0.15,)) == [0.0]
