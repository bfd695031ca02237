"""The made-up chat is repeatable, has no repeats, and half of its questions share no word with the answer."""

import numpy as np

from benchmarks.locomo import GivenVectors
from benchmarks.sentences import make_questions, make_sentences
from credenda.text.tokens import extract_query_terms, tokenize


def test_the_same_seed_makes_the_same_distinct_sentences() -> None:
    texts = make_sentences(500, seed=3)
    assert texts == make_sentences(500, seed=3)
    assert len(set(texts)) == 500
    assert texts != make_sentences(500, seed=4)


def test_half_of_the_questions_cannot_be_answered_by_words() -> None:
    texts = make_sentences(500, seed=3)
    vocabulary = {term for text in texts for term in tokenize(text)}
    asked = make_questions(texts, 200, seed=3)
    assert sum(one.worded for one in asked) == 100
    for one in asked:
        shared = set(extract_query_terms(one.text)) & set(tokenize(one.gold))
        assert bool(shared) == one.worded, one
    assert not {"glass", "shed", "stargazing"} & vocabulary


def test_a_question_is_near_its_answer_and_far_from_the_rest() -> None:
    texts = make_sentences(300, seed=3)
    asked = make_questions(texts, 20, seed=3)
    engine = GivenVectors(asked)
    rows = engine.embed(texts)
    for one, vector in zip(asked, engine.embed([one.text for one in asked]), strict=True):
        nearest = texts[int(np.argmax(rows @ vector))]
        assert nearest == one.gold


def test_given_vectors_have_unit_length_and_depend_on_the_text_alone() -> None:
    engine = GivenVectors()
    rows = engine.embed(["one", "two", "one"])
    assert rows.dtype == np.float32
    assert rows.shape == (3, engine.dims)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    assert np.array_equal(rows[0], rows[2])
