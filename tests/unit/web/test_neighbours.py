"""What came before and after a memory in its slot, through the memories that were only joined with it."""

from __future__ import annotations

from dataclasses import replace

from credenda.interfaces.web.view import find_neighbours
from credenda.model.memory import Relation, Status
from credenda.model.query import SlotVersion


def make(name: str, value: str, after: str | None = None, relation: Relation | None = None) -> SlotVersion:
    return SlotVersion(
        memory_id=name,
        text=f"I live in {value}.",
        value=value,
        scope=None,
        status=Status.SUPERSEDED if after else Status.ACTIVE,
        relation=relation,
        superseded_by=after,
        reason="",
        valid_from_us=None,
        valid_until_us=None,
        recorded_us=int(name[1:]),
    )


SLOT = (
    make("m1", "Vienna", "m2", Relation.CHANGED),
    make("m2", "Seattle", "m3", Relation.CHANGED),
    make("m3", "Portland", "m4", Relation.MERGED),
    make("m4", "portland", "m5", Relation.REFINED),
    make("m5", "Portland"),
)


def names(found: tuple[SlotVersion, ...]) -> list[str]:
    return [one.memory_id for one in found]


def test_what_a_joined_memory_replaced_is_found_through_those_that_it_took_in() -> None:
    found = find_neighbours("m5", SLOT)
    assert names(found.replaced) == ["m2"]
    assert names(found.merged) == ["m4", "m3"]
    assert found.successor is None


def test_a_replaced_value_leads_to_the_latest_wording_of_the_next_one() -> None:
    found = find_neighbours("m2", SLOT)
    assert found.successor is not None
    assert found.successor.memory_id == "m5"
    assert not found.is_same
    assert names(found.replaced) == ["m1"]


def test_a_joined_memory_says_the_same_as_its_successor() -> None:
    found = find_neighbours("m3", SLOT)
    assert found.is_same
    assert names(found.replaced) == ["m2"]


def test_a_denial_of_a_value_is_another_value() -> None:
    denied = replace(SLOT[4], denied=True)
    found = find_neighbours("m5", (make("m1", "Portland", "m5", Relation.CHANGED), denied))
    assert names(found.replaced) == ["m1"]


def test_rows_that_refer_to_each_other_end_the_search() -> None:
    ring = (make("m1", "Linz", "m2", Relation.MERGED), make("m2", "Linz", "m1", Relation.MERGED))
    found = find_neighbours("m1", ring)
    assert found.successor is not None
    assert names(found.merged) == ["m2"]


def test_a_memory_that_is_not_in_the_slot_has_no_neighbours() -> None:
    assert find_neighbours("m9", SLOT).successor is None
