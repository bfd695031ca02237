"""Texts that differ in one phrase: of an older and a newer wording, the newer comes first."""

from __future__ import annotations

import pytest

from credenda.model.event import Event, Role
from credenda.read.candidates import Row, Signs
from credenda.read.newer import lift_newer_wording

from .build import World, names


def row(name: str, text: str, day: int, key: float, *, speaker: str = "user", coverage: float = 0.7) -> Row:
    event = Event(id=name, text=text, role=Role.USER, speaker=speaker, occurred_us=day, recorded_us=day)
    return Row("event", name, text, key, Signs(coverage=coverage), {"relevance": key}, event=event)


def order(*rows: Row) -> list[str]:
    return [one.id for one in lift_newer_wording(rows)]


def test_the_newest_of_several_wordings_takes_the_best_place_and_explains_it() -> None:
    rows = [
        row("e1", "Bo drives a Fiat Panda.", 1, 2.0),
        row("e9", "I like tea.", 9, 1.9),
        row("e3", "Bo drives a Seat Ibiza now.", 3, 1.5),
        row("e2", "Bo drives a Volvo.", 2, 1.0),
    ]
    found = lift_newer_wording(rows)
    assert [one.id for one in found] == ["e3", "e1", "e9", "e2"]
    assert found[0].key == 2.0
    assert sum(found[0].terms.values()) == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (row("e1", "Bo drives a Panda.", 2, 2.0), row("e2", "Bo drives a Volvo.", 1, 1.0)),
        (row("e1", "Bo drives a Panda.", 1, 2.0), row("e2", "Bo sells a Panda.", 2, 1.0, coverage=0.5)),
        (row("e1", "I drive a Panda.", 1, 2.0), row("e2", "I drive a Volvo.", 2, 1.0, speaker="Ana")),
        (row("e1", "Bo drives a Panda.", 1, 2.0), row("e2", "Bo drives a Panda.", 2, 1.0)),
        (row("e1", "Bo drives a Panda.", 1, 2.0), row("e2", "Yesterday we met at the harbour.", 2, 1.0)),
        (row("e1", "Bo drives a Panda.", 1, 2.0, coverage=0.1), row("e2", "Bo drives a Volvo.", 2, 1.0, coverage=0.1)),
    ],
)
def test_other_texts_keep_their_order(one: Row, other: Row) -> None:
    assert order(one, other) == [one.id, other.id]


def test_a_search_puts_the_newer_wording_first_unless_the_past_is_asked_for(world: World) -> None:
    old = world.say("Bo Yanrin steers a crimson barge", at=1)
    new = world.say("Bo Yanrin steers a violet barge now", at=2)
    assert names(world.search("Which barge does Bo Yanrin steer?"))[:2] == [new, old]
    assert set(names(world.search("Which barge did Bo Yanrin steer before?"))) == {old, new}
