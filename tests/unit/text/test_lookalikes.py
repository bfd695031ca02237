"""Folding of unseen characters and look-alikes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from credenda.text.normalize import fold_lookalikes
from credenda.text.sentences import BLANK, leave_out_blanks

SAME = (
    "pea\u200bnuts",  # zero-width space
    "pea\u200dnuts\u2060",  # joiners
    "pe\u00adanuts",  # soft hyphen
    "peanuts\ufe0f",  # variation selector
    "pea\U000e0041nuts\U000e007f",  # tag characters
    "\u202epea\u202cnuts\u2066\u2069",  # marks of direction
    "p\u0435\u0430nuts",  # Cyrillic
    "pe\u03b1nuts",  # Greek
    "\uff50\uff45\uff41\uff4e\uff55\uff54\uff53",  # full width
    "\U0001d429\U0001d41e\U0001d41a\U0001d427\U0001d42e\U0001d42d\U0001d42c",  # mathematical letters
    "p\u0308e\u0301a\u0336nuts",  # combining marks
    "pea\u034fnuts",  # combining grapheme joiner
    "\u1d18\u1d07\u1d00\u0274\u1d1c\u1d1b\ua731",  # small capitals
)


@pytest.mark.parametrize("text", SAME)
def test_a_disguised_word_is_the_same_word(text: str) -> None:
    assert fold_lookalikes(f"my {text}").casefold() == "my peanuts"


@pytest.mark.parametrize(
    "text",
    [
        "\u041c\u043e\u0441\u043a\u0432\u0430",
        "\u042f \u0436\u0438\u0432\u0443 \u0432 \u0420\u0438\u043c\u0435",
        "\u0391\u03b8\u03b7\u03bd\u03b1",
        "\u0939\u093f\u0928\u094d\u0926\u0940",
        "I live in \u041c\u043e\u0441\u043a\u0432\u0430",
        "\u0441\u043e\u0440",
    ],
)
def test_text_in_its_own_script_stays(text: str) -> None:
    assert fold_lookalikes(text) == text


@given(st.text())
def test_folding_twice_changes_nothing_more(text: str) -> None:
    once = fold_lookalikes(text)
    assert fold_lookalikes(once) == once


@given(st.text(alphabet=f"ab .,{BLANK}", max_size=40))
def test_the_remaining_text_keeps_its_offsets(text: str) -> None:
    left = leave_out_blanks(text)
    assert BLANK not in left.text
    for at, letter in enumerate(left.text):
        start, stop = left.to_whole(at, at + 1)
        assert text[start:stop] == letter
