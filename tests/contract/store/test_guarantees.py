"""What callers rely on: serial units, dense numbers in commit order, and readers that see all up to their heads."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event

import pytest

from credenda.errors import Conflict
from credenda.ids import IdKind, parse_serial
from credenda.model.change import ChangeKind
from credenda.storage.store import (
    ChangeFilter,
    EventFilter,
    IndexPosition,
    Job,
    Reader,
    Redaction,
    Store,
    Watermark,
    Writer,
    pack_code,
)
from tests.waiting import PATIENCE_SECONDS

from .build import ANA, BEN, add, because, current, ended, followed, held, logged, put, said, see, vector
from .conftest import StoreFactory

ROUNDS = 40
COUNT = "counted"

COUNT_UP = """
import sys
from credenda.model.event import NewEvent, Role
from credenda.bootstrap import open_store
from credenda.storage.store import Watermark
store = open_store(sys.argv[1])
print("ready", flush=True)
sys.stdin.readline()
for turn in range(int(sys.argv[2])):
    def work(writer):
        count = writer.duties.watermark("counted") or 0
        writer.put(NewEvent(text=str(count), role=Role.USER, speaker="user", occurred_us=1))
        writer.put(Watermark(name="counted", value=count + 1))
    store.commit("ana", work)
store.close()
"""


def count_up(writer: Writer) -> None:
    """Read a number, say it, and file the next one: two units that overlapped would say a number twice."""
    count = writer.duties.watermark(COUNT) or 0
    writer.put(said(str(count)))
    writer.put(Watermark(name=COUNT, value=count + 1))


def counted(store: Store, user_id: str = ANA) -> list[str]:
    return [event.text for event in see(store, user_id, lambda reader: reader.find_events(EventFilter()))]


def test_units_of_a_tenant_are_serial_among_threads_and_stores(store: Store, store_factory: StoreFactory) -> None:
    stores = [store, store_factory()]
    start = Barrier(4)

    def run(thread: int) -> None:
        start.wait(timeout=PATIENCE_SECONDS)
        for _ in range(ROUNDS):
            stores[thread % 2].commit(ANA, count_up)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(run, range(4)))
    assert counted(store) == [str(number) for number in range(4 * ROUNDS)]


def counting_process(store: Store) -> subprocess.Popen[str]:
    path = getattr(store, "path", None)
    if not isinstance(path, str):
        pytest.fail("this backend needs its own way to be opened by a second process")
    command = [sys.executable, "-c", COUNT_UP, path, str(ROUNDS)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def test_units_of_a_tenant_are_serial_among_processes(store: Store) -> None:
    processes = [counting_process(store) for _ in range(2)]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    for _ in range(ROUNDS):
        store.commit(ANA, count_up)
    for process in processes:
        process.communicate(timeout=PATIENCE_SECONDS)
        assert process.returncode == 0
    assert counted(store) == [str(number) for number in range(3 * ROUNDS)]
    assert store.check(ANA) == []


def test_a_unit_sees_all_that_was_committed_while_it_waited(store: Store, store_factory: StoreFactory) -> None:
    """The second unit begins when the first has ended, and reads what it filed."""
    begun, go_on = Event(), Event()
    other = store_factory()

    def first(writer: Writer) -> None:
        begun.set()
        assert go_on.wait(timeout=PATIENCE_SECONDS), "nobody let it go on"
        writer.put(said("First."))

    with ThreadPoolExecutor(2) as pool:
        leading = pool.submit(store.commit, ANA, first)
        assert begun.wait(timeout=PATIENCE_SECONDS), "the other call has not begun"
        following = pool.submit(other.commit, ANA, lambda writer: writer.counts().events)
        go_on.set()
        leading.result(timeout=PATIENCE_SECONDS)
        assert following.result(timeout=PATIENCE_SECONDS) == 1


def one_of_each(writer: Writer, text: str) -> dict[IdKind, int]:
    """File a row of every kind that is numbered, and return the numbers they got."""
    event_id, memory_id = writer.put(said(text)), writer.put(held(text))
    change_id = writer.put(logged(ChangeKind.ADD, memory_id, cause=event_id))
    job_id = writer.put(Job(kind="extract"))
    ids = {IdKind.EVENT: event_id, IdKind.MEMORY: memory_id, IdKind.CHANGE: change_id, IdKind.JOB: job_id}
    return {kind: parse_serial(id_) for kind, id_ in ids.items()}


def test_numbers_of_each_kind_are_dense_and_follow_the_order_of_commits(
    store: Store, store_factory: StoreFactory
) -> None:
    stores = [store, store_factory()]
    start = Barrier(4)
    log: list[dict[IdKind, int]] = []

    def run(thread: int) -> None:
        start.wait(timeout=PATIENCE_SECONDS)
        for turn in range(10):

            def work(writer: Writer, turn: int = turn) -> None:
                numbers = one_of_each(writer, f"{thread}.{turn}")
                if turn % 3 == 2:
                    raise ZeroDivisionError  # takes no number with it
                log.append(numbers)  # units are serial, so this is the order of commits

            if turn % 3 == 2:
                with pytest.raises(ZeroDivisionError):
                    stores[thread % 2].commit(ANA, work)
            else:
                stores[thread % 2].commit(ANA, work)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(run, range(4)))
    for kind in (IdKind.EVENT, IdKind.MEMORY, IdKind.CHANGE, IdKind.JOB):
        assert [numbers[kind] for numbers in log] == list(range(1, len(log) + 1)), kind


def test_tenants_are_numbered_apart(store: Store) -> None:
    for _ in range(2):
        store.commit(ANA, lambda writer: one_of_each(writer, "Ana."))
    numbers = store.commit(BEN, lambda writer: one_of_each(writer, "Ben."))
    assert set(numbers.values()) == {1}


def heads(reader: Reader) -> IndexPosition:
    return reader.duties.heads


def whole_view(reader: Reader) -> tuple[int, int, int]:
    """Give the highest event, change and vector that a view shows, and fail where one below is missing."""
    events = [parse_serial(event.id) for event in reader.find_events(EventFilter())]
    changes = [parse_serial(change.id) for change in reader.changes(ChangeFilter())]
    codes = [pack_code(number, memory=False) for number in events]
    vectors = reader.vectors(codes, "tiny")
    assert events == list(range(1, len(events) + 1))
    assert changes == list(range(1, len(changes) + 1))
    assert [item.code for item in vectors] == codes
    return len(events), len(changes), len(vectors)


def test_a_reader_sees_all_up_to_its_heads_and_nothing_above(store: Store, store_factory: StoreFactory) -> None:
    """Each unit files an event, a change and a vector: a view shows the three of a unit, or none of them."""
    other = store_factory()
    done = Event()

    def write() -> None:
        try:
            for turn in range(60):

                def work(writer: Writer, turn: int = turn) -> None:
                    number = parse_serial(writer.put(said(f"Turn {turn}.")))
                    writer.put(logged(ChangeKind.LINK))
                    writer.put(vector(pack_code(number, memory=False)))

                store.commit(ANA, work)
        finally:
            done.set()

    def read(own: Store) -> int:
        last, looks = (0, 0, 0), 0
        while not done.is_set() or not looks:
            with own.reader(ANA) as reader:
                given = heads(reader)
                seen = whole_view(reader)
                assert seen == (given.event, given.change, given.vector)
                assert heads(reader) == given
            assert len(set(seen)) == 1
            assert seen >= last
            last, looks = seen, looks + 1
        return looks

    with ThreadPoolExecutor(3) as pool:
        readers = [pool.submit(read, own) for own in (store, other)]
        pool.submit(write).result(timeout=PATIENCE_SECONDS)
        assert all(reader.result(timeout=PATIENCE_SECONDS) for reader in readers)
    assert see(other, ANA, heads) == IndexPosition(60, 60, 60)


def test_nothing_of_a_unit_under_way_is_seen(store: Store, store_factory: StoreFactory) -> None:
    put(store, ANA, said("One."))
    other = store_factory()
    with ThreadPoolExecutor(1) as pool:

        def work(writer: Writer) -> tuple[IndexPosition, IndexPosition]:
            one_of_each(writer, "Two.")
            return heads(writer), pool.submit(see, other, ANA, heads).result(timeout=PATIENCE_SECONDS)

        inside, outside = store.commit(ANA, work)
    assert (inside, outside) == (IndexPosition(2, 1, 0), IndexPosition(1, 0, 0))
    assert see(other, ANA, heads) == inside


def test_a_vector_filed_again_is_above_every_head_before(store: Store) -> None:
    code = pack_code(1, memory=False)
    put(store, ANA, said("One."), vector(code), vector(code))
    before = see(store, ANA, heads)
    put(store, ANA, vector(code))
    assert see(store, ANA, heads).vector > before.vector


def test_two_versions_that_follow_the_same_one_conflict_and_the_second_unit_is_undone(store: Store) -> None:
    (memory_id,) = add(store, ANA, held("I like tea."))
    memory = current(store, ANA, memory_id)
    put(store, ANA, followed(memory, text="I like coffee."))
    with pytest.raises(Conflict):
        put(store, ANA, said("Never kept."), ended(memory))
    assert current(store, ANA, memory_id).text == "I like coffee."
    assert counted(store) == []


def test_what_is_keyed_by_content_does_nothing_when_it_is_filed_again(store: Store) -> None:
    (event_id,) = put(store, ANA, said("One."))
    (memory_id,) = add(store, ANA, held("One."))
    for _ in range(2):
        put(store, ANA, because(memory_id, event_id))
    assert len(see(store, ANA, lambda reader: reader.evidence(event_ids=[event_id]))) == 1


def test_readers_of_a_growing_tenant_open_on_the_last_commit_of_any_store(
    store: Store, store_factory: StoreFactory
) -> None:
    other = store_factory()
    for turn in range(5):
        writing, reading = (store, other) if turn % 2 else (other, store)
        put(writing, ANA, said(f"Turn {turn}."))
        assert see(reading, ANA, heads).event == turn + 1


def lineage(store: Store, heads: IndexPosition, user_id: str = ANA) -> bytes:
    return see(store, user_id, lambda reader: reader.duties.lineage(heads))


def test_the_lineage_of_a_position_stays_when_rows_follow_or_lose_their_words(store: Store) -> None:
    (first,) = put(store, ANA, said("I live in Linz."))
    put(store, ANA, said("I like tea."))
    heads = see(store, ANA, lambda reader: reader.duties.heads)
    before = lineage(store, heads)
    put(store, ANA, said("I like trains."))
    put(store, ANA, Redaction(id=first, at_us=5))
    assert lineage(store, heads) == before
    ends = {lineage(store, IndexPosition(event=event)) for event in range(6)}
    assert len(ends) == 4  # those of three events, and one for no event
    assert lineage(store, heads, BEN) != before


def test_the_lineage_of_every_position_is_another_after_the_indexes_are_renewed(store: Store) -> None:
    put(store, ANA, said("I live in Linz."))
    put(store, BEN, said("I live in Graz."))
    heads = IndexPosition(event=1)
    before, of_ben = lineage(store, heads), lineage(store, heads, BEN)
    store.renew_indexes(ANA)
    assert lineage(store, heads) != before
    assert lineage(store, heads, BEN) == of_ben
