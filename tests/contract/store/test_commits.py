"""Units of work: durable when acknowledged, undone alone when they fail, seen whole or not at all."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event

import pytest

from credenda.errors import Unavailable
from credenda.storage.store import EventFilter, MemoryFilter, Store, Writer
from tests.waiting import PATIENCE_SECONDS

from .build import ANA, BEN, add, held, put, said, see, texts
from .conftest import StoreFactory


def events(store: Store, user_id: str = ANA) -> list[str]:
    return texts(see(store, user_id, lambda reader: reader.find_events(EventFilter())))


def test_a_unit_sees_its_own_writes_and_returns_its_result(store: Store) -> None:
    def work(writer: Writer) -> tuple[str, list[str], int]:
        (event_id,) = (writer.put(said("One.")),)
        return event_id, texts(writer.events([event_id])), writer.counts().events

    event_id, seen, count = store.commit(ANA, work)
    assert (seen, count) == (["One."], 1)
    assert events(store) == ["One."]
    assert event_id.startswith("e1-")


@pytest.mark.parametrize("error", [ValueError("no"), KeyError("no"), Unavailable("no")])
def test_a_unit_that_raises_leaves_nothing_behind(store: Store, error: Exception) -> None:
    put(store, ANA, said("Before."))

    def work(writer: Writer) -> None:
        writer.put(said("Never was."))
        writer.put(held("Never was."))
        raise error

    with pytest.raises(type(error)) as raised:
        store.commit(ANA, work)
    assert raised.value is error
    put(store, ANA, said("After."))
    assert events(store) == ["Before.", "After."]
    assert see(store, ANA, lambda reader: reader.find(MemoryFilter())) == []
    assert see(store, ANA, lambda reader: reader.nominate(["never"], 10)) == []
    assert store.check(ANA) == []


def test_a_failed_first_unit_leaves_no_tenant(store: Store) -> None:
    with pytest.raises(ZeroDivisionError):
        store.commit(ANA, lambda writer: (writer.put(said("Never was.")), 1 // 0))
    assert see(store, ANA, lambda reader: reader.tenant.tag) == ""


def test_a_unit_that_raises_undoes_only_itself_among_others(store: Store) -> None:
    """While the first unit holds the commit, the others gather and share the next one."""
    held_open, go_on = Event(), Event()
    waiting = Barrier(9)

    def first(writer: Writer) -> None:
        writer.put(said("First."))
        held_open.set()
        assert go_on.wait(timeout=PATIENCE_SECONDS), "nobody let it go on"

    def later(turn: int) -> None:
        waiting.wait(timeout=PATIENCE_SECONDS)
        if turn % 2:
            with pytest.raises(ZeroDivisionError):
                store.commit(ANA, lambda writer: (writer.put(said(f"Odd {turn}.")), 1 // 0))
        else:
            put(store, ANA, said(f"Even {turn}."))

    with ThreadPoolExecutor(9) as pool:
        leader = pool.submit(store.commit, ANA, first)
        assert held_open.wait(timeout=PATIENCE_SECONDS), "the first unit has not begun"
        others = [pool.submit(later, turn) for turn in range(8)]
        waiting.wait(timeout=PATIENCE_SECONDS)
        go_on.set()
        for future in (leader, *others):
            future.result(timeout=PATIENCE_SECONDS)
    kept = events(store)
    assert kept[0] == "First."
    assert sorted(kept[1:]) == [f"Even {turn}." for turn in (0, 2, 4, 6)]
    assert store.check(ANA) == []


def test_what_is_committed_is_seen_by_another_store(store: Store, store_factory: StoreFactory) -> None:
    other = store_factory()
    for turn in range(3):
        put(store, ANA, said(f"Turn {turn}."))
        assert events(other)[-1] == f"Turn {turn}."
    add(other, ANA, held("Ana likes tea."))
    assert texts(see(store, ANA, lambda reader: reader.find(MemoryFilter()))) == ["Ana likes tea."]


def test_what_is_committed_is_there_when_opened_again(store: Store, store_factory: StoreFactory) -> None:
    put(store, ANA, said("One."))
    store.close()
    assert events(store_factory()) == ["One."]


def test_a_reader_keeps_its_moment_while_others_write(store: Store, store_factory: StoreFactory) -> None:
    put(store, ANA, said("One."))
    with store.reader(ANA) as reader:
        assert reader.counts().events == 1
        put(store_factory(), ANA, said("Two."))
        put(store, ANA, said("Three."))
        assert reader.counts().events == 1
        assert texts(reader.find_events(EventFilter())) == ["One."]
    assert len(events(store)) == 3


def test_readers_do_not_wait_for_a_unit_that_is_under_way(store: Store) -> None:
    put(store, ANA, said("One."))
    with ThreadPoolExecutor(1) as pool:

        def work(writer: Writer) -> list[str]:
            writer.put(said("Two."))
            return pool.submit(events, store).result(timeout=PATIENCE_SECONDS)

        assert store.commit(ANA, work) == ["One."]
    assert len(events(store)) == 2


def test_many_threads_read_and_write_without_loss(store: Store, store_factory: StoreFactory) -> None:
    stores = [store, store_factory()]
    start = Barrier(8)

    def run(thread: int) -> None:
        own = stores[thread % 2]
        user_id = ANA if thread < 4 else BEN
        start.wait(timeout=PATIENCE_SECONDS)
        for turn in range(10):
            (event_id,) = put(own, user_id, said(f"{thread}.{turn}"))
            assert see(own, user_id, lambda reader, id_=event_id: len(reader.events([id_]))) == 1

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(run, range(8)))
    for user_id, threads in ((ANA, range(4)), (BEN, range(4, 8))):
        assert sorted(events(store, user_id)) == sorted(f"{thread}.{turn}" for thread in threads for turn in range(10))
        assert store.check(user_id) == []


USES: dict[str, Callable[[Store], object]] = {
    "commit": lambda store: put(store, ANA, said("One.")),
    "reader": lambda store: see(store, ANA, lambda reader: reader.counts()),
    "check": lambda store: store.check(ANA),
}


@pytest.mark.parametrize("use", list(USES))
def test_a_closed_store_is_unavailable_and_closing_twice_does_nothing(store: Store, use: str) -> None:
    put(store, ANA, said("Before."))
    store.close()
    store.close()
    with pytest.raises(Unavailable):
        USES[use](store)


def test_closing_waits_for_the_unit_under_way(store: Store, store_factory: StoreFactory) -> None:
    begun, go_on = Event(), Event()

    def work(writer: Writer) -> None:
        begun.set()
        assert go_on.wait(timeout=PATIENCE_SECONDS), "nobody let it go on"
        writer.put(said("Kept."))

    with ThreadPoolExecutor(2) as pool:
        unit = pool.submit(store.commit, ANA, work)
        assert begun.wait(timeout=PATIENCE_SECONDS), "the other call has not begun"
        closing = pool.submit(store.close)
        go_on.set()
        unit.result(timeout=PATIENCE_SECONDS)
        closing.result(timeout=PATIENCE_SECONDS)
    assert events(store_factory()) == ["Kept."]
