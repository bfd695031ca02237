"""LangGraph's store: the behaviour of its own stores, and that of a memory behind it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, TypedDict

import pytest
from langgraph.graph import END, START, StateGraph
from langgraph.store.base import (
    BaseStore,
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchOp,
)
from langgraph.store.memory import InMemoryStore

from credenda import Credenda
from credenda.adapters.langgraph import CredendaStore
from credenda.errors import Conflict, Invalid
from credenda.model.core import ItemFilter
from credenda.testing import ManualClock
from tests.waiting import PATIENCE_SECONDS, await_that


@pytest.fixture
def store(memory: Credenda) -> CredendaStore:
    return CredendaStore(memory)


def keys(store: BaseStore, namespace: tuple[str, ...], **conditions: Any) -> list[str]:
    return [item.key for item in store.search(namespace, **conditions)]


def test_an_item_is_stored_changed_and_deleted(store: CredendaStore, clock: ManualClock) -> None:
    store.put(("users", "1"), "prefs", {"theme": "dark", "n": 1.5, "deep": {"a": [1, None, True]}})
    first = store.get(("users", "1"), "prefs")
    assert first is not None
    assert first.value == {"theme": "dark", "n": 1.5, "deep": {"a": [1, None, True]}}
    assert (first.namespace, first.key, first.created_at) == (("users", "1"), "prefs", clock.now())
    clock.advance(timedelta(minutes=1))
    store.put(("users", "1"), "prefs", {"theme": "light"})
    second = store.get(("users", "1"), "prefs")
    assert second is not None
    assert second.value == {"theme": "light"}
    assert second.created_at == first.created_at < second.updated_at
    store.delete(("users", "1"), "prefs")
    assert store.get(("users", "1"), "prefs") is None
    store.delete(("users", "1"), "prefs")


def test_a_batch_reads_before_it_writes_and_answers_in_order(store: CredendaStore) -> None:
    both: list[BaseStore] = [store, InMemoryStore()]
    for one in both:
        one.put(("test", "foo"), "key1", {"data": "value1"})
        one.put(("test", "bar"), "key2", {"data": "value2"})
    ops = [
        GetOp(("test", "foo"), "key1"),
        PutOp(("test", "bar"), "key2", {"data": "value3"}),
        PutOp(("test", "bar"), "key2", {"data": "value4"}),
        SearchOp(("test",), filter={"data": "value1"}),
        ListNamespacesOp(),
        GetOp(("test", "bar"), "key2"),
        GetOp(("test",), "absent"),
        PutOp(("test", "foo"), "key1", None),
    ]
    answers = [one.batch(ops) for one in both]
    values = [[getattr(result, "value", result) for result in found] for found in answers]
    found = [[item.value for item in one[3]] for one in answers]
    assert found == [[{"data": "value1"}]] * 2
    for one in values:
        one[3] = None
    assert values[0] == values[1]
    assert [one.get(("test", "bar"), "key2").value for one in both] == [{"data": "value4"}] * 2  # type: ignore[union-attr]
    assert [one.get(("test", "foo"), "key1") for one in both] == [None, None]


NAMESPACES = [
    ("a",),
    ("ab",),
    ("a", "b", "c"),
    ("a", "b", "d", "e"),
    ("a", "b", "d", "i"),
    ("a", "b", "f"),
    ("a", "c", "f"),
    ("A",),
    ("a%",),
    ("a_",),
    ("a\x1f", "b"),
    ("a\n",),
    ("naïve", "日本語"),
    ("it's", 'a "quote"; DROP TABLE items;--'),
]


@pytest.mark.parametrize(
    "question",
    [
        {},
        {"prefix": ("a",)},
        {"prefix": ("a", "b")},
        {"prefix": ("a", "*", "f")},
        {"prefix": ("*", "b")},
        {"suffix": ("f",)},
        {"suffix": ("*", "f")},
        {"prefix": ("a",), "suffix": ("f",)},
        {"max_depth": 1},
        {"prefix": ("a", "b"), "max_depth": 3},
        {"limit": 3, "offset": 2},
        {"prefix": ("nothing",)},
        {"prefix": ("a%",)},
        {"prefix": ("A",)},
    ],
)
def test_namespaces_are_listed_as_the_store_in_memory_lists_them(
    store: CredendaStore, question: dict[str, Any]
) -> None:
    other = InMemoryStore()
    for namespace in NAMESPACES:
        for one in (store, other):
            one.put(namespace, "k", {"a": 1}, index=False)
    assert store.list_namespaces(**question) == other.list_namespaces(**question)


@pytest.mark.parametrize("prefix", [(), ("a",), ("a", "b"), ("A",), ("a%",), ("a_",), ("naïve",), ("b",), ("it's",)])
def test_a_prefix_matches_whole_labels(store: CredendaStore, prefix: tuple[str, ...]) -> None:
    other = InMemoryStore()
    for number, namespace in enumerate(NAMESPACES):
        for one in (store, other):
            one.put(namespace, f"k-{number}", {"a": number}, index=False)
    assert sorted(keys(store, prefix, limit=99)) == sorted(keys(other, prefix, limit=99))


VALUES: list[dict[str, Any]] = [
    {"type": "report", "score": 5, "tags": ["a", "b"], "meta": {"by": "ana", "ok": True}},
    {"type": "report", "score": 4.5, "active": True, "tags": ["a"]},
    {"type": "article", "score": 5, "active": False, "meta": {"by": "ben"}},
    {"type": "Report", "score": None},
    {"score": "5", "name": "O'Hara %_ \" ; --"},
    {},
]


@pytest.mark.parametrize(
    "wanted",
    [
        {"type": "report"},
        {"type": {"$eq": "report"}},
        {"type": {"$ne": "report"}},
        {"active": True},
        {"active": False},
        {"score": 5},
        {"score": {"$gt": 4.5}},
        {"score": {"$gte": 4.5, "$lt": 5}},
        {"score": {"$lte": 4.5}},
        {"score": "5"},
        {"tags": ["a", "b"]},
        {"meta": {"by": "ana"}},
        {"name": "O'Hara %_ \" ; --"},
        {"x' OR 1=1 --": 1},
        {"type": "report", "score": 5},
    ],
)
def test_filters_match_values_exactly(store: CredendaStore, wanted: dict[str, Any]) -> None:
    expected = {
        key for key, value in enumerate(VALUES) if all(_holds(value.get(name), one) for name, one in wanted.items())
    }
    for number, value in enumerate(VALUES):
        store.put(("docs",), str(number), value, index=False)
    assert {int(key) for key in keys(store, ("docs",), filter=wanted)} == expected


def _holds(value: Any, wanted: Any) -> bool:
    """Say by hand what a filter means, for the values above."""
    if isinstance(wanted, dict) and any(name.startswith("$") for name in wanted):
        number = value if isinstance(value, int | float) and not isinstance(value, bool) else None
        checks = {
            "$eq": lambda than: value == than,
            "$ne": lambda than: value != than,
            "$gt": lambda than: number is not None and number > than,
            "$gte": lambda than: number is not None and number >= than,
            "$lt": lambda than: number is not None and number < than,
            "$lte": lambda than: number is not None and number <= than,
        }
        return all(checks[name](than) for name, than in wanted.items())
    if isinstance(wanted, dict):
        return isinstance(value, dict) and all(value.get(name) == one for name, one in wanted.items())
    return type(value) is type(wanted) and value == wanted


def test_an_unknown_operator_is_an_error(store: CredendaStore) -> None:
    store.put(("docs",), "1", {"a": 1})
    with pytest.raises(ValueError, match="Unsupported operator"):
        store.search(("docs",), filter={"a": {"$in": [1]}})


def test_results_come_in_pages_the_latest_first(store: CredendaStore, clock: ManualClock) -> None:
    for number in range(5):
        store.put(("docs",), str(number), {"n": number})
        clock.advance(timedelta(seconds=1))
    assert keys(store, ("docs",), limit=2) == ["4", "3"]
    assert keys(store, ("docs",), limit=2, offset=2) == ["2", "1"]
    assert keys(store, ("docs",), limit=0) == []


@pytest.mark.parametrize("namespace", [(), ("",), ("a.b",), ("langgraph",), (1,)])
def test_an_invalid_namespace_is_refused(store: CredendaStore, namespace: Any) -> None:
    with pytest.raises(InvalidNamespaceError):
        store.put(namespace, "k", {})


@pytest.mark.parametrize("value", [{"a": object()}, {"a": float("nan")}, {"a": {1, 2}}, {"a": "\ud800"}])
def test_a_value_that_is_not_json_is_refused_and_changes_nothing(store: CredendaStore, value: dict[str, Any]) -> None:
    store.put(("docs",), "k", {"a": 1})
    with pytest.raises(Invalid):
        store.put(("docs",), "k", value)
    assert store.get(("docs",), "k").value == {"a": 1}  # type: ignore[union-attr]


def test_a_question_finds_items_by_their_words(store: CredendaStore, memory: Credenda) -> None:
    store.put(("users", "1"), "drink", {"text": "The user drinks green tea in the morning."})
    store.put(("users", "1"), "pet", {"text": "The user has a dog called Rex."})
    store.put(("users", "2"), "drink", {"text": "The user drinks coffee."})
    store.put(("users", "1"), "silent", {"text": "The user drinks tea from a blue cup."}, index=False)
    found = store.search(("users", "1"), query="Which tea does the user drink?")
    assert found[0].key == "drink"
    assert found[0].score is not None
    assert {item.key: item.score for item in found}["silent"] is None
    assert all(item.namespace == ("users", "1") for item in found)
    assert store.search(("users", "1"), query="Which tea?", filter={"text": "nothing"}) == []
    assert memory.search("What is the dog called?").hits[0].quote == "The user has a dog called Rex."


def test_a_question_ranks_and_leaves_no_item_out(store: CredendaStore, clock: ManualClock) -> None:
    for key, text in (("way", "Prefers Signal."), ("food", "Eats no meat since 2019."), ("boat", "The boat leaks.")):
        store.put(("u",), key, {"content": text})
        clock.advance(timedelta(seconds=1))
    for query in ("How can I reach the user?", "What should I cook tonight?", "volcano eruption on Iceland"):
        assert sorted(keys(store, ("u",), query=query)) == ["boat", "food", "way"]
    assert keys(store, ("u",), query="What about the boat?")[0] == "boat"
    pages = [keys(store, ("u",), query="What about the boat?", limit=2, offset=at) for at in (0, 2)]
    assert sorted(key for page in pages for key in page) == ["boat", "food", "way"]


def test_only_the_named_fields_are_searched(memory: Credenda) -> None:
    store = CredendaStore(memory, fields=["text"])
    store.put(("docs",), "1", {"text": "Bees live in hives.", "note": "Read about volcanoes."})
    store.put(("docs",), "2", {"parts": [{"t": "Whales sing."}, {"t": "Ants dig."}]}, index=["parts[*].t"])
    assert all(item.score is None for item in store.search(("docs",), query="volcanoes"))
    assert keys(store, ("docs",), query="Where do bees live?")[0] == "1"
    assert keys(store, ("docs",), query="Which animals sing?")[0] == "2"


def test_a_new_value_forgets_the_words_of_the_old_one(store: CredendaStore, memory: Credenda) -> None:
    store.put(("u",), "home", {"text": "The user lives in Linz."})
    store.put(("u",), "copy", {"text": "The user has a cat."})
    store.put(("u",), "home", {"text": "The user lives in Graz."})
    assert [one.text for one in memory.list().items] == ["The user lives in Graz.", "The user has a cat."]
    store.delete(("u",), "copy")
    assert [one.text for one in memory.list().items] == ["The user lives in Graz."]
    store.put(("u",), "copy", {"text": "The user has a cat."})
    assert store.get(("u",), "copy").value == {"text": "The user has a cat."}  # type: ignore[union-attr]
    assert "The user has a cat." in [one.text for one in memory.list().items]


def test_equal_words_under_two_keys_are_forgotten_with_the_last_of_them(store: CredendaStore, memory: Credenda) -> None:
    store.put(("u",), "1", {"text": "The user has a cat."})
    store.put(("v",), "2", {"text": "The user has a cat."})
    assert len(memory.list().items) == 1
    store.delete(("u",), "1")
    assert keys(store, ("v",), query="Which pet does the user have, a cat?") == ["2"]
    store.delete(("v",), "2")
    assert memory.list().items == ()


def test_words_that_a_person_said_too_stay_when_the_item_goes(store: CredendaStore, memory: Credenda) -> None:
    memory.remember("I have a cat called Tom.")
    memory.settle()
    before = [one.text for one in memory.list().items]
    store.put(("u",), "1", {"text": before[0]})
    store.delete(("u",), "1")
    assert [one.text for one in memory.list().items] == before


def test_a_forgotten_memory_hides_its_item_and_a_deleted_one_takes_it_along(
    store: CredendaStore, memory: Credenda
) -> None:
    store.put(("u",), "1", {"text": "The safe is behind the picture.", "code": 4711})
    (held,) = memory.list().items
    memory.forget(held.id)
    assert store.get(("u",), "1") is None
    assert keys(store, ("u",)) == []
    memory.restore(held.id)
    assert store.get(("u",), "1") is not None
    memory.delete(held.id)
    assert store.get(("u",), "1") is None
    with pytest.raises(Conflict, match="deleted"):
        store.put(("u",), "1", {"text": "The safe is behind the picture.", "code": 4711})
    assert store.get(("u",), "1") is None


def test_secrets_are_masked_in_the_value_too(store: CredendaStore) -> None:
    store.put(("u",), "1", {"notes": [{"text": "my password is hunter2!"}]})
    assert store.get(("u",), "1").value == {"notes": [{"text": "my password is [password removed]"}]}  # type: ignore[union-attr]


def test_an_item_expires(store: CredendaStore, clock: ManualClock) -> None:
    store.put(("u",), "1", {"text": "The parking ticket is on level two."}, ttl=10)
    store.put(("u",), "2", {"n": 2}, ttl=10, index=False)
    clock.advance(timedelta(minutes=9))
    assert sorted(keys(store, ("u",), refresh_ttl=False)) == ["1", "2"]
    clock.advance(timedelta(minutes=2))
    assert keys(store, ("u",)) == []
    assert store.get(("u",), "1") is None


def test_a_read_renews_the_time_to_live_and_a_sweep_ends_it(
    store: CredendaStore, memory: Credenda, clock: ManualClock
) -> None:
    store.put(("u",), "1", {"text": "The parking ticket is on level two."}, ttl=10)
    for read in (
        lambda: store.get(("u",), "1"),
        lambda: store.search(("u",))[0],
        lambda: store.search(("u",), query="Where is the parking ticket?")[0],
        lambda: store.batch([GetOp(("u",), "1")])[0],
    ):
        clock.advance(timedelta(minutes=9))
        found = read()
        assert found is not None
        assert found.value == {"text": "The parking ticket is on level two."}
        assert found.updated_at == found.created_at
        assert memory.search("Where is the parking ticket?").hits
    assert store.sweep_ttl() == 0
    clock.advance(timedelta(minutes=11))
    assert store.get(("u",), "1") is None
    assert store.sweep_ttl() == 1
    assert store.sweep_ttl() == 0
    assert memory.search("Where is the parking ticket?").hits == ()
    assert memory.stats().events == memory.stats().redacted_events
    store.put(("u",), "1", {"text": "The parking ticket is on level two."})
    assert store.get(("u",), "1") is not None, "what has expired may be stored again"


def test_a_read_without_refresh_renews_nothing(memory: Credenda, clock: ManualClock) -> None:
    still = CredendaStore(memory, ttl={"default_ttl": 10, "refresh_on_read": False})
    still.put(("u",), "1", {"n": 1})
    still.put(("u",), "2", {"n": 2}, ttl=None)
    clock.advance(timedelta(minutes=9))
    assert still.get(("u",), "1") is not None
    assert still.get(("u",), "2", refresh_ttl=True) is not None
    clock.advance(timedelta(minutes=2))
    assert keys(still, ("u",)) == ["2"]
    still.put(("u",), "3", {"n": 3})
    clock.advance(timedelta(minutes=9))
    assert still.get(("u",), "3", refresh_ttl=True) is not None
    clock.advance(timedelta(minutes=9))
    assert still.get(("u",), "3") is not None


def test_background_work_sweeps_too_and_a_hold_keeps_everything(
    store: CredendaStore, memory: Credenda, clock: ManualClock
) -> None:
    store.put(("u",), "1", {"text": "The parking ticket is on level two."}, ttl=10)
    clock.advance(timedelta(minutes=11))
    memory.manage.hold("audit")
    with pytest.raises(Conflict):
        store.sweep_ttl()
    memory.manage.lift_hold("audit")
    memory.manage.apply_policies()
    assert store.sweep_ttl() == 0
    assert memory.list().items == ()


def test_the_sweeper_runs_until_it_is_stopped(memory: Credenda, clock: ManualClock) -> None:
    store = CredendaStore(memory, ttl={"default_ttl": 10, "sweep_interval_minutes": 0.0001})
    assert store.stop_ttl_sweeper()
    store.put(("u",), "1", {"n": 1})
    clock.advance(timedelta(minutes=11))
    future = store.start_ttl_sweeper()
    assert store.start_ttl_sweeper() is future
    await_that(
        lambda: not memory.items.find(ItemFilter(space="langgraph", below=True, expired=True)), "the sweep of an item"
    )
    assert store.stop_ttl_sweeper(timeout=PATIENCE_SECONDS)
    assert future.done()
    assert CredendaStore(memory).start_ttl_sweeper().done(), "a store without a time to live has nothing to sweep"


def test_users_and_instances_share_nothing_but_the_memory(store: CredendaStore, memory: Credenda) -> None:
    store.put(("u",), "1", {"a": 1})
    assert CredendaStore(memory).get(("u",), "1") is not None
    with memory.for_user("ben", workers=False) as other:
        assert CredendaStore(other).search(()) == []


async def test_the_asynchronous_methods_do_the_same(store: CredendaStore) -> None:
    await store.aput(("u",), "1", {"text": "The user plays chess."})
    assert (await store.aget(("u",), "1")).value == {"text": "The user plays chess."}  # type: ignore[union-attr]
    assert [item.key for item in await store.asearch(("u",), query="Does the user play chess?")] == ["1"]
    assert await store.alist_namespaces(prefix=("u",)) == [("u",)]
    await store.adelete(("u",), "1")
    assert await store.aget(("u",), "1") is None


class State(TypedDict):
    question: str
    answer: str


def test_a_compiled_graph_uses_the_store(store: CredendaStore) -> None:
    def answer(state: State, *, store: BaseStore) -> State:
        found = store.search(("facts",), query=state["question"])
        return {"question": state["question"], "answer": found[0].value["text"]}

    store.put(("facts",), "boat", {"text": "The boat is called Ada."})
    graph = StateGraph(State)
    graph.add_node("answer", answer)
    graph.add_edge(START, "answer")
    graph.add_edge("answer", END)
    result = graph.compile(store=store).invoke({"question": "What is the boat called?", "answer": ""})
    assert result["answer"] == "The boat is called Ada."


def test_all_conditions_of_a_question_about_namespaces_must_hold(store: CredendaStore) -> None:
    store.put(("a", "b"), "k", {}, index=False)
    conditions = (MatchCondition("prefix", ("a",)), MatchCondition("suffix", ("b",)))
    assert store.batch([ListNamespacesOp(match_conditions=conditions)]) == [[("a", "b")]]
