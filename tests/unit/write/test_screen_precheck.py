"""A text is called plain only where none of the screens has anything to say of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from credenda.write.intake.secrets import (
    LONG_WORD,
    NUMBER_DIGITS,
    ORDER_WORDS,
    SECRET_WORDS,
    InjectionVerdict,
    collect_hint_words,
    detect_injection,
    is_instruction_like,
    screen_secrets,
)
from credenda.write.intake.validate import is_surely_clean

HINTS = [*SECRET_WORDS, *ORDER_WORDS, *collect_hint_words()]
NOISE = st.text(st.sampled_from("abeinorst NO4é ß\u017fKI.,'<[-"), max_size=30)
PIECES = st.sampled_from(
    [
        *HINTS,
        *(
            "4111 1111 1111 1111",
            "hunter2",
            "is",
            "all previous",
            "rules",
            "the user",
            "to https://x.example",
            "Pa\u017f\u017fword",
        ),
        *(
            "sk-abc123def456",
            "\u0664\u0661\u0661\u0661\u0661\u0661\u0661\u0661\u0661\u0661\u0661\u0661\u0661\u0661\u0661\u0661",
            "\ufb01le",
            "You are now",
            "developer mode",
            "without asking",
            "access",
        ),
    ]
)


@given(st.lists(PIECES | NOISE, max_size=8), st.sampled_from(["", " "]))
def test_nothing_is_found_in_what_is_plain(pieces: list[str], between: str) -> None:
    text = between.join(pieces)
    if is_surely_clean(text):
        assert screen_secrets(text, "reject").masked == ()
        assert not is_instruction_like(text)
        assert detect_injection(text).verdict is InjectionVerdict.ALLOW


@pytest.mark.parametrize("hint", sorted({*HINTS}))
def test_no_hint_is_plain_in_any_case_nor_inside_a_word(hint: str) -> None:
    assert not any(map(is_surely_clean, [hint, f"so {hint}", f"x{hint}y", hint.upper()]))


@pytest.mark.parametrize(
    "text",
    [
        "1 2 3 4 5 6 7 8 9 0 1 2 3",
        "call 4111-1111 or 1111-1111",
        "\u0664\u0661 \u0661\u0661 \u0661\u0661 \u0661\u0661 \u0661\u0661 \u0661\u0661 \u0661\u0661",
        "a" * LONG_WORD,
        "Pa\u017f\u017fword one",
        "straße" + "ß" * (LONG_WORD - 7),
    ],
)
def test_digits_long_words_and_letters_that_fold_are_not_plain(text: str) -> None:
    assert not is_surely_clean(text)


@pytest.mark.parametrize(
    "text",
    ["", "The kettle is on.", "J'ai déménagé à Lyon.", "Ich wohne in Gießen.", "猫が好き", "1" * (NUMBER_DIGITS - 1)],
)
def test_what_most_people_say_is_plain(text: str) -> None:
    assert is_surely_clean(text)
