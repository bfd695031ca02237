"""Hits that may be an older and a newer value of one thing: the newest first, and named on the others."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from credenda.model.memory import Memory, MemoryType
from credenda.model.query import Hit
from credenda.read.newer import link_newer

DAY = 86_400_000_000


def hit(name: str, text: str, day: int, **other: Any) -> Hit:  # noqa: ANN401 - parts of a memory
    memory = Memory(
        id=name,
        version=1,
        text=text,
        type=MemoryType.FACT,
        valid_from_us=day * DAY,
        created_us=day * DAY,
        recorded_us=day * DAY,
        **other,
    )
    return Hit(kind="memory", id=name, text=text, score=1 - day / 100, memory=memory)


def slot(name: str, value: str, day: int, attribute: str = "date", **other: Any) -> Hit:  # noqa: ANN401 - parts of a memory
    parts: dict[str, Any] = {"entity": "meeting", **other}
    return hit(name, f"The meeting is on {value}.", day, attribute=attribute, value=value, **parts)


def links(*hits: Hit) -> list[tuple[str, str | None]]:
    return [(one.id, one.newer) for one in link_newer(hits)]


@pytest.mark.requirement("R-074")
def test_the_newest_of_several_values_comes_first() -> None:
    found = links(
        slot("m1", "Monday", 1), hit("m9", "I like tea.", 1), slot("m3", "Friday", 3), slot("m2", "Tuesday", 2)
    )
    assert found == [("m3", None), ("m1", "m3"), ("m9", None), ("m2", "m3")]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (slot("m1", "Monday", 1), slot("m2", "Monday", 2)),
        (slot("m1", "Monday", 1), slot("m2", "Friday", 2, entity="review")),
        (slot("m1", "Monday", 1), slot("m2", "in the attic", 2)),
        (slot("m1", "Monday", 1, scope="work"), slot("m2", "Friday", 2)),
        (slot("m1", "hiking", 1, "likes"), slot("m2", "climbing", 2, "likes")),
        (slot("m1", "Monday", 1), slot("m2", "Friday", 2, contested=True)),
        (hit("m1", "Parking spot: B12.", 1), hit("m2", "Parking spot: C9.", 2)),
    ],
)
def test_other_things_and_sets_are_not_linked(one: Hit, other: Hit) -> None:
    assert links(one, other) == [("m1", None), ("m2", None)]


@pytest.mark.requirement("R-074")
def test_a_newer_value_that_hardly_matches_the_question_replaces_nothing() -> None:
    """Verbs such as "visited" hold whatever was done: the trip that was asked for keeps its place."""
    trip, bath = slot("m1", "Morocco", 1, "visited"), slot("m2", "the thermal bath", 2, "visited")
    assert links(trip, replace(bath, score=trip.score * 0.4)) == [("m1", None), ("m2", None)]
    assert links(trip, replace(bath, score=trip.score * 0.6)) == [("m2", None), ("m1", "m2")]
