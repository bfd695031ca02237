"""Memories: each version a row, found by id, by slot, by text and by filter, now and as they were held."""

from dataclasses import replace

import pytest

from credenda.errors import Conflict, NotFound
from credenda.ids import IdKind, format_id
from credenda.model.change import ChangeKind
from credenda.model.memory import Cardinality, Layer, Memory, MemoryType, Relation, Stance, Status
from credenda.storage.store import Access, MemoryFilter, Store

from .build import ANA, MAY_8_2023_US, add, current, ended, followed, held, logged, number, put, said, see, texts

SECOND_US = 1_000_000
FULL = held(
    "Ana moved to Linz.",
    type=MemoryType.FACT,
    topic="home",
    entity="Ana",
    attribute="Home town",
    value="Linz",
    scope="weekdays",
    cardinality=Cardinality.SET,
    stance=Stance.REPORTED,
    speaker="Ben",
    confidence=0.7,
    importance=0.9,
    base_importance=0.6,
    layer=Layer.EPISODIC,
    status=Status.CHALLENGED,
    relation=Relation.REFINED,
    contested=True,
    pinned=True,
    provisional=True,
    trust=0.4,
    confirmations=3,
    surprise=0.2,
    emotional_valence=-0.5,
    source_session="s1",
    valid_from_us=MAY_8_2023_US - 5,
    valid_until_us=MAY_8_2023_US + 5,
    expires_us=MAY_8_2023_US + 9,
    last_accessed_us=MAY_8_2023_US + 1,
    access_count=2,
    decay_score=0.8,
    tags=("move",),
    metadata={"seen": {"page": 4}},
)


@pytest.mark.requirement("R-218")
def test_a_memory_comes_back_with_every_field(store: Store) -> None:
    (successor,) = add(store, ANA, held("Ana moved to Graz."))
    filed = replace(FULL, superseded_by=successor)
    (memory_id,) = add(store, ANA, filed)
    assert current(store, ANA, memory_id) == replace(filed, id=memory_id)


@pytest.mark.requirement("R-223", "R-212")
def test_a_bare_memory_is_active_and_neither_ended_nor_replaced(store: Store) -> None:
    (memory_id,) = add(store, ANA, held("Ana likes tea."))
    memory = current(store, ANA, memory_id)
    assert memory == held("Ana likes tea.", id=memory_id)
    assert (memory.status, memory.valid_until_us, memory.superseded_by) == (Status.ACTIVE, None, None)


@pytest.fixture
def history(store: Store) -> tuple[Store, str]:
    """One memory in three versions: active, archived a second later, active again after another."""
    (memory_id,) = add(store, ANA, held("Ana likes tea."))
    second = followed(current(store, ANA, memory_id), status=Status.ARCHIVED)
    third = followed(second, status=Status.ACTIVE, importance=0.9)
    put(store, ANA, second, third)
    return store, memory_id


def test_a_new_version_expires_the_one_before_and_keeps_the_id(history: tuple[Store, str]) -> None:
    store, memory_id = history
    versions = see(store, ANA, lambda reader: reader.versions([memory_id]))
    moments = [MAY_8_2023_US + step * SECOND_US for step in range(3)]
    assert [memory.version for memory in versions] == [1, 2, 3]
    assert [memory.recorded_us for memory in versions] == moments
    assert [memory.expired_us for memory in versions] == [*moments[1:], None]
    assert current(store, ANA, memory_id) == versions[-1]


@pytest.mark.parametrize(
    ("offset_us", "version"),
    [(-1, None), (0, 1), (SECOND_US - 1, 1), (SECOND_US, 2), (2 * SECOND_US, 3), (10**15, 3)],
)
def test_known_at_gives_the_version_that_was_held_then(
    history: tuple[Store, str], offset_us: int, version: int | None
) -> None:
    store, memory_id = history
    at_us = MAY_8_2023_US + offset_us
    by_id = see(store, ANA, lambda reader: reader.memories([memory_id], known_at_us=at_us))
    by_filter = see(store, ANA, lambda reader: reader.find(MemoryFilter(known_at_us=at_us)))
    assert [memory.version for memory in by_id] == ([] if version is None else [version])
    assert by_filter == by_id


def test_known_at_reads_slots_texts_and_statuses_of_that_time(store: Store) -> None:
    (memory_id,) = add(store, ANA, held("Tea.", entity="user", attribute="drink", value="tea"))
    put(store, ANA, ended(current(store, ANA, memory_id)))
    for wanted in (MemoryFilter(pair=("user", "drink")), MemoryFilter(same_text_as="tea")):
        then = replace(wanted, known_at_us=MAY_8_2023_US, statuses=frozenset({Status.ACTIVE}))
        found = see(store, ANA, lambda reader, then=then: reader.find(then))
        assert [memory.version for memory in found] == [1]


def test_of_two_writers_that_read_the_same_version_the_second_is_refused(store: Store) -> None:
    (memory_id,) = add(store, ANA, held("Ana likes tea."))
    read = current(store, ANA, memory_id)
    put(store, ANA, followed(read, importance=0.1))
    with pytest.raises(Conflict) as refusal:
        put(store, ANA, followed(read, importance=0.9))
    assert refusal.value.ids == {"memory_id": memory_id}
    assert current(store, ANA, memory_id).importance == 0.1


@pytest.mark.parametrize("version", [0, 1, 3])
def test_a_version_that_does_not_follow_is_refused(store: Store, version: int) -> None:
    (memory_id,) = add(store, ANA, held("Ana likes tea."))
    with pytest.raises(Conflict):
        put(store, ANA, replace(current(store, ANA, memory_id), version=version))


def test_a_new_memory_begins_with_version_one(store: Store) -> None:
    with pytest.raises(Conflict):
        put(store, ANA, held("Out of nowhere.", version=2))


@pytest.mark.requirement("R-138")
def test_a_version_of_a_memory_that_never_was_is_not_found(store: Store) -> None:
    (memory_id,) = add(store, ANA, held("Ana likes tea."))
    tag = memory_id.rpartition("-")[2]
    never = format_id(IdKind.MEMORY, 9, tag)
    with pytest.raises(NotFound):
        put(store, ANA, held("Out of nowhere.", id=never))
    assert see(store, ANA, lambda reader: reader.memories([never])) == []
    assert add(store, ANA, held("The next."))[0] == format_id(IdKind.MEMORY, 2, tag)


@pytest.fixture
def shelf(store: Store) -> Store:
    """Seven memories of several kinds; the third has a second version, the seventh is superseded."""
    memories = [
        held("0", entity="user", attribute="drink", value="tea", type=MemoryType.PREFERENCE),
        held("1", entity="The  ACME Project", attribute="Database", value="MySQL", topic="work"),
        held("2", entity="acme project", attribute="database", value="Postgres", topic="work"),
        held("3", type=MemoryType.DECISION, layer=Layer.PROCEDURAL, pinned=True),
        held("4", status=Status.CANDIDATE, expires_us=MAY_8_2023_US + 7),
        held("5", entity="Ana", attribute="drink", value="coffee", topic="work"),
        held("6", entity="user", attribute="drink", value="water"),
    ]
    ids = add(store, ANA, *memories)
    put(store, ANA, followed(current(store, ANA, ids[2]), importance=0.9), ended(current(store, ANA, ids[6])))
    return store


ACME = ("acme project", "database")
DRINK = ("user", "drink")


@pytest.mark.requirement("R-167", "R-152")
@pytest.mark.parametrize(
    ("wanted", "names"),
    [
        (MemoryFilter(), "6543210"),
        (MemoryFilter(pair=ACME), "21"),
        (MemoryFilter(pair=DRINK), "60"),
        (MemoryFilter(pair=DRINK, statuses=frozenset({Status.ACTIVE})), "0"),
        (MemoryFilter(pair=DRINK, statuses=frozenset({Status.ACTIVE}), limit=1), "0"),
        (MemoryFilter(pair=DRINK, types=frozenset({MemoryType.PREFERENCE})), "0"),
        (MemoryFilter(pair=ACME, topic="health"), ""),
        (MemoryFilter(pair=ACME, below=3), "1"),
        (MemoryFilter(pair=("acme project", "drink")), ""),
        (MemoryFilter(pair=("ACME Project", "database")), ""),
        (MemoryFilter(entity="user"), "60"),
        (MemoryFilter(attribute="drink"), "650"),
        (MemoryFilter(same_text_as=" 3. "), "3"),
        (MemoryFilter(same_text_as="3", pair=DRINK), ""),
        (MemoryFilter(same_text_as="0", pair=DRINK), "0"),
        (MemoryFilter(same_text_as="3", statuses=frozenset({Status.FORGOTTEN})), ""),
        (MemoryFilter(same_text_as="99"), ""),
        (MemoryFilter(statuses=frozenset({Status.SUPERSEDED, Status.CANDIDATE})), "64"),
        (MemoryFilter(statuses=frozenset()), ""),
        (MemoryFilter(types=frozenset({MemoryType.PREFERENCE, MemoryType.DECISION})), "30"),
        (MemoryFilter(layers=frozenset({Layer.PROCEDURAL})), "3"),
        (MemoryFilter(topic="work"), "521"),
        (MemoryFilter(pinned=True), "3"),
        (MemoryFilter(pinned=False, limit=2), "65"),
        (MemoryFilter(expires_before_us=MAY_8_2023_US + 8), "4"),
        (MemoryFilter(expires_before_us=MAY_8_2023_US + 7), ""),
        (MemoryFilter(below=3), "10"),
        (MemoryFilter(below=6, limit=2), "43"),
        (MemoryFilter(limit=0), ""),
        (MemoryFilter(topic="work", statuses=frozenset({Status.ACTIVE}), limit=2), "52"),
    ],
)
def test_a_filter_names_memories_newest_first(shelf: Store, wanted: MemoryFilter, names: str) -> None:
    assert "".join(texts(see(shelf, ANA, lambda reader: reader.find(wanted)))) == names


def test_paging_meets_every_memory_once(shelf: Store) -> None:
    seen: list[str] = []
    below: int | None = None
    while page := see(shelf, ANA, lambda reader, below=below: reader.find(MemoryFilter(below=below, limit=3))):
        seen += texts(page)
        below = number(shelf, ANA, IdKind.MEMORY, page[-1].id)
    assert "".join(seen) == "6543210"


def test_memories_come_in_order_of_id(shelf: Store) -> None:
    ids = [memory.id for memory in see(shelf, ANA, lambda reader: reader.find(MemoryFilter()))]
    assert "".join(texts(see(shelf, ANA, lambda reader: reader.memories(ids)))) == "0123456"
    versions = see(shelf, ANA, lambda reader: reader.versions(ids))
    assert [(memory.text, memory.version) for memory in versions if memory.text in "126"] == [
        ("1", 1),
        ("2", 1),
        ("2", 2),
        ("6", 1),
        ("6", 2),
    ]


@pytest.mark.requirement("R-147", "R-148")
def test_a_showing_counts_once_a_session_and_day(store: Store) -> None:
    (memory_id,) = add(store, ANA, held("Ana likes tea."))

    def shown(session: str, day: int, at_us: int, **fields: int) -> Memory:
        access = Access(memory_id=memory_id, session=session, day=day, at_us=at_us, **({"shown": 1} | fields))
        put(store, ANA, access)
        return current(store, ANA, memory_id)

    assert (shown("s1", 7, 100).access_count, shown("s1", 7, 200).access_count) == (1, 1)
    assert current(store, ANA, memory_id).last_accessed_us == 100
    assert shown("s2", 7, 300).access_count == 2
    assert shown("s1", 8, 400).access_count == 3
    assert shown("s1", 9, 500, shown=0, useful=1).access_count == 3
    assert shown("s1", 9, 600).access_count == 4
    assert current(store, ANA, memory_id).version == 1


def test_a_confirming_change_counts_one_more_saying(store: Store) -> None:
    (memory_id,) = add(store, ANA, held("Ana likes tea."))
    put(store, ANA, logged(ChangeKind.CONFIRM, memory_id), logged(ChangeKind.CONFIRM, memory_id))
    assert current(store, ANA, memory_id).confirmations == 2
    assert len(see(store, ANA, lambda reader: reader.versions([memory_id]))) == 1


def test_counts_say_how_much_there_is(shelf: Store) -> None:
    put(shelf, ANA, said("One."))
    counts = see(shelf, ANA, lambda reader: reader.counts())
    assert counts.events == 1
    assert counts.memories == {"active": 5, "candidate": 1, "superseded": 1}
    assert counts.types == {"preference": 1, "fact": 3, "decision": 1}
    assert counts.changes == 7


def test_a_tenant_that_never_wrote_is_empty(store: Store) -> None:
    counts = see(store, ANA, lambda reader: reader.counts())
    assert (counts.events, counts.memories, counts.changes, counts.jobs) == (0, {}, 0, {})
    assert see(store, ANA, lambda reader: reader.tenant.tag) == ""
    assert see(store, ANA, lambda reader: reader.find(MemoryFilter())) == []
    assert store.check(ANA) == []
