"""Scores by words: BM25+ of rows and of sessions, and context spread, each against a plain model."""

from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from credenda.index.bm25 import TAIL_ROWS, InvertedLists, hash_terms
from credenda.index.resident import ResidentIndex
from credenda.index.snapshot import STATE_GONE, SkipBoost
from credenda.storage.store import Delta, Document, DocumentState, IndexPosition, pack_code

from .build import (
    MODEL,
    WORDS,
    by_code,
    documents_strategy,
    event,
    folded,
    lexical_oracle,
    memory,
    session_oracle,
    spread_oracle,
)

QUERIES = st.lists(st.sampled_from(["tea", "green", "linz", "train", "東京", "c++", "absent", "piano"]), max_size=5)


@pytest.mark.requirement("X-005", "D-002")
@settings(max_examples=200)
@given(documents_strategy(), QUERIES)
def test_lexical_is_bm25_plus_per_tenant(documents: list[Document], query: list[str]) -> None:
    index = folded(*documents)
    assert by_code(index, index.lexical(query)) == pytest.approx(lexical_oracle(documents, query), rel=1e-5)


@pytest.mark.requirement("D-002")
def test_delta_goes_only_where_the_term_occurs() -> None:
    index = folded(event(1, "green tea"), event(2, "coffee"), memory(1, "tea"), event(3, ""))
    scores = by_code(index, index.lexical(["tea"]))
    assert [code for code, score in scores.items() if score] == [event(1, "").code, memory(1, "").code]
    assert not index.lexical(["absent"]).any()
    assert not index.lexical([]).any()


@pytest.mark.requirement("D-003")
def test_the_oldest_of_many_documents_is_found() -> None:
    index = ResidentIndex(model_id=MODEL)
    texts = ["piano lessons", *(f"green tea {number}" for number in range(2 * TAIL_ROWS))]
    for start in range(0, len(texts), 100):
        rows = [event(number + 1, texts[number]) for number in range(start, min(start + 100, len(texts)))]
        index.fold(Delta(heads=IndexPosition(start + 100), documents=tuple(rows)))
    assert np.flatnonzero(index.lexical(["piano"])).tolist() == [0]
    assert np.count_nonzero(index.lexical(["tea"])) == 2 * TAIL_ROWS


@settings(max_examples=200)
@given(documents_strategy(), QUERIES, st.sampled_from([1, 4, 1 << 16]))
def test_a_session_scores_as_one_document(documents: list[Document], query: list[str], cells: int) -> None:
    index = folded(*documents)
    with mock.patch("credenda.index.snapshot._TABLE", cells):  # of many sessions few terms at a time are looked at
        found = by_code(index, index.by_session(query))
    assert found == pytest.approx(session_oracle(documents, query), rel=1e-5)


@settings(max_examples=200)
@given(documents_strategy(), st.integers(0, 1_000))
def test_context_spreads_to_the_turns_before_and_after(documents: list[Document], seed: int) -> None:
    index = folded(*documents)
    scores = np.random.default_rng(seed).random(len(index)).astype(np.float32)
    scores[index.state == STATE_GONE] = 0
    before = scores.copy()
    spread = by_code(index, index.spread(scores))
    assert spread == pytest.approx(spread_oracle(documents, by_code(index, scores)), rel=1e-5, abs=1e-6)
    assert np.array_equal(scores, before)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(0, 199), unique=True, max_size=20), st.integers(1, 40), st.integers(0, 1_000))
def test_a_few_scores_spread_as_they_do_among_many(at: list[int], turns: int, seed: int) -> None:
    said = [event(row + 1, "", session=f"s{row // turns}" if row % 7 else "") for row in range(200)]
    index = folded(*said)
    scores = np.zeros(len(index), np.float32)
    scores[at] = np.random.default_rng(seed).random(len(at)).astype(np.float32)
    expected = spread_oracle(said, by_code(index, scores))
    spread = index.spread(scores)
    assert by_code(index, spread) == pytest.approx(expected, rel=1e-5, abs=1e-6)
    assert np.array_equal(index.spread_few(scores, np.unique(at).astype(np.int64)), spread)


@settings(max_examples=200, deadline=None)
@given(documents_strategy(), st.integers(0, 1_000), st.sampled_from([0, 400]))
def test_some_turns_also_gain_from_the_turn_before_the_previous_one(
    documents: list[Document], seed: int, padded: int
) -> None:
    padding = [event(row + 1_000, "", session="far") for row in range(padded)]
    said = [*documents, *padding]
    index = folded(*said)
    draw = np.random.default_rng(seed)
    scores = draw.random(len(index)).astype(np.float32)
    scores[(index.state == STATE_GONE) | (index.codes >= event(1_000, "").code) & ~index.is_memory] = 0
    lengths = draw.integers(0, 20, len(index), np.uint16)
    second = dict(zip(index.codes.tolist(), np.where(lengths < 9, 0.4, 0.0).tolist(), strict=True))
    expected = spread_oracle(said, by_code(index, scores), second=second)
    found = by_code(index, index.spread(scores, second=SkipBoost(0.4, lengths, 9)))
    assert found == pytest.approx(expected, rel=1e-5, abs=1e-6)


def test_spread_follows_the_order_of_events_even_when_they_come_late() -> None:
    index = folded(event(1, "tea"), event(5, "train"), event(9, "dog"))
    index.fold(Delta(heads=IndexPosition(9), documents=(event(3, "late"), event(4, "piano", session="other"))))
    spread = by_code(index, index.spread(index.lexical(["late"]), back=0.5, ahead=0.25))
    late = spread[event(3, "").code]
    assert spread[event(5, "").code] == pytest.approx(late * 0.5)
    assert spread[event(1, "").code] == pytest.approx(late * 0.25)
    assert spread[event(9, "").code] == spread[event(4, "").code] == 0


def test_passages_of_one_event_are_one_turn() -> None:
    index = folded(event(1, "tea"), event(2, "linz", part=0), event(2, "train", part=1), event(3, "dog"))
    spread = by_code(index, index.spread(index.lexical(["train"]), back=0.5, ahead=0.3))
    train = spread[event(2, "", part=1).code]
    assert spread[event(2, "", part=0).code] == 0
    assert spread[event(1, "").code] == pytest.approx(train * 0.3)
    assert spread[event(3, "").code] == pytest.approx(train * 0.5)


def test_events_outside_any_session_have_no_neighbours() -> None:
    index = folded(event(1, "tea", session=""), event(2, "train", session=""), memory(1, "tea"))
    assert index.session.tolist() == [-1, -1, -1]
    scores = index.lexical(["tea"])
    assert np.array_equal(index.spread(scores), scores)
    assert not index.by_session(["tea"]).any()


def test_a_deleted_turn_leaves_its_neighbours_side_by_side() -> None:
    index = folded(event(1, "tea"), event(2, "secret piano"), event(3, "dog"))
    index.fold(Delta(heads=IndexPosition(3, 1), states=((event(2, "").code, DocumentState.GONE),)))
    assert not index.lexical(["piano"]).any()
    assert index.length.tolist() == [1, 0, 1]
    spread = by_code(index, index.spread(index.lexical(["tea"])))
    assert spread[event(3, "").code] == pytest.approx(0.5 * spread[event(1, "").code])


def test_a_word_said_often_is_counted_to_255() -> None:
    index = folded(event(1, "tea " * 300), event(2, "tea"))
    assert by_code(index, index.lexical(["tea"])) == pytest.approx(
        lexical_oracle([event(1, "tea " * 300), event(2, "tea")], ["tea"]), rel=1e-5
    )


def test_another_tenants_words_do_not_count() -> None:
    alone = folded(event(1, "green tea"), event(2, "coffee"))
    scores = alone.lexical(["tea"]).tolist()
    folded(*(event(number, "tea") for number in range(1, 50)))
    assert alone.lexical(["tea"]).tolist() == scores


def test_terms_have_the_same_names_in_every_process() -> None:
    assert hash_terms(["tea", "東京"]).tolist() == [10431608578837538234, 7654015984774187709]


@given(st.lists(st.lists(st.sampled_from(WORDS), max_size=5), max_size=8), st.data())
def test_merging_runs_equals_building_at_once(texts: list[list[str]], data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(texts)))
    rows = list(range(len(texts)))
    merged = InvertedLists.build(rows[:cut], texts[:cut]).merged(InvertedLists.build(rows[cut:], texts[cut:]))
    whole = InvertedLists.build(rows, texts)
    for name in ("terms", "offsets", "docs", "tf"):
        assert np.array_equal(getattr(merged, name), getattr(whole, name)), name
    gone = np.array(data.draw(st.lists(st.booleans(), min_size=len(texts), max_size=len(texts))), np.bool_)
    kept = [[] if gone[row] else text for row, text in enumerate(texts)]
    left = whole.without(gone)
    for name in ("terms", "offsets", "docs", "tf"):
        assert np.array_equal(getattr(left, name), getattr(InvertedLists.build(rows, kept), name)), name


def test_code_zero_is_a_document_like_any_other() -> None:
    document = event(0, "tea")
    assert document.code == pack_code(0, memory=False)
    assert folded(document).row_of(document.code) == 0
