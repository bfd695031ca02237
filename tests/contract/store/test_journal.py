"""Events: numbered, kept word for word, found by filter, and called by ids that mean nothing elsewhere."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from credenda.errors import NotFound
from credenda.ids import IdKind, format_id
from credenda.model.event import Event, Role, Source
from credenda.storage.store import EventFilter, Store
from tests.waiting import PATIENCE_SECONDS

from .build import ANA, BEN, MAY_8_2023_US, SetClock, held, number, put, said, see, texts
from .conftest import StoreFactory

DAY_US = 86_400_000_000


def found(store: Store, wanted: EventFilter) -> list[Event]:
    return see(store, ANA, lambda reader: reader.find_events(wanted))


def test_an_event_comes_back_word_for_word(store: Store, clock: SetClock) -> None:
    clock.us += 5
    filed = said(
        "Zoë said: “naïve”\n\tand 東京 🎉",
        role=Role.PERSON,
        speaker="Zoë",
        source=Source.INTERACTION,
        trust=0.6,
        topic="travel",
        session="s1",
        agent="a1",
        external_id="x-1",
        flags=("instruction_like",),
        tags=("trip", "city"),
        metadata={"page": 3, "deep": {"kept": [1, None]}},
        expires_us=MAY_8_2023_US + DAY_US,
    )
    (event_id,) = put(store, ANA, filed)
    (event,) = see(store, ANA, lambda reader: reader.events([event_id]))
    for name in type(filed).__dataclass_fields__:
        assert getattr(event, name) == getattr(filed, name), name
    assert (event.id, event.recorded_us, event.redacted_us) == (event_id, clock.us, None)


def test_ids_of_one_tenant_are_numbered_from_one_and_end_in_its_tag(store: Store) -> None:
    first, second = put(store, ANA, said("One."), said("Two."))
    tag = see(store, ANA, lambda reader: reader.tenant.tag)
    assert [first, second] == [format_id(IdKind.EVENT, 1, tag), format_id(IdKind.EVENT, 2, tag)]


def test_each_tenant_has_a_tag_and_a_key_of_its_own(store: Store) -> None:
    put(store, ANA, said("One."))
    put(store, BEN, said("One."))
    ana, ben = (see(store, user, lambda reader: reader.tenant) for user in (ANA, BEN))
    assert (ana.user_id, ben.user_id) == (ANA, BEN)
    assert ana.tag != ben.tag
    assert ana.key != ben.key
    assert len(ana.key) == 32


def test_a_tenant_keeps_its_tag_and_key(store: Store, store_factory: StoreFactory) -> None:
    put(store, ANA, said("One."))
    before = see(store, ANA, lambda reader: reader.tenant)
    put(store, ANA, said("Two."))
    assert see(store_factory(), ANA, lambda reader: reader.tenant) == before


def test_events_come_in_order_of_id_and_unknown_numbers_are_left_out(store: Store) -> None:
    first, second = put(store, ANA, said("One."), said("Two."))
    tag = see(store, ANA, lambda reader: reader.tenant.tag)
    unknown = format_id(IdKind.EVENT, 77, tag)
    assert texts(see(store, ANA, lambda reader: reader.events([second, unknown, first, first]))) == ["One.", "Two."]
    assert see(store, ANA, lambda reader: reader.events([])) == []


@pytest.mark.requirement("R-201")
def test_an_id_that_is_foreign_malformed_or_of_another_kind_is_not_found(store: Store) -> None:
    put(store, ANA, said("One."))
    (foreign,) = put(store, BEN, said("One."))
    (memory,) = put(store, ANA, held("A memory."))
    for wrong in (foreign, memory, "", "e1", "1", "e0-abcde1", "e1-abcde1; DROP TABLE events"):
        with pytest.raises(NotFound):
            see(store, ANA, lambda reader, wrong=wrong: reader.events([wrong]))


def test_numbering_has_no_gaps_when_many_threads_write_and_some_units_fail(store: Store) -> None:
    threads, rounds = 8, 12
    start = Barrier(threads)

    def write(thread: int) -> list[str]:
        start.wait(timeout=PATIENCE_SECONDS)
        ids: list[str] = []
        for turn in range(rounds):
            if turn % 4 == 3:
                with pytest.raises(ZeroDivisionError):
                    store.commit(ANA, lambda writer: (writer.put(said("Never was.")), 1 // 0))
            else:
                ids += put(store, ANA, said(f"Turn {turn} of thread {thread}."))
        return ids

    with ThreadPoolExecutor(threads) as pool:
        ids = [id_ for result in pool.map(write, range(threads)) for id_ in result]
    numbers = sorted(number(store, ANA, IdKind.EVENT, id_) for id_ in ids)
    assert numbers == list(range(1, threads * rounds * 3 // 4 + 1))
    assert len(found(store, EventFilter())) == len(numbers)
    assert store.check(ANA) == []


def test_two_stores_on_one_database_share_the_numbering(store: Store, store_factory: StoreFactory) -> None:
    other = store_factory()
    ids = [put(one, ANA, said(f"Turn {turn}."))[0] for turn in range(6) for one in (store, other)]
    assert [number(store, ANA, IdKind.EVENT, id_) for id_ in ids] == list(range(1, 13))
    assert store.check(ANA) == []


@pytest.fixture
def library(store: Store, clock: SetClock) -> Store:
    """Six events, a day apart in both times, in two sessions, topics and sources."""
    for turn in range(6):
        clock.us = MAY_8_2023_US + turn * DAY_US
        odd = turn % 2
        event = said(
            f"Turn {turn}.",
            session=f"s{odd}",
            topic="work" if turn < 3 else "health",
            source=Source.AI if odd else Source.HUMAN,
            occurred_us=MAY_8_2023_US - turn * DAY_US,
            expires_us=MAY_8_2023_US + 10 * DAY_US if turn == 4 else None,
        )
        put(store, ANA, event)
    return store


@pytest.mark.parametrize(
    ("wanted", "turns"),
    [
        (EventFilter(), "012345"),
        (EventFilter(newest_first=True), "543210"),
        (EventFilter(session="s1"), "135"),
        (EventFilter(topic="work"), "012"),
        (EventFilter(source="ai"), "135"),
        (EventFilter(after=2), "2345"),
        (EventFilter(below=3), "01"),
        (EventFilter(after=2, below=5), "23"),
        (EventFilter(limit=2), "01"),
        (EventFilter(limit=0), ""),
        (EventFilter(limit=2, newest_first=True), "54"),
        (EventFilter(below=5, limit=2, newest_first=True), "32"),
        (EventFilter(recorded_before_us=MAY_8_2023_US + 2 * DAY_US), "01"),
        (EventFilter(occurred_before_us=MAY_8_2023_US - 3 * DAY_US), "45"),
        (EventFilter(expires_before_us=MAY_8_2023_US + 11 * DAY_US), "4"),
        (EventFilter(expires_before_us=MAY_8_2023_US + 10 * DAY_US), ""),
        (EventFilter(session="s1", topic="health", source="ai"), "35"),
        (EventFilter(session="S1"), ""),
    ],
)
def test_a_filter_names_events(library: Store, wanted: EventFilter, turns: str) -> None:
    assert "".join(event.text.removeprefix("Turn ")[0] for event in found(library, wanted)) == turns


def test_paging_meets_every_event_once(library: Store) -> None:
    seen: list[str] = []
    after = 0
    while page := found(library, EventFilter(after=after, limit=4)):
        seen += texts(page)
        after = number(library, ANA, IdKind.EVENT, page[-1].id)
    assert seen == [f"Turn {turn}." for turn in range(6)]


def test_every_event_is_chained_to_the_one_before(store: Store) -> None:
    first, second = put(store, ANA, said("Same."), said("Same."))
    events = see(store, ANA, lambda reader: reader.events([first, second]))
    hashes = {event.chain_hash for event in events}
    assert len(hashes) == 2
    assert {len(chained) for chained in hashes} == {32}
    assert events[0].content_hmac == events[1].content_hmac


def test_the_keyed_hash_of_a_text_differs_between_tenants(store: Store) -> None:
    hashes = set[bytes]()
    for user in (ANA, BEN):
        (event_id,) = put(store, user, said("Same."))
        (event,) = see(store, user, lambda reader, event_id=event_id: reader.events([event_id]))
        hashes.add(event.content_hmac)
    assert len(hashes) == 2
