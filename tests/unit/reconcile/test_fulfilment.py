"""A plan is settled by the same action with the same object, or by the completion of that object; by nothing else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from credenda.model.claim import Claim
from credenda.model.memory import Memory, MemoryType, Stance
from credenda.write.reconcile.implications import is_settled, may_settle

from .build import claim, memory


def plan(value: str, attribute: str = "plan", *, entity: str = "user", considered: bool = False) -> Memory:
    stance = Stance.CONSIDERED if considered else Stance.PLANNED
    return memory(value, attribute, entity=entity, stance=stance, confidence=0.5)


def done(value: str, attribute: str = "experience", *, entity: str = "user", stance: Stance = Stance.ASSERTED) -> Claim:
    return claim(value, attribute, entity=entity, stance=stance)


@pytest.mark.parametrize(
    ("planned", "then"),
    [
        (plan("taking a cooking class today"), done("took the cooking class")),
        (plan("taking a cooking class today"), done("cooking class was fantastic")),
        (plan("go to the pottery fair with Ana"), done("went to the pottery fair last Sunday")),
        (plan("visit Hawaii in May", "travel_plan"), done("Hawaii", "visited")),
        (plan("sign up for a lesson right now"), done("signed up for a lesson")),
        (plan("buy a red kayak"), done("red kayak", "bought")),
        (plan("Golf", "considering", considered=True), done("Golf", "bought")),
        (plan("Redis", "considering", considered=True), replace(done("Redis", "database"), type=MemoryType.DECISION)),
        (plan("rewrite the login page", "goal", entity="login page"), done("completed", "status", entity="login page")),
        (plan("containerize my shop", "goal"), done("containerized my shop")),
        (plan("implement the login page", "goal"), done("implemented the login page", "status", entity="login page")),
    ],
)
def test_what_was_planned_is_done(planned: Memory, then: Claim) -> None:
    assert may_settle(then)
    assert is_settled(then, planned)


@pytest.mark.parametrize(
    ("planned", "then"),
    [
        (plan("visit Hawaii"), done("found a zip line in Hawaii")),
        (plan("trip to Boston"), done("trip to Japan was great")),
        (plan("trip to Boston"), done("the trip was great")),
        (plan("solve the logic puzzle", "goal"), done("completed", "status", entity="8 logic puzzles")),
        (plan("verify my results", "goal"), done("verifying my results", "status", entity="results")),
        (plan("visit the museum in Rome"), done("visited a gallery")),
        (plan("take a cooking class"), done("took a pottery class")),
        (plan("take the pottery class"), done("took a class")),
        (plan("go to the gym every day"), done("went to the gym")),
        (plan("optimize the login page", "goal"), done("completed", "status", entity="login page")),
        (plan("run a marathon", entity="sister"), done("ran a marathon")),
        (plan("go there on Monday morning"), done("going to this morning", "does")),
        (plan("have a party"), done("had a coffee")),
        (plan("peer review for April 2"), done("completed", "status", entity="final code review")),
        (plan("coffee with Ana"), done("coffee", "has")),
    ],
)
def test_another_action_settles_no_plan(planned: Memory, then: Claim) -> None:
    assert not is_settled(then, planned)


def test_a_plan_settles_what_was_considered_and_no_other_plan() -> None:
    then = done("moving to Oslo", "plan", stance=Stance.PLANNED)
    assert is_settled(then, plan("moving to Oslo", "considering", considered=True))
    assert not is_settled(then, plan("move to Oslo"))


def test_what_is_denied_or_only_wished_settles_nothing() -> None:
    for stance in (Stance.NEGATED, Stance.HYPOTHETICAL, Stance.REPORTED):
        assert not may_settle(done("took the cooking class", stance=stance))
