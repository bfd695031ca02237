"""The log of changes, the evidence beneath memories, contests and tombstones."""

from dataclasses import replace

import pytest

from credenda.errors import NotFound
from credenda.ids import IdKind, format_id
from credenda.model.change import Actor, ChangeKind, ContestState
from credenda.storage.store import ChangeFilter, Store, Tombstone

from .build import ANA, MAY_8_2023_US, add, because, contested, held, logged, put, said, see


def test_a_change_comes_back_with_the_fields_that_moved(store: Store) -> None:
    (memory_id,) = add(store, ANA, held("Ana likes tea."))
    filed = logged(
        ChangeKind.SET_STATUS,
        memory_id,
        actor=Actor.SCHEDULE,
        reason="nobody asked for a year",
        cause="j7-abcde1",
        before={"status": "active"},
        after={"status": "archived", "tags": ["old"]},
    )
    (change_id,) = put(store, ANA, filed)
    changes = see(store, ANA, lambda reader: reader.changes(ChangeFilter(kinds=frozenset({ChangeKind.SET_STATUS}))))
    assert changes == [replace(filed, id=change_id)]


@pytest.fixture
def log(store: Store) -> tuple[Store, list[str]]:
    """Changes 1 and 2 add two memories; 3 to 6 move them; 7 concerns none."""
    ids = add(store, ANA, held("Zero."), held("One."))
    put(
        store,
        ANA,
        logged(ChangeKind.PIN, ids[0], cause="e1"),
        logged(ChangeKind.CONFIRM, ids[1], cause="e1"),
        logged(ChangeKind.CONFIRM, ids[0], cause="e2"),
        logged(ChangeKind.FORGET, ids[0]),
        logged(ChangeKind.DELETE, cause="e2"),
    )
    return store, ids


@pytest.mark.parametrize(
    ("of", "wanted", "numbers"),
    [
        (None, ChangeFilter(), "1234567"),
        ((0,), ChangeFilter(), "1356"),
        ((1,), ChangeFilter(), "24"),
        (None, ChangeFilter(cause="e1"), "34"),
        ((0,), ChangeFilter(cause="e1"), "3"),
        (None, ChangeFilter(kinds=frozenset({ChangeKind.ADD, ChangeKind.PIN})), "123"),
        ((0,), ChangeFilter(kinds=frozenset({ChangeKind.CONFIRM})), "5"),
        (None, ChangeFilter(kinds=frozenset()), ""),
        (None, ChangeFilter(after=4), "567"),
        ((0,), ChangeFilter(after=4, limit=1), "5"),
        (None, ChangeFilter(limit=2), "12"),
        ((1, 0), ChangeFilter(), "123456"),
        ((1, 0), ChangeFilter(after=2, limit=3), "345"),
        ((), ChangeFilter(), ""),
    ],
)
def test_a_filter_names_changes_oldest_first(
    log: tuple[Store, list[str]], of: tuple[int, ...] | None, wanted: ChangeFilter, numbers: str
) -> None:
    store, ids = log
    wanted = replace(wanted, memory_ids=None if of is None else tuple(ids[one] for one in of))
    changes = see(store, ANA, lambda reader: reader.changes(wanted))
    assert "".join(change.id[1] for change in changes) == numbers


def test_filing_the_same_evidence_twice_does_nothing(store: Store) -> None:
    (event_id,) = put(store, ANA, said("I like tea."))
    (memory_id,) = add(store, ANA, held("Ana likes tea."))
    piece = because(memory_id, event_id)
    assert put(store, ANA, piece, piece) == ["", ""]
    put(store, ANA, piece)
    assert see(store, ANA, lambda reader: reader.evidence(memory_ids=[memory_id])) == [piece]


def test_evidence_is_found_from_both_ends_in_order_of_event_and_span(store: Store) -> None:
    events = put(store, ANA, said("I like tea, and cake."), said("Tea and cake it is."))
    tea, cake = add(store, ANA, held("Ana likes tea."), held("Ana likes cake."))
    late, early = because(tea, events[1], (0, 3)), because(tea, events[0], (7, 10))
    other, again = because(cake, events[0], (12, 20)), because(tea, events[0], (7, 10), b"d" * 16)
    put(store, ANA, late, other, early, again)

    def found(memory_ids: list[str], event_ids: list[str]) -> list[int]:
        pieces = see(store, ANA, lambda reader: reader.evidence(memory_ids=memory_ids, event_ids=event_ids))
        assert len(set(pieces)) == len(pieces)
        return [piece.span.start for piece in pieces]

    assert found([tea], []) == [7, 7, 0]
    assert found([], [events[0]]) == [7, 7, 12]
    assert found([tea, cake], []) == [7, 7, 12, 0]
    assert found([cake], [events[0], events[1]]) == [7, 7, 12, 0]
    assert found([], []) == []


def test_a_contest_is_filed_replaced_and_found(store: Store) -> None:
    ids = add(store, ANA, held("Morning."), held("Afternoon."))
    first, second, third = put(store, ANA, *(contested(*ids, attribute=name) for name in ("a", "b", "c")))
    resolved = contested(
        *ids,
        id=second,
        attribute="b",
        state=ContestState.RESOLVED,
        scope="work",
        resolved_us=MAY_8_2023_US + 5,
        resolution="both",
        scopes={"morning": "office", "afternoon": "default"},
    )
    assert put(store, ANA, resolved) == [second]
    assert [case.id for case in see(store, ANA, lambda reader: reader.contests())] == [third, first, second]
    assert see(store, ANA, lambda reader: reader.contests(id=second)) == [resolved]
    assert see(store, ANA, lambda reader: reader.contests(state=ContestState.RESOLVED)) == [resolved]
    assert len(see(store, ANA, lambda reader: reader.contests(state=ContestState.OPEN))) == 2
    assert see(store, ANA, lambda reader: reader.contests(state=ContestState.OPEN, id=second)) == []
    assert [case.id for case in see(store, ANA, lambda reader: reader.contests(pair=("user", "c")))] == [third]
    still_open = see(store, ANA, lambda reader: reader.contests(pair=("user", "b"), state=ContestState.OPEN))
    assert still_open == []
    assert see(store, ANA, lambda reader: reader.contests(pair=("user", "d"))) == []
    assert see(store, ANA, lambda reader: reader.counts().open_contests) == 2


def test_a_contest_that_never_was_cannot_be_replaced(store: Store) -> None:
    (memory_id,) = add(store, ANA, held("Morning."))
    never = format_id(IdKind.CONTEST, 5, memory_id.rpartition("-")[2])
    with pytest.raises(NotFound):
        put(store, ANA, contested(memory_id, id=never))


def test_tombstones_are_recognised_among_other_hashes(store: Store) -> None:
    stones = [Tombstone(digest=bytes([n]) * 32, kind="text", normaliser=1, created_us=5) for n in (1, 2, 200)]
    assert put(store, ANA, *stones, stones[0]) == [""] * 4
    asked = [bytes([n]) * 32 for n in (2, 3, 200)]
    assert see(store, ANA, lambda reader: reader.tombstoned(asked)) == {asked[0], asked[2]}
    assert see(store, ANA, lambda reader: reader.tombstoned([])) == set()
    assert see(store, ANA, lambda reader: reader.counts().tombstones) == 3


def test_the_tenant_says_whether_it_has_tombstones(store: Store) -> None:
    put(store, ANA, said("One."))
    assert not see(store, ANA, lambda reader: reader.tenant.has_tombstones)
    put(store, ANA, Tombstone(digest=b"t" * 32, kind="value", normaliser=1, created_us=5))
    assert see(store, ANA, lambda reader: reader.tenant.has_tombstones)
