"""Plans: what a unit decides on a view is filed as the unit itself would have filed it, or decided anew."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from credenda.errors import Conflict
from credenda.model.change import ChangeKind, ContestState
from credenda.model.memory import Memory, Status
from credenda.storage.plan import commit_planned
from credenda.storage.records import take_turn
from credenda.storage.store import (
    Access,
    ChangeFilter,
    EventFilter,
    IndexPosition,
    Job,
    JobFilter,
    MemoryFilter,
    Reader,
    Redaction,
    Store,
    Writer,
)
from tests.waiting import PATIENCE_SECONDS

from .build import ANA, add, because, contested, current, ended, held, logged, put, said, see, texts

PAIR = ("user", "drink")


def nothing(_: Writer) -> None:
    """File nothing more."""


def drink(value: str, **fields: object) -> Memory:
    return held(f"I drink {value}.", entity="user", attribute="drink", value=value, **fields)


@pytest.fixture
def ana(store: Store) -> Store:
    """Hold a drink, said twice, and three other memories."""
    put(store, ANA, said("I drink tea."), said("I drink coffee now."))
    add(store, ANA, drink("tea"), held("Ana likes cats."), held("Ana likes dogs."), held("A cat sleeps."))
    return store


def event_ids(reader: Reader) -> list[str]:
    return [event.id for event in reader.find_events(EventFilter())]


def replaced(writer: Writer) -> object:
    """Replace the drink by another one, step by step, reading what was filed before each step."""
    tea = writer.find(MemoryFilter(pair=PAIR, statuses=frozenset({Status.ACTIVE})))[0]
    event_id = event_ids(writer)[1]
    coffee_id = writer.put(drink("coffee"))
    for _ in range(2):
        writer.put(because(coffee_id, event_id))
    writer.put(logged(ChangeKind.ADD, coffee_id, cause=event_id))
    writer.put(ended(tea, superseded_by=coffee_id))
    writer.put(logged(ChangeKind.SUPERSEDE, tea.id, cause=event_id, after={"superseded_by": coffee_id}))
    writer.put(logged(ChangeKind.CONFIRM, coffee_id, cause=event_id))
    contest_id = writer.put(contested(tea.id, coffee_id))
    writer.put(replace(writer.contests(id=contest_id)[0], state=ContestState.RESOLVED, resolved_us=7))
    writer.put(Job(kind="embed", first=1, last=1))
    return QUESTIONS["all"](writer)


QUESTIONS: dict[str, Callable[[Reader], object]] = {
    "pair": lambda reader: reader.find(MemoryFilter(pair=PAIR)),
    "newest": lambda reader: reader.find(MemoryFilter(pair=PAIR, limit=1)),
    "active": lambda reader: reader.find(MemoryFilter(statuses=frozenset({Status.ACTIVE}), limit=3)),
    "text": lambda reader: reader.find(MemoryFilter(same_text_as="i drink COFFEE")),
    "entity": lambda reader: reader.find(MemoryFilter(entity="user", attribute="drink")),
    "words": lambda reader: reader.search_memories(["coffee", "cats", "drinking"], 10),
    "few words": lambda reader: reader.search_memories(["cat", "drink", "coffee"], 2, most=2),
    "log": lambda reader: reader.changes(ChangeFilter(after=2)),
    "log of a cause": lambda reader: reader.changes(ChangeFilter(cause=event_ids(reader)[1])),
    "supersessions": lambda reader: reader.changes(ChangeFilter(kinds=frozenset({ChangeKind.SUPERSEDE}), limit=1)),
    "log of a memory": lambda reader: [
        reader.changes(ChangeFilter(memory_ids=(one.id,))) for one in reader.find(MemoryFilter(pair=PAIR))
    ],
    "contests": lambda reader: (
        reader.contests(),
        reader.contests(state=ContestState.OPEN),
        reader.contests(pair=PAIR),
    ),
    "evidence of events": lambda reader: reader.evidence(event_ids=event_ids(reader)),
    "evidence of memories": lambda reader: reader.evidence(
        memory_ids=[one.id for one in reader.find(MemoryFilter(pair=PAIR))]
    ),
    "by id": lambda reader: reader.memories([one.id for one in reader.find(MemoryFilter(pair=PAIR))]),
    "all": lambda reader: {name: ask(reader) for name, ask in QUESTIONS.items() if name != "all"},
}


def test_a_plan_shows_what_it_would_file_as_the_rows_are_shown_afterwards(ana: Store) -> None:
    seen: list[object] = []
    commit_planned(ana, ANA, lambda writer: seen.append(replaced(writer)), nothing)
    after = see(ana, ANA, QUESTIONS["all"])
    assert isinstance(after, dict)
    assert len(seen) == 1
    assert seen[0] == after
    assert ana.check(ANA) == []


def test_a_plan_files_the_rows_that_the_unit_would_have_filed(ana: Store) -> None:
    ben = "ben"
    put(ana, ben, said("I drink tea."), said("I drink coffee now."))
    add(ana, ben, drink("tea"), held("Ana likes cats."), held("Ana likes dogs."), held("A cat sleeps."))
    commit_planned(ana, ANA, replaced, nothing)
    ana.commit(ben, replaced)

    def told(user: str) -> str:
        tag = see(ana, user, lambda reader: reader.tenant.tag)
        return repr(see(ana, user, QUESTIONS["all"])).replace(tag, "")

    assert told(ANA) == told(ben)


def test_callers_who_decide_in_turn_decide_once_each(ana: Store) -> None:
    """Each of them reads what the others have filed, and nobody decides in vain."""
    decided: list[int] = []

    def decide(writer: Writer) -> None:
        held_now = writer.find(MemoryFilter())
        decided.append(len(held_now))
        writer.put(logged(ChangeKind.ADD, writer.put(held(f"Thing {len(held_now)}."))))

    def store_some() -> None:
        for _ in range(4):
            with take_turn(ana, ANA):
                commit_planned(ana, ANA, decide, nothing)

    with ThreadPoolExecutor(8) as pool:
        for done in [pool.submit(store_some) for _ in range(8)]:
            done.result(timeout=PATIENCE_SECONDS)
    assert decided == list(range(4, 4 + 32))


def test_work_in_the_background_does_not_wait_for_the_turn_of_a_caller(ana: Store) -> None:
    def decide(writer: Writer) -> None:
        if not filed:
            with ThreadPoolExecutor(1) as pool:
                filed.append(pool.submit(commit_planned, ana, ANA, replaced, nothing).result(timeout=PATIENCE_SECONDS))
        writer.put(held("Thing."))

    filed: list[None] = []
    with take_turn(ana, ANA):
        commit_planned(ana, ANA, decide, nothing)
    assert len(filed) == 1


def test_no_write_lock_is_held_while_a_unit_decides(ana: Store) -> None:
    """Another unit of the tenant runs to its end while the plan is made."""

    def decide(writer: Writer) -> None:
        put(ana, ANA, said("Said meanwhile."))
        replaced(writer)

    commit_planned(ana, ANA, decide, lambda writer: writer.put(Job(kind="done")))
    (newest,) = see(ana, ANA, lambda reader: reader.find(MemoryFilter(pair=PAIR, limit=1)))
    assert newest.value == "coffee"
    assert [job.kind for job in see(ana, ANA, lambda reader: reader.jobs(JobFilter()))] == ["embed", "done"]


@pytest.mark.parametrize("times", [1, 2, 3, 9])
def test_what_moved_meanwhile_is_decided_anew_and_it_always_ends(ana: Store, times: int) -> None:
    looks: list[int] = []

    def decide(writer: Writer) -> None:
        looks.append(1)
        if len(looks) <= min(times, 3):
            add(ana, ANA, held(f"Said meanwhile {len(looks)}."))
        replaced(writer)

    commit_planned(ana, ANA, decide, nothing)
    assert len(looks) == min(times, 3) + 1
    drinks = texts(see(ana, ANA, lambda reader: reader.find(MemoryFilter(pair=PAIR))))
    assert drinks == ["I drink coffee.", "I drink tea."]
    assert ana.check(ANA) == []


def test_a_unit_that_a_plan_cannot_hold_runs_in_its_transaction(ana: Store) -> None:
    runs: list[str] = []

    def decide(writer: Writer) -> None:
        runs.append(type(writer).__name__)
        (event_id, *_) = event_ids(writer)
        writer.put(Redaction(id=event_id, at_us=9))
        writer.put(logged(ChangeKind.DELETE, cause=event_id))

    commit_planned(ana, ANA, decide, nothing)
    assert (len(runs), runs[0]) == (2, "Plan")
    assert see(ana, ANA, lambda reader: reader.counts().redacted_events) == 1


def test_a_unit_that_raises_on_the_view_files_nothing(ana: Store) -> None:
    before = see(ana, ANA, lambda reader: reader.duties.heads)

    def decide(writer: Writer) -> None:
        replaced(writer)
        raise Conflict("no")

    with pytest.raises(Conflict):
        commit_planned(ana, ANA, decide, nothing)
    assert see(ana, ANA, lambda reader: reader.duties.heads) == before


def test_what_follows_is_filed_with_the_plan_or_not_at_all(ana: Store) -> None:
    def then(_: Writer) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        commit_planned(ana, ANA, replaced, then)
    assert see(ana, ANA, lambda reader: reader.duties.heads) == IndexPosition(2, 4, 0)


def test_a_value_derived_meanwhile_is_not_lost(ana: Store) -> None:
    """A version is a copy of the one before: it must be a copy of what stands when it is filed."""
    (tea,) = see(ana, ANA, lambda reader: reader.find(MemoryFilter(pair=PAIR)))
    looks: list[int] = []

    def decide(writer: Writer) -> None:
        looks.append(1)
        if len(looks) == 1:
            put(ana, ANA, Access(memory_id=tea.id, session="s", day=1, at_us=5, shown=1))
        replaced(writer)

    commit_planned(ana, ANA, decide, nothing)
    assert len(looks) == 2
    assert current(ana, ANA, tea.id).access_count == 1
