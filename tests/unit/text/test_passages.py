"""Passages: whole words of a long text, cut where one would pause."""

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from credenda import limits
from credenda.text.passages import split_passages

SENTENCE = "This sentence has exactly eight words in it. "
TEXTS = st.lists(
    st.sampled_from(["word ", "东京都", ". ", "。", "\n\n", "\n", ", ", "x" * 90, "é ", "   ", "end!) "]), max_size=900
).map("".join)


def weight(text: str) -> float:
    """Count words as a reader would, a CJK character as half a word; over-long words count per stretch."""
    return sum(
        sum(0.5 if ord(character) > 0x3000 else 0 for character in word)
        + -(-sum(ord(character) <= 0x3000 for character in word) // 32)
        for word in text.split()
    )


def test_an_ordinary_turn_is_one_passage() -> None:
    assert split_passages("How are you?") == [(0, 12)]
    assert split_passages(" \n padded \t") == [(3, 9)]
    assert split_passages("word " * 80) == [(0, 399)]


def test_blank_text_has_none() -> None:
    assert split_passages("") == []
    assert split_passages(" \n\t ") == []


def test_cuts_fall_between_sentences() -> None:
    text = SENTENCE * 100
    spans = split_passages(text)
    assert len(spans) == 4
    assert all(text[start:stop].endswith("it.") for start, stop in spans)
    assert all(len(text[start:stop].split()) <= limits.PASSAGE_TOKENS for start, stop in spans)


def test_a_paragraph_is_a_better_border_than_a_sentence() -> None:
    text = SENTENCE * 18 + "\n\n" + SENTENCE * 18
    (first, second) = split_passages(text)
    assert text[first[0] : first[1]] == (SENTENCE * 18).strip()
    assert text[second[0] : second[1]] == (SENTENCE * 18).strip()


def test_a_line_break_is_a_border() -> None:
    text = "\n".join(["no full stop in this line"] * 80)
    assert all(text[start:stop].endswith("line") for start, stop in split_passages(text))


def test_chinese_is_counted_by_half_and_cut_at_its_full_stop() -> None:
    text = "我每天早上喝一杯茶。" * 100
    spans = split_passages(text)
    assert all(text[stop - 1] == "。" for _, stop in spans)
    assert all(stop - start <= 2.2 * limits.PASSAGE_TOKENS for start, stop in spans)
    assert len(spans) == 3


def test_the_longest_event_in_its_worst_shape_stays_within_the_bound() -> None:
    for text in ("a " * (limits.EVENT_TEXT_BYTES // 2), "x" * limits.EVENT_TEXT_BYTES):
        spans = split_passages(text)
        assert len(spans) <= limits.PASSAGES_PER_EVENT
        assert spans[-1][1] == len(text.rstrip())


@settings(max_examples=50)
@given(TEXTS)
def test_passages_cover_the_text_in_order_and_stay_short(text: str) -> None:
    spans = split_passages(text)
    assert spans == split_passages(text)
    covered = "".join(text[start:stop] for start, stop in spans)
    assert "".join(covered.split()) == "".join(text.split())
    assert all(one[1] <= other[0] for one, other in pairwise(spans))
    for start, stop in spans:
        assert start < stop
        assert not text[start].isspace()
        assert not text[stop - 1].isspace()
        assert weight(text[start:stop]) <= limits.PASSAGE_TOKENS * 1.1
