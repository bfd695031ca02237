"""The reader that ships, as users have it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from credenda.model.claim import Fact, FactStatus
from credenda.providers.tagger import TaggingReader

READER = TaggingReader()


def show(text: str, before: str = "") -> set[tuple[str, str, str]]:
    return {(one.subject, one.attribute, one.value.text) for one in READER.read(text, before) if one.certainty > 0.5}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("We moved to Tromsø in May and I drive a tram there.", ("me", "residence", "Tromsø")),
        ("im allergic to hazelnuts btw", ("me", "allergy", "hazelnuts")),
        ("my sister Oyin is a vet", ("sister Oyin", "job_title", "vet")),
    ],
)
def test_plain_and_careless_sentences_are_read(text: str, told: tuple[str, str, str]) -> None:
    assert told in show(text)


def test_an_answer_is_read_with_its_question() -> None:
    answered = READER.read("since March, and yes, at the library", "Do you still work at the library in Lund?")
    assert any("library" in one.value.text and one.certainty > 0.3 for one in answered)


@pytest.mark.parametrize("text", ["thanks!", "can you make it shorter?", "haha no way", "", "   ", "🙂🙂", "\ud83d"])
def test_nothing_is_read_from_small_talk(text: str) -> None:
    assert show(text) == set()


def test_a_supposition_is_not_told_as_true() -> None:
    found = [one for one in READER.read("imagine I lived on a lighthouse") if one.certainty > 0.5]
    assert all(one.status is not FactStatus.NOW for one in found)


def test_a_long_message_is_read_to_its_end() -> None:
    filler = "Please look over the second part once more and tell me whether the order of the points makes sense. " * 40
    assert ("me", "residence", "Tromsø") in show(filler + "By the way, we live in Tromsø now.")


def test_a_sentence_without_an_end_is_read_to_its_end() -> None:
    rambling = "and then we looked at the chairs and the lamp and the other lamp and nobody could decide anything " * 12
    assert ("me", "allergy", "hazelnuts") in show(f"{rambling} and by the way I am allergic to hazelnuts")


def test_a_message_depends_on_nothing_but_itself() -> None:
    texts = ["I live in Loja.", "my dog Pip is nine", "we use Postgres at work, Go on the backend"] * 5
    alone = [READER.read(text) for text in texts]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(READER.read, texts)) == alone


def test_a_word_of_letters_and_digits_is_one_word_and_no_part_of_it_names_a_slot() -> None:
    """Two of them would fill the slot that the letters before the first digit name, and one replace the other."""
    read = [fact for number in range(470, 482) for fact in READER.read(f"Remember that I love u2n{number}z0.")]
    assert {fact.value.text for fact in read} == {f"u2n{number}z0" for number in range(470, 482)}
    assert not [fact.key for fact in read if fact.key.startswith("u2")]


@settings(max_examples=40, deadline=None)
@given(st.text(max_size=200), st.text(max_size=60))
def test_every_value_stands_in_the_message_where_it_is_said_to(text: str, before: str) -> None:
    def check(fact: Fact) -> bool:
        value, quote = fact.value, fact.quote
        placed = value.start < 0 or text[value.start : value.stop] == value.text
        return placed and (quote.start < 0 or text[quote.start : quote.stop] == quote.text)

    assert all(map(check, READER.read(text, before)))


def test_a_message_of_a_megabyte_is_read_in_bounded_time() -> None:
    assert len(READER.read("I moved to Loja last week. " * 40_000)) < 5_000
