"""An order that is done once is no procedure."""

from __future__ import annotations

import pytest

from credenda.model.claim import Turn
from credenda.model.event import Event, Role
from credenda.model.memory import MemoryType
from credenda.write.extract.rules import RulesExtractor


def list_types(text: str) -> set[MemoryType]:
    event = Event(text=text, role=Role.USER, speaker="user", occurred_us=0, id="e1", recorded_us=0)
    return {one.type for one in RulesExtractor().extract(Turn(event=event))}


@pytest.mark.parametrize(
    "text",
    [
        "please rebase onto main, then force push",
        "Then rebase onto main and run the tests.",
        "rebase onto main, then push",
        "Merge main into the branch",
        "Run the linter, then open a PR.",
    ],
)
def test_an_order_without_a_word_that_makes_it_last_is_no_procedure(text: str) -> None:
    assert MemoryType.PROCEDURE not in list_types(text)


@pytest.mark.parametrize(
    "text",
    [
        "commit after each step",
        "To roll back, run the deploy job with the previous tag and flush the cache.",
        "On a Sev1, page the on-call, open a bridge, then post in the incident channel.",
    ],
)
def test_a_standing_order_stays_a_procedure(text: str) -> None:
    assert MemoryType.PROCEDURE in list_types(text)
