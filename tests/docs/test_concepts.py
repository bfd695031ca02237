"""The examples of the page of concepts hold."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from credenda import Credenda
from credenda.model.memory import Memory
from credenda.testing import ManualClock


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock("2026-02-01T09:00:00Z")


@pytest.fixture
def mem(tmp_path: Path, clock: ManualClock) -> Iterator[Credenda]:
    with Credenda.open(tmp_path / "memory.db", user="ana", clock=clock, workers=False) as opened:
        yield opened


def remember(mem: Credenda, text: str) -> list[Memory]:
    """Remember a sentence and return the memories that it is evidence for."""
    receipt = mem.remember(text)
    mem.settle()
    return [mem.get(change.memory_id) for change in mem.changes(receipt.event_ids[0]) if change.memory_id]


def test_a_sentence_said_twice_is_two_claims_and_one_memory(mem: Credenda) -> None:
    (first,) = remember(mem, "I live in Linz.")
    (again,) = remember(mem, "I live in Linz.")
    assert (first.entity, first.attribute, first.value) == ("user", "residence", "Linz")
    assert (again.id, again.confirmations) == (first.id, 1)


def test_a_slot_of_one_value_is_replaced_and_a_set_holds_both(mem: Credenda) -> None:
    for text in ("I work at Google.", "I left Google, I'm at Microsoft now.", "I like tea.", "I like coffee."):
        remember(mem, text)
    assert [memory.value for memory in mem.list(attribute="employer").items] == ["Microsoft"]
    assert {memory.value for memory in mem.list().items if memory.type == "preference"} == {"tea", "coffee"}


def test_two_scopes_are_two_slots(mem: Credenda) -> None:
    remember(mem, "At work I prefer tea.")
    remember(mem, "I prefer coffee.")
    drinks = {memory.scope: memory.value for memory in mem.list(attribute="prefers").items}
    assert drinks == {"work": "tea", None: "coffee"}


def test_a_stance_bounds_the_confidence_and_the_layer(mem: Credenda) -> None:
    (scooter,) = remember(mem, "If I lived in Rome, I'd buy a scooter.")
    (fish,) = remember(mem, "I don't eat fish.")
    (peanuts,) = remember(mem, "I'm allergic to peanuts.")
    assert (scooter.stance, scooter.layer) == ("hypothetical", "working")
    assert scooter.confidence <= 0.3
    assert fish.stance == "negated"
    assert peanuts.layer == "semantic"


def test_a_late_import_is_valid_before_it_is_known(mem: Credenda, clock: ManualClock) -> None:
    remember(mem, "I live in Linz.")
    clock.advance(timedelta(days=159))
    mem.remember("I moved to Graz.", occurred_at="2026-03-02")
    mem.settle()
    assert mem.search("Where do I live?", as_of="1 April").hits[0].quote == "I moved to Graz."
    assert mem.search("Where do I live?", known_at="1 April").hits[0].quote == "I live in Linz."


def test_a_question_about_nothing_that_was_said_gets_no_answer(mem: Credenda) -> None:
    remember(mem, "I work at Google.")
    remember(mem, "My office is in Zurich.")
    found = mem.search("What is my blood type?")
    assert found.abstained
    assert found.hits == ()
