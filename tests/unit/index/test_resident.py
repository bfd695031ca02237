"""Folding: rows and their columns, in whatever order and however often deltas come, and versions that share memory."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from credenda.errors import Corrupt
from credenda.index.bm25 import TAIL_ROWS, hash_terms
from credenda.index.resident import ResidentIndex
from credenda.index.snapshot import STATE_CURRENT, STATE_HIDDEN, STATE_PAST
from credenda.storage.store import Delta, Document, DocumentState, IndexPosition

from .build import DIMS, MODEL, by_code, documents_strategy, event, folded, inflated, memory, vector


def picture(index: ResidentIndex) -> dict[int, tuple[object, ...]]:
    """Say of every document, by code, all that a search can see."""
    query = np.random.default_rng(0).standard_normal(DIMS).astype(np.float32)
    near = set(index.codes[index.nearest(query, 4)].tolist())
    lexical = index.lexical(["tea", "green", "linz", "東京"])
    spread, session = index.spread(lexical), index.by_session(["tea", "train"])
    names, speakers = (*index.session_names, None), index.speaker_names
    return {
        int(code): (
            int(index.state[row]),
            bool(index.is_memory[row]),
            names[index.session[row]],
            speakers[index.speaker[row]],
            int(index.occurred_us[row]),
            int(index.length[row]),
            bool(index.has_vector[row]),
            code in near,
            float(lexical[row]),
            pytest.approx(float(spread[row]), rel=1e-5),
            pytest.approx(float(session[row]), rel=1e-5),
        )
        for row, code in enumerate(index.codes)
    }


def test_an_empty_index_answers() -> None:
    index = ResidentIndex()
    assert (len(index), index.dims, index.heads, index.nbytes > 0) == (0, 0, IndexPosition(), True)
    assert index.row_of(5) is None
    for scores in (index.lexical(["tea"]), index.by_session(["tea"]), index.spread(index.lexical([]))):
        assert scores.shape == (0,)
        assert scores.dtype == np.float32
    assert index.nearest(np.ones(DIMS, np.float32), 3).tolist() == []
    index.fold(Delta(heads=IndexPosition()))
    assert len(index) == 0


def test_columns_say_what_the_documents_say() -> None:
    index = folded(
        event(7, "green tea", session="a", speaker="Bo"),
        event(7, "with coffee", session="a", speaker="Bo", part=1),
        event(9, "late", session="", state="hidden"),
        memory(2, "piano", state="past"),
        memory(3, "", state="current"),
    )
    assert index.codes.tolist() == sorted(index.codes.tolist())
    assert index.state.tolist() == [STATE_CURRENT, STATE_CURRENT, STATE_HIDDEN, STATE_PAST, STATE_CURRENT]
    assert index.is_memory.tolist() == [False, False, False, True, True]
    assert index.session.tolist() == [0, 0, -1, -1, -1]
    assert index.session_names == ("a",)
    assert [index.speaker_names[number] for number in index.speaker] == ["Bo", "Bo", "Ana", "user", "user"]
    assert index.occurred_us.tolist() == [7_000, 7_000, 9_000, 2_000, 3_000]
    assert index.length.tolist() == [2, 1, 1, 1, 0]
    types = (index.codes, index.state, index.session, index.speaker, index.occurred_us, index.length)
    assert [str(array.dtype) for array in types] == ["int64", "uint8", "int32", "int32", "int64", "uint16"]
    assert [index.row_of(int(code)) for code in index.codes] == list(range(5))
    assert index.row_of(1) is None
    assert index.heads == IndexPosition(1, 1, 1)


@settings(max_examples=150, deadline=None)
@given(documents_strategy(), st.integers(0, 10_000))
def test_any_order_of_folding_gives_the_same_answers(documents: list[Document], seed: int) -> None:
    draw = random.Random(seed)
    vectors = [vector(document.code) for document in documents if draw.random() < 0.7]
    whole = folded(*sorted(documents, key=lambda document: document.code), vectors=vectors)
    parts = [Delta(heads=IndexPosition(1), documents=(document,)) for document in documents]
    parts += [Delta(heads=IndexPosition(0, 0, 1), vectors=(one,)) for one in vectors]
    draw.shuffle(parts)
    index = ResidentIndex(model_id=MODEL)
    for part in parts + parts[: draw.randrange(3)]:
        index.fold(part)
    assert picture(index) == picture(whole)


@settings(max_examples=150, deadline=None)
@given(documents_strategy(), documents_strategy(), st.integers(0, 10_000))
def test_changed_documents_replace_what_was_there(old: list[Document], new: list[Document], seed: int) -> None:
    vectors = [vector(document.code) for document in {**named(old), **named(new)}.values()]
    index = folded(*old)
    index.fold(Delta(heads=IndexPosition(2), documents=tuple(new)))
    index.fold(Delta(heads=IndexPosition(2, 0, 1), vectors=tuple(random.Random(seed).sample(vectors, len(vectors)))))
    final = {**named(old), **named(new)}
    assert picture(index) == picture(folded(*final.values(), vectors=vectors))


def named(documents: list[Document]) -> dict[int, Document]:
    return {document.code: document for document in documents}


@settings(max_examples=150, deadline=None)
@given(documents_strategy(), st.data())
def test_states_move_and_gone_is_for_good(documents: list[Document], data: st.DataObject) -> None:
    index = folded(*documents, vectors=[vector(document.code) for document in documents])
    codes = [document.code for document in documents] + [1 << 40]
    moves = data.draw(st.lists(st.tuples(st.sampled_from(codes), st.sampled_from(list(DocumentState))), max_size=20))
    final = named(documents)
    for code, state in moves:
        index.fold(Delta(heads=IndexPosition(1, 2), states=((code, state),)))
        if code in final and final[code].state is not DocumentState.GONE:
            one = final[code]
            final[code] = Document(
                code=code,
                text=one.text,
                session=one.session,
                speaker=one.speaker,
                occurred_us=one.occurred_us,
                state=state,
            )
    assert picture(index) == picture(folded(*final.values(), vectors=[vector(code) for code in final]))


def test_repeating_a_delta_changes_nothing() -> None:
    delta = Delta(
        heads=IndexPosition(3, 2, 2),
        documents=(event(1, "green tea"), event(2, "train"), memory(1, "tea")),
        states=((event(2, "").code, DocumentState.PAST),),
        vectors=(vector(event(1, "").code), vector(memory(1, "").code)),
    )
    index = ResidentIndex(model_id=MODEL)
    index.fold(delta)
    before = picture(index)
    index.fold(delta)
    index.fold(Delta(heads=IndexPosition(1, 1, 1)))
    assert picture(index) == before
    assert index.heads == IndexPosition(3, 2, 2)


def test_rows_keep_their_numbers() -> None:
    index = folded(memory(5, "tea"), memory(6, "coffee"))
    index.fold(Delta(heads=IndexPosition(2), documents=(event(1, "train"), memory(5, "green tea"))))
    assert [index.row_of(document.code) for document in (memory(5, ""), memory(6, ""), event(1, ""))] == [0, 1, 2]


def test_a_gone_document_leaves_no_trace_in_the_words() -> None:
    index = folded(event(1, "tea"), event(2, "secret piano"), vectors=[vector(event(2, "").code)])
    index.fold(Delta(heads=IndexPosition(2, 1), states=((event(2, "").code, DocumentState.GONE),)))
    assert picture(index) == picture(folded(event(1, "tea"), event(2, "", state="gone")))
    image = inflated(index.to_blobs())
    assert hash_terms(["tea"]).tobytes() in image
    assert hash_terms(["piano"]).tobytes() not in image
    index.fold(Delta(heads=IndexPosition(3, 1), documents=(event(2, "piano again"),)))
    assert by_code(index, index.lexical(["piano"]))[event(2, "").code] > 0


def test_a_fork_is_folded_into_without_touching_what_others_search() -> None:
    first = folded(event(1, "green tea"), memory(1, "tea"), vectors=[vector(memory(1, "").code)])
    seen = picture(first)
    second = first.fork()
    second.fold(Delta(heads=IndexPosition(2, 1), documents=(event(2, "train"), memory(1, "coffee", state="past"))))
    second.fold(Delta(heads=IndexPosition(2, 2), states=((event(1, "").code, DocumentState.GONE),)))
    second.fold(Delta(heads=IndexPosition(2, 2, 5), vectors=(vector(event(2, "").code),)))
    assert picture(first) == seen
    assert picture(second) == picture(
        folded(
            event(1, "", state="gone"),
            event(2, "train"),
            memory(1, "coffee", state="past"),
            vectors=[vector(event(2, "").code)],  # the vector of "tea" would still match the old words
        )
    )


def test_two_forks_of_one_version_do_not_meet() -> None:
    base = folded(event(1, "tea"))
    base.fold(Delta(heads=IndexPosition(2), documents=(event(2, "dog"),)))
    one, other = base.fork(), base.fork()
    one.fold(Delta(heads=IndexPosition(3), documents=(event(3, "green tea"),)))
    other.fold(Delta(heads=IndexPosition(3), documents=(event(4, "train"),)))
    assert picture(one) == picture(folded(event(1, "tea"), event(2, "dog"), event(3, "green tea")))
    assert picture(other) == picture(folded(event(1, "tea"), event(2, "dog"), event(4, "train")))
    assert len(base) == 2


def test_many_small_folds_equal_one_large_one() -> None:
    documents = [event(number, f"tea {number % 7} train {number % 3}") for number in range(1, TAIL_ROWS + 300)]
    index = ResidentIndex(model_id=MODEL)
    for start in range(0, len(documents), 50):
        index = index.fork()
        index.fold(Delta(heads=IndexPosition(start + 50), documents=tuple(documents[start : start + 50])))
    assert picture(index) == picture(folded(*documents))
    assert index.nbytes < 1.5 * folded(*documents).nbytes


def test_vectors_of_another_model_are_left_alone() -> None:
    index = ResidentIndex(model_id="other")
    index.fold(Delta(heads=IndexPosition(1), documents=(event(1, "tea"),), vectors=(vector(event(1, "").code),)))
    assert not index.has_vector.any()
    assert index.dims == 0


@pytest.mark.parametrize("bad", [vector(8192, [1.0, 2.0]), vector(8192, np.ones(DIMS + 1))])
def test_a_vector_of_other_dimensions_is_corrupt(bad: object) -> None:
    index = folded(event(1, "tea"), event(2, "dog"), vectors=[vector(event(1, "").code)])
    with pytest.raises(Corrupt, match="toy-70"):
        index.fork().fold(Delta(heads=IndexPosition(2), vectors=(bad,)))  # pyright: ignore[reportArgumentType]
    assert index.has_vector.tolist() == [True, False]


def test_vectors_that_wait_for_ever_are_dropped() -> None:
    index = folded(event(1, "tea"), vectors=[vector(event(2, "").code)])
    index.drop_waiting()
    index.fold(Delta(heads=IndexPosition(2), documents=(event(2, "dog"),)))
    assert not index.has_vector.any()


def test_both_widths_of_stored_vectors_are_read() -> None:
    values = np.random.default_rng(3).standard_normal((2, DIMS)).astype(np.float32)
    codes = [event(1, "").code, event(2, "").code]
    index = folded(
        event(1, "tea"), event(2, "dog"), vectors=[vector(codes[0], values[0], 32), vector(codes[1], values[1], 16)]
    )
    assert index.nearest(values[0], 1).tolist() == [0]
    assert index.nearest(values[1], 1).tolist() == [1]
