"""Sentence boundaries, and that no character is lost between them."""

from collections import deque
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from credenda.clock import cpu_seconds
from credenda.text.sentences import split_sentences

SPLIT: list[tuple[str, list[str]]] = [
    ("One. Two.", ["One.", "Two."]),
    ("Dr. Ana met Mr. Kim. They left.", ["Dr. Ana met Mr. Kim.", "They left."]),
    ("It costs 2.50. Fine.", ["It costs 2.50.", "Fine."]),
    ("See https://example.org/a.b?c=1. Then go.", ["See https://example.org/a.b?c=1.", "Then go."]),
    ("I use Node.js. You too?", ["I use Node.js.", "You too?"]),
    ("Really?! Yes... no.", ["Really?!", "Yes... no."]),
    ("Wait... What?", ["Wait...", "What?"]),
    ('He said "Go." Then left.', ['He said "Go."', "Then left."]),
    ("(I know.) You don't.", ["(I know.)", "You don't."]),
    ("e.g. this one. And i.e. that.", ["e.g. this one.", "And i.e. that."]),
    ("We met at 5 p.m. yesterday. Good.", ["We met at 5 p.m. yesterday.", "Good."]),
    ("We met at 5 p.m. It rained.", ["We met at 5 p.m.", "It rained."]),
    ("No. I use pytest.", ["No.", "I use pytest."]),
    ("It is No. 5 of all.", ["It is No. 5 of all."]),
    ("J. R. Smith wrote it. Nice.", ["J. R. Smith wrote it.", "Nice."]),
    ("I code in R. You too?", ["I code in R.", "You too?"]),
    ("So do I. You know.", ["So do I.", "You know."]),
    ("- one\n- two\n* three", ["- one", "- two", "* three"]),
    ("1. one\n2. two", ["1. one", "2. two"]),
    ("a hard\nwrapped line.", ["a hard\nwrapped line."]),
    ("A title\n\nand text", ["A title", "and text"]),
    ("Line one\nLine two", ["Line one", "Line two"]),
    ("one\r\n\r\ntwo", ["one", "two"]),
    ("我住在柏林。我喜欢茶\uff01", ["我住在柏林。", "我喜欢茶\uff01"]),
    ("Great 😀 Next one", ["Great 😀", "Next one"]),
    ("Great! 😀 I live here.", ["Great!", "😀", "I live here."]),
    ("Acme Inc. is big. Yes.", ["Acme Inc. is big.", "Yes."]),
    ("lower case. also lower.", ["lower case.", "also lower."]),
    ("", []),
    (" \n\t ", []),
    ("no end", ["no end"]),
]


@pytest.mark.parametrize(("text", "sentences"), SPLIT)
def test_sentences_are_found(text: str, sentences: list[str]) -> None:
    assert [text[start:stop] for start, stop in split_sentences(text)] == sentences


@given(st.text(alphabet=st.sampled_from("aB1 .!?…\n\r\t。\uff01😀-*\"'()é")) | st.text())
def test_every_character_lies_in_one_sentence(text: str) -> None:
    covered: list[int] = []
    for start, stop in split_sentences(text):
        assert start < stop
        assert text[start:stop] == text[start:stop].strip()
        covered.extend(range(start, stop))
    assert covered == sorted(set(covered))
    assert {at for at, letter in enumerate(text) if not letter.isspace()} <= set(covered)


@pytest.mark.parametrize("piece", [".", "a.", "\n", "😀", " ", "A. ", "1.\n", "。", '"', "e.g. "])
def test_four_times_as_much_text_takes_no_sixteen_times_as_long(piece: str) -> None:
    def least(letters: int) -> float:
        return min(_busy(lambda: deque(split_sentences(piece * (letters // len(piece))), 0)) for _ in range(3))

    assert least(1 << 18) < 10 * least(1 << 16)


def test_sentences_come_one_by_one() -> None:
    text = "One. " * 1_000_000
    assert _busy(lambda: next(split_sentences(text))) < 0.5
    assert next(split_sentences(text)) == (0, 4)


def _busy(call: Callable[[], object]) -> float:
    """Return the seconds of processor time that a call takes, whatever else the machine does."""
    began = cpu_seconds()
    call()
    return cpu_seconds() - began
