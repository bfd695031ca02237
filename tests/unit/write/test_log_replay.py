"""The log alone rebuilds what is believed: a property over any sequence of decisions."""

from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from credenda.errors import Conflict
from credenda.model.change import (
    Change,
    Confirm,
    Contest,
    ContestState,
    Delete,
    Forget,
    Pin,
    Resolve,
    SetLayer,
    SetStatus,
    Supersede,
)
from credenda.model.memory import Cardinality, Draft, Layer, MemoryType, Relation, Stance, Status
from credenda.storage.sqlite.store import SqliteStore
from credenda.testing import ManualClock

from .build import MEETINGS, START, House, add, believed, draft, folded

words = st.text(alphabet="añ \"'\\\u2028{}", max_size=8)
maybe = st.none() | words.map(lambda text: f"x{text}")
drafts = st.builds(
    Draft,
    text=words.map(lambda text: f"Word {text}"),
    type=st.sampled_from(MemoryType),
    topic=maybe,
    entity=maybe,
    attribute=maybe,
    value=maybe,
    scope=maybe,
    cardinality=st.sampled_from(Cardinality),
    stance=st.sampled_from(Stance),
    confidence=st.floats(0, 1),
    importance=st.floats(0, 1),
    layer=st.sampled_from(Layer),
    valid_from_us=st.none() | st.integers(0, START),
    valid_until_us=st.none() | st.integers(START, 2 * START),
    pinned=st.booleans(),
    provisional=st.booleans(),
    tags=st.lists(words, max_size=2).map(tuple),
    metadata=st.dictionaries(words, st.none() | words | st.integers(), max_size=2),
    expires_us=st.none() | st.integers(START, 2 * START),
)
steps = st.lists(
    st.tuples(st.tuples(st.integers(0, 10), st.integers(0, 50), st.integers(0, 50)), drafts), min_size=1, max_size=25
)


def _decision(house: House, numbers: tuple[int, int, int], held: Draft) -> Change:
    """Choose something to do with what is there; the first thing is always to add."""
    kind, one, other = numbers
    ids = [memory.id for memory in house.all()]
    if not ids or kind < 2:
        return add("one", held)
    first, second = ids[one % len(ids)], ids[other % len(ids)]
    cases = house.see(lambda reader: reader.contests(state=ContestState.OPEN))
    choices: list[Change] = [
        Supersede(
            memory_id=first,
            successor=second if other % 3 else None,
            relation=list(Relation)[one % len(Relation)],
            valid_until_us=START + other,
            reason="r",
        ),
        SetStatus(memory_id=first, status=list(Status)[other % (len(Status) - 1)], reason="r"),
        SetLayer(memory_id=first, layer=list(Layer)[other % len(Layer)], reason="r"),
        Pin(memory_id=first, pinned=bool(other % 2), reason="r"),
        Forget(memory_id=first, reason="r"),
        Delete(memory_id=first, reason="r"),
        Confirm(memory_id=first, support=(), reason="r"),
        Contest(slot=MEETINGS, memory_ids=(first, second), values=("a", "b"), question="?", reason="r"),
    ]
    if cases:
        choices.append(Resolve(contest_id=cases[0].id, resolution="a", scopes={}, keep=(), reason="r"))
    return choices[(kind - 2) % len(choices)]


@given(steps)
@settings(max_examples=25, deadline=None)
def test_folding_the_log_gives_every_belief_as_it_is(story: list[tuple[tuple[int, int, int], Draft]]) -> None:
    with TemporaryDirectory() as folder:
        clock = ManualClock("2026-03-01T09:00:00Z")
        store = SqliteStore(str(Path(folder) / "memory.db"), clock=clock)
        house = House(store, clock)
        for numbers, held in story:
            before = house.log()
            try:
                house.apply(_decision(house, numbers, held))
            except Conflict:
                assert house.log() == before
            clock.advance(timedelta(hours=1))
        expected = folded(house.log())
        found = {memory.id: memory for memory in house.all()}
        assert {name: believed(found[name], list(belief)) for name, belief in expected.items()} == expected
        assert set(found) == set(expected)
        store.close()


def test_the_fold_sees_a_lost_delta(house: House) -> None:
    memory_id = house.add(draft("One"))
    house.apply(Pin(memory_id=memory_id, pinned=True, reason="r"))
    belief = folded(house.log()[:1])[memory_id]
    assert belief != believed(house.memory(memory_id), list(belief))
