"""What mem0's arguments may be: every operator of its filters, and a refusal for what cannot be meant."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from credenda import Invalid
from credenda.compat.mem0 import Memory
from credenda.testing import ManualClock

Filters = dict[str, Any]


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "memory.db", clock=ManualClock("2026-03-02T09:00:00Z"), embedder="none") as opened:
        yield opened


def texts(result: dict[str, Any]) -> list[str]:
    return [item["memory"] for item in result["results"]]


FILTERS: list[tuple[Filters, set[str]]] = [
    ({"kind": "food"}, {"soup"}),
    ({"kind": {"eq": "food"}}, {"soup"}),
    ({"kind": {"ne": "food"}}, {"bike", "film"}),
    ({"kind": {"in": ["food", "fun"]}}, {"soup", "film"}),
    ({"kind": ["food", "fun"]}, {"soup", "film"}),
    ({"kind": {"nin": ["food", "fun"]}}, {"bike"}),
    ({"stars": {"gt": 3}}, {"film"}),
    ({"stars": {"gte": 3, "lte": 4}}, {"soup"}),
    ({"stars": {"lt": 3}}, {"bike"}),
    ({"kind": {"contains": "oo"}}, {"soup"}),
    ({"kind": {"icontains": "FU"}}, {"film"}),
    ({"shelf": "*"}, {"bike"}),
    ({"shelf": True}, {"bike"}),
    ({"stars": True}, set()),
    ({"AND": [{"kind": "food"}, {"stars": 3}]}, {"soup"}),
    ({"OR": [{"kind": "food"}, {"stars": 5}]}, {"soup", "film"}),
    ({"OR": [{"kind": "food"}]}, {"soup"}),
    ({"NOT": [{"kind": "food"}, {"stars": 5}]}, {"bike"}),
    ({"created_at": {"gte": "2026-03-02"}}, {"soup", "bike", "film"}),
    ({"created_at": {"lt": "2026-03-02"}}, set()),
    ({"role": "user"}, {"soup", "bike", "film"}),
    ({"absent": "x"}, set()),
]


@pytest.mark.parametrize(("filters", "found"), FILTERS)
def test_filters_choose_in_lists_and_searches_alike(memory: Memory, filters: Filters, found: set[str]) -> None:
    memory.add("My note is about soup", user_id="ana", metadata={"kind": "food", "stars": 3}, infer=False)
    ride = {"kind": "ride", "stars": 1, "shelf": True}
    memory.add("My note is about bike", user_id="ana", metadata=ride, infer=False)
    memory.add("My note is about film", user_id="ana", metadata={"kind": "fun", "stars": 5}, infer=False)
    listed = memory.get_all(filters={"user_id": "ana", **filters})
    searched = memory.search("note", filters={"AND": [{"user_id": "ana"}, filters]}, threshold=0)
    assert {text.split()[-1] for text in texts(listed)} == found
    assert {text.split()[-1] for text in texts(searched)} == found


def test_one_alternative_may_name_the_user(memory: Memory) -> None:
    memory.add("My note is about soup", user_id="ana", infer=False)
    assert texts(memory.search("note", filters={"OR": [{"user_id": "ana"}]}, threshold=0)) == ["My note is about soup"]


REFUSED: list[tuple[str, Callable[[Memory], object]]] = [
    ("none of user_id", lambda m: m.add("x")),
    ("none of user_id", lambda m: m.search("x")),
    ("none of user_id", lambda m: m.get_all(filters={"kind": "x"})),
    ("none of user_id", lambda m: m.delete_all()),
    ("user_id is blank", lambda m: m.add("x", user_id=" ")),
    ("user_id is blank", lambda m: m.search("x", filters={"user_id": ""})),
    ("user_id is blank", lambda m: m.get_all(filters={"user_id": {"eq": " "}, "agent_id": "bot"})),
    ("user_id is blank", lambda m: m.get_all(filters={"AND": [{"user_id": ""}, {"kind": "x"}]})),
    ("user_id must be text", lambda m: m.get_all(user_id=7)),  # type: ignore[arg-type]
    ("prompt cannot be used", lambda m: m.add("x", user_id="a", prompt="y")),
    ("not a memory_type", lambda m: m.add("x", user_id="a", memory_type="semantic")),
    ("messages must be text or a list", lambda m: m.add(7, user_id="a")),  # type: ignore[arg-type]
    ("message 0 is a str, not a dict", lambda m: m.add(["x"], user_id="a")),  # type: ignore[list-item]
    ("timestamp cannot be", lambda m: m.add("x", user_id="a", timestamp=1e30)),
    ("timestamp cannot be a list", lambda m: m.add("x", user_id="a", timestamp=[])),  # type: ignore[arg-type]
    ("cannot read 'soon'", lambda m: m.add("x", user_id="a", expiration_date="soon")),
    ("expiration_date cannot be", lambda m: m.add("x", user_id="a", expiration_date=7)),  # type: ignore[arg-type]
    ("rerank cannot be used", lambda m: m.search("x", user_id="a", rerank=True)),
    ("show_expired cannot be used", lambda m: m.search("x", user_id="a", show_expired=True)),
    ("threshold cannot be", lambda m: m.search("x", user_id="a", threshold=2)),
    ("top_k cannot be 51", lambda m: m.search("x", user_id="a", top_k=51)),
    ("top_k cannot be -1", lambda m: m.get_all(user_id="a", top_k=-1)),
    ("top_k and limit", lambda m: m.search("x", user_id="a", top_k=1, limit=1)),
    ("query is empty", lambda m: m.search(" ", user_id="a")),
    ("filters must be a table", lambda m: m.search("x", filters=["a"])),  # type: ignore[arg-type]
    ("unknown filter operator 'like'", lambda m: m.search("x", filters={"user_id": "a", "k": {"like": "y"}})),
    ("in needs a list", lambda m: m.search("x", filters={"user_id": "a", "k": {"in": "y"}})),
    ("OR needs a list", lambda m: m.search("x", filters={"user_id": "a", "OR": []})),
    ("AND needs a list", lambda m: m.search("x", filters={"user_id": "a", "AND": "y"})),
    ("must name one user", lambda m: m.search("x", filters={"user_id": {"in": ["a", "b"]}})),
    ("must name one user", lambda m: m.search("x", filters={"user_id": "*"})),
    ("user_id cannot be used here", lambda m: m.search("x", filters={"OR": [{"user_id": "a"}, {"user_id": "b"}]})),
    ("name several users", lambda m: m.search("x", filters={"AND": [{"user_id": "a"}, {"user_id": "b"}]})),
    ("user_id is named twice", lambda m: m.search("x", user_id="a", filters={"user_id": "b"})),
    ("is compared with a time", lambda m: m.search("x", filters={"user_id": "a", "created_at": {"gt": 3}})),
    ("only the text of a memory", lambda m: m.update("m1-aaaaa1", "x", metadata={})),
    ("exactly one of text and data", lambda m: m.update("m1-aaaaa1")),
    ("text must contain words", lambda m: m.update("m1-aaaaa1", " ")),
    ("an id must be text", lambda m: m.get(7)),  # type: ignore[arg-type]
    ("no 'vector_store'", lambda m: m.from_config({"vector_store": {}})),
    ("is not a path", lambda _: Memory({"llm": {}})),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(("said", "call"), REFUSED)
def test_what_cannot_be_meant_is_refused_with_what_to_do(
    memory: Memory, said: str, call: Callable[[Memory], object]
) -> None:
    with pytest.raises(Invalid) as caught:
        call(memory)
    assert said in str(caught.value)
    assert caught.value.fix


@pytest.mark.parametrize("verb", ["add", "search", "get_all", "update", "delete_all"])
def test_an_unknown_argument_is_no_silent_one(memory: Memory, verb: str) -> None:
    with pytest.raises(TypeError, match="version"):
        getattr(memory, verb)(version="v2")


def test_spaces_around_a_user_do_not_count_in_filters_either(memory: Memory) -> None:
    memory.add("I live in Linz.", user_id="ana")
    assert texts(memory.get_all(filters={"user_id": " ana "})) == ["I live in Linz."]
