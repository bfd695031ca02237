"""What an index still lacks: documents, states and vectors since its heads, batch by batch."""

from collections.abc import Iterator

import pytest

from credenda.model.change import ChangeKind
from credenda.model.event import Role
from credenda.model.memory import Status
from credenda.storage.store import Delta, DocumentState, IndexPosition, Redaction, Snapshot, Store, Vector, pack_code

from .build import ANA, MAY_8_2023_US, add, current, ended, followed, held, logged, put, said, see, vector
from .conftest import StoreFactory

LONG = "\n\n".join(" ".join(f"{name}{turn}" for turn in range(150)) + "." for name in ("alpha", "beta"))


def event_code(place: int, ordinal: int = 0) -> int:
    return pack_code(place, ordinal, memory=False)


def memory_code(place: int) -> int:
    return pack_code(place, memory=True)


def lacking(store: Store, heads: IndexPosition, limit: int = 10_000, model: str | None = "tiny") -> Delta:
    return see(store, ANA, lambda reader: reader.delta(heads, model, limit))


def batches(store: Store, limit: int) -> Iterator[Delta]:
    """Read as an index does, until the heads stand still; the bound ends a delta that never would."""
    heads = IndexPosition()
    for _ in range(100):
        delta = lacking(store, heads, limit)
        if delta.heads == heads:
            return
        yield delta
        heads = delta.heads
    pytest.fail("the heads never stop moving")


def folded(store: Store, limit: int) -> tuple[dict[int, str], dict[int, DocumentState], dict[int, bytes]]:
    """Fold all batches into what an index would hold."""
    words: dict[int, str] = {}
    states: dict[int, DocumentState] = {}
    vectors: dict[int, bytes] = {}
    for delta in batches(store, limit):
        words.update((document.code, document.text) for document in delta.documents)
        states.update((document.code, document.state) for document in delta.documents)
        states.update(delta.states)
        vectors.update((item.code, item.data) for item in delta.vectors)
    gone = {code for code, state in states.items() if state is DocumentState.GONE}
    return (
        {code: text for code, text in words.items() if code not in gone},
        {code: state for code, state in states.items() if code not in gone},
        vectors,
    )


def test_events_and_memories_come_as_they_are_indexed(store: Store) -> None:
    put(store, ANA, said("Hello there.", role=Role.PERSON, speaker="Zoë", session="s1"), said("Hi."))
    add(store, ANA, held("She moved.", entity="Ana", attribute="home_town", value="Linz", valid_from_us=77))
    hello, reply, moved = lacking(store, IndexPosition()).documents
    assert (hello.code, hello.text) == (event_code(1), "[8 May 2023] Zoë: Hello there.")
    assert (hello.session, hello.speaker, hello.occurred_us) == ("s1", "Zoë", MAY_8_2023_US)
    assert (reply.code, reply.text, reply.session) == (event_code(2), "[8 May 2023] Hi.", "")
    assert (moved.code, moved.text) == (memory_code(1), "She moved. (Ana home town Linz)")
    assert (moved.session, moved.occurred_us, moved.state) == ("", 77, DocumentState.CURRENT)


def test_a_long_event_comes_in_passages(store: Store) -> None:
    put(store, ANA, said(LONG))
    documents = lacking(store, IndexPosition()).documents
    assert [document.code for document in documents] == [event_code(1, n) for n in range(len(documents))]
    assert len(documents) > 1
    words = " ".join(document.text.removeprefix("[8 May 2023] ") for document in documents)
    assert words.split() == LONG.split()


def test_nothing_new_leaves_the_heads_where_they_are(store: Store) -> None:
    assert lacking(store, IndexPosition()) == Delta(heads=IndexPosition())
    put(store, ANA, said("One."), vector(event_code(1)))
    add(store, ANA, held("Two."))
    heads = lacking(store, IndexPosition()).heads
    assert heads == IndexPosition(event=1, change=1, vector=1)
    assert lacking(store, heads) == Delta(heads=heads)


def test_only_what_came_after_the_heads_is_read(store: Store) -> None:
    put(store, ANA, said("One."))
    heads = lacking(store, IndexPosition()).heads
    put(store, ANA, said("Two."))
    add(store, ANA, held("Three."))
    assert [document.code for document in lacking(store, heads).documents] == [event_code(2), memory_code(1)]


@pytest.mark.parametrize(
    ("status", "state"),
    [
        (Status.ACTIVE, DocumentState.CURRENT),
        (Status.CHALLENGED, DocumentState.CURRENT),
        (Status.SUPERSEDED, DocumentState.PAST),
        (Status.MERGED, DocumentState.PAST),
        (Status.INVALIDATED, DocumentState.PAST),
        (Status.CANDIDATE, DocumentState.HIDDEN),
        (Status.ARCHIVED, DocumentState.HIDDEN),
        (Status.FORGOTTEN, DocumentState.HIDDEN),
        (Status.DELETED, DocumentState.GONE),
    ],
)
def test_a_change_of_status_moves_the_state_and_sends_no_words(
    store: Store, status: Status, state: DocumentState
) -> None:
    (memory_id,) = add(store, ANA, held("Ana likes tea."))
    heads = lacking(store, IndexPosition()).heads
    put(store, ANA, ended(current(store, ANA, memory_id), status), logged(ChangeKind.SET_STATUS, memory_id))
    delta = lacking(store, heads)
    assert (delta.documents, delta.states) == ((), ((memory_code(1), state),))
    fresh = lacking(store, IndexPosition())
    assert [document.state for document in fresh.documents] == ([] if state is DocumentState.GONE else [state])


@pytest.fixture
def busy(store: Store) -> Store:
    """Seven events, five memories of which one is archived, vectors of two models; two documents are redacted."""
    put(store, ANA, said(LONG), *(said(f"Turn {turn} drinks tea.") for turn in range(6)))
    ids = add(store, ANA, *(held(f"Belief {place} holds.") for place in range(5)))
    put(store, ANA, *(vector(event_code(place), bytes([place] * 4)) for place in range(1, 8)))
    put(store, ANA, *(vector(event_code(place), b"far!", model_id="other") for place in range(1, 5)))
    third = see(store, ANA, lambda reader: reader.events([f"e3-{reader.tenant.tag}"]))[0]
    archived = followed(current(store, ANA, ids[1]), status=Status.ARCHIVED)
    put(store, ANA, archived, logged(ChangeKind.SET_STATUS, ids[1]))
    put(store, ANA, Redaction(id=third.id, at_us=9), logged(ChangeKind.DELETE, cause=third.id))
    deleted = followed(current(store, ANA, ids[4]), status=Status.DELETED)
    put(store, ANA, deleted, Redaction(id=ids[4], at_us=9), logged(ChangeKind.DELETE, ids[4]))
    return store


@pytest.mark.parametrize("limit", [1, 2, 3, 5, 100])
def test_batches_of_any_size_add_up_to_the_same(busy: Store, limit: int) -> None:
    words, states, vectors = folded(busy, limit)
    assert (words, states, vectors) == folded(busy, 10_000)
    assert event_code(3) not in words
    assert memory_code(5) not in words
    assert states[memory_code(2)] is DocumentState.HIDDEN
    assert sorted(vectors) == [event_code(place) for place in (1, 2, 4, 5, 6, 7)]
    assert vectors[event_code(2)] == b"\x02\x02\x02\x02"


def test_each_list_is_in_order_of_code(busy: Store) -> None:
    delta = lacking(busy, IndexPosition())
    for codes in (
        [document.code for document in delta.documents],
        [code for code, _ in delta.states],
        [item.code for item in delta.vectors],
    ):
        assert codes == sorted(set(codes))


def test_a_redacted_event_is_gone_for_an_index_that_had_it(store: Store) -> None:
    (event_id,) = put(store, ANA, said(LONG))
    before = lacking(store, IndexPosition())
    put(store, ANA, Redaction(id=event_id, at_us=9), logged(ChangeKind.DELETE, cause=event_id))
    delta = lacking(store, before.heads)
    assert delta.documents == ()
    assert delta.states == tuple((document.code, DocumentState.GONE) for document in before.documents)


def test_an_event_that_was_redacted_in_part_comes_again(store: Store) -> None:
    (event_id,) = put(store, ANA, said("My code is 1234, keep it."))
    heads = lacking(store, IndexPosition()).heads
    rest = Redaction(id=event_id, at_us=9, text="My code is ····, keep it.")
    put(store, ANA, rest, logged(ChangeKind.DELETE, cause=event_id))
    delta = lacking(store, heads)
    assert [(document.code, document.text) for document in delta.documents] == [
        (event_code(1), "[8 May 2023] My code is ····, keep it.")
    ]
    assert delta.states == ()


def test_vectors_are_read_back_by_code_and_model(store: Store) -> None:
    three = [vector(event_code(place), bytes([place] * 12), scale=0.5, bits=8, dims=4) for place in (1, 2, 3)]
    put(store, ANA, *three, vector(event_code(1), model_id="other"))

    def stored(codes: list[int], model_id: str) -> list[Vector]:
        return see(store, ANA, lambda reader: reader.vectors(codes, model_id))

    assert stored([event_code(3), event_code(1), event_code(9)], "tiny") == [three[0], three[2]]
    assert [item.model_id for item in stored([event_code(1)], "other")] == ["other"]
    assert stored([event_code(1)], "none") == stored([], "tiny") == []
    assert see(store, ANA, lambda reader: reader.counts().vectors) == 4


def test_a_vector_that_is_filed_again_is_replaced_and_comes_again(store: Store) -> None:
    put(store, ANA, vector(event_code(1)), vector(event_code(2)))
    heads = lacking(store, IndexPosition()).heads
    put(store, ANA, vector(event_code(1), b"anew"))
    assert [(item.code, item.data) for item in lacking(store, heads).vectors] == [(event_code(1), b"anew")]
    assert see(store, ANA, lambda reader: reader.counts().vectors) == 2


@pytest.mark.requirement("R-166")
def test_no_vector_is_missed_after_others_were_deleted(store: Store) -> None:
    first, second = put(store, ANA, said("One."), said("Two."))
    put(store, ANA, vector(event_code(1)), vector(event_code(2)))
    heads = lacking(store, IndexPosition()).heads
    for event_id in (first, second):
        put(store, ANA, Redaction(id=event_id, at_us=9), logged(ChangeKind.DELETE, cause=event_id))
    assert see(store, ANA, lambda reader: reader.counts().vectors) == 0
    put(store, ANA, said("Three."), vector(event_code(3)))
    delta = lacking(store, heads)
    assert [item.code for item in delta.vectors] == [event_code(3)]
    assert lacking(store, delta.heads) == Delta(heads=delta.heads)


def test_without_a_model_there_are_no_vectors_and_the_heads_still_arrive(store: Store) -> None:
    put(store, ANA, vector(event_code(1)))
    delta = lacking(store, IndexPosition(), model=None)
    assert (delta.vectors, delta.heads.vector) == ((), 1)


def test_a_snapshot_is_filed_replaced_and_read(store: Store, store_factory: StoreFactory) -> None:
    assert see(store, ANA, lambda reader: reader.snapshot("words")) == ()
    put(store, ANA, Snapshot(name="words", blobs=(b"a" * 1_000, b"", b"\x00c")), Snapshot(name="bits", blobs=(b"x",)))
    assert see(store_factory(), ANA, lambda reader: reader.snapshot("words")) == (b"a" * 1_000, b"", b"\x00c")
    put(store, ANA, Snapshot(name="words", blobs=(b"new",)))
    assert see(store, ANA, lambda reader: reader.snapshot("words")) == (b"new",)
    assert see(store, ANA, lambda reader: reader.snapshot("bits")) == (b"x",)
    put(store, ANA, Snapshot(name="words", blobs=()))
    assert see(store, ANA, lambda reader: reader.snapshot("words")) == ()
