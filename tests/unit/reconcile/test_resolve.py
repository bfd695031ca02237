"""Answers to contests."""

from dataclasses import replace
from typing import Unpack

import pytest

from credenda.errors import Conflict, Invalid
from credenda.model.change import Add, ContestCase, ContestState, Resolve
from credenda.model.claim import Span
from credenda.model.memory import MemoryType, Relation, Stance, Status
from credenda.write.contests import decide_resolution
from credenda.write.reconcile.slots import get_slot

from .build import ClaimParts, World, claim, kinds, occasion, only, prefers


def swung(**other: Unpack[ClaimParts]) -> World:
    world = World()
    for number, value in enumerate(["morning meetings", "afternoon meetings", "morning meetings"]):
        world.tell(prefers(value, **other), at=number * 30)
    return world


def contest(*values: str) -> ContestCase:
    return ContestCase(
        id="k1-abc123",
        speaker="user",
        entity="user",
        attribute="meeting_time",
        scope=None,
        type_class="belief",
        values=values,
        memory_ids=(),
        state=ContestState.OPEN,
        question="?",
        opened_us=0,
    )


@pytest.mark.requirement("R-086")
def test_one_value_is_kept_and_the_answer_is_weightier_than_what_alternated() -> None:
    world = swung()
    changes = world.resolve(61, keep="morning")
    assert kinds(changes) == ["Add", "Supersede", "Supersede", "Resolve"]
    (kept,) = [one for one in world.memories.values() if one.status is Status.ACTIVE]
    assert (kept.value, kept.scope, kept.type) == ("morning meetings", None, MemoryType.PREFERENCE)
    assert kept.text == "Prefers morning meetings."
    assert kept.importance >= 0.9
    assert kept.confidence >= 0.95
    assert world.of("afternoon meetings").relation is Relation.CHANGED
    assert only(Resolve, changes).scopes == {"morning meetings": "default"}
    assert not any(one.contested for one in world.memories.values())
    assert world.open() == []


@pytest.mark.requirement("R-086", "R-087")
def test_each_value_gets_its_scope() -> None:
    world = swung()
    changes = world.resolve(61, scopes={"default": "afternoon", "consulting": "morning"})
    scoped, default = [one for one in world.memories.values() if one.status is Status.ACTIVE]
    assert (scoped.scope, scoped.value) == ("consulting", "morning meetings")
    assert (default.scope, default.value) == (None, "afternoon meetings")
    assert scoped.text == "Prefers morning meetings for consulting; otherwise afternoon meetings."
    assert default.text == "Prefers afternoon meetings; morning meetings for consulting."
    assert min(scoped.importance, default.importance) >= 0.9
    assert min(scoped.confidence, default.confidence) >= 0.95
    answer = only(Resolve, changes)
    assert answer.scopes == {"morning meetings": "consulting", "afternoon meetings": "default"}
    assert answer.resolution == "morning meetings for consulting; otherwise afternoon meetings"
    assert [one.relation for one in world.memories.values()][1:3] == [Relation.REFINED, Relation.REFINED]
    assert world.true_at(45) == ["afternoon meetings"], "the past is as it was"


def test_an_answer_takes_over_what_already_held_in_its_scope() -> None:
    world = swung()
    world.tell(prefers("noon meetings", scope="consulting"), at=60)
    world.resolve(61, scopes={"consulting": "morning", "default": "afternoon"})
    slots = [get_slot(one) for one in world.memories.values() if one.status is Status.ACTIVE]
    assert len(slots) == len(set(slots))
    assert world.of("noon meetings").relation is Relation.CHANGED


def test_a_value_without_a_scope_in_the_answer_ends() -> None:
    world = swung()
    world.resolve(61, scopes={"when travelling": "morning"})
    assert [one.text for one in world.memories.values() if one.status is Status.ACTIVE] == [
        "Prefers morning meetings when travelling."
    ]


def test_one_value_may_hold_in_several_scopes() -> None:
    world = swung()
    changes = world.resolve(61, scopes={"a": "morning", "b": "morning", "default": "afternoon"})
    assert only(Resolve, changes).scopes == {"morning meetings": "a, b", "afternoon meetings": "default"}


def test_a_contest_about_a_scoped_slot_keeps_its_scope() -> None:
    world = swung(scope="Fridays")
    world.resolve(61, keep="morning")
    assert world.of("morning meetings").scope == "Fridays"


def test_facts_of_others_are_written_as_facts() -> None:
    world = World()
    for number, value in enumerate(["A", "B", "A"]):
        world.tell(claim(value, "office_days", entity="Ana"), at=number * 30)
    world.resolve(70, keep="A")
    assert world.of("A").text == "Ana’s office days: A."


def test_a_denial_can_be_kept() -> None:
    world = swung()
    world.tell(prefers("morning meetings", stance=Stance.NEGATED), at=61)
    world.resolve(62, keep="not morning")
    (kept,) = [one for one in world.memories.values() if one.status is Status.ACTIVE]
    assert (kept.value, kept.stance) == ("morning meetings", Stance.NEGATED)


def test_a_value_whose_memory_is_gone_can_still_be_the_answer() -> None:
    changes = decide_resolution(
        contest("morning", "noon"), (), keep="noon", scopes=None, occasion=occasion(1), span=Span("e9-abc123", 0, 4)
    )
    draft = only(Add, changes).draft
    assert (draft.value, draft.text, draft.type) == ("noon", "Meeting time: noon.", MemoryType.FACT)
    assert only(Add, changes).support[0].span.event_id == "e9-abc123"


@pytest.mark.parametrize("words", ["morning meetings", "MORNING", "the morning", "mornings"])
def test_a_value_is_named_by_its_words(words: str) -> None:
    world = swung()
    world.resolve(61, keep=words)
    assert world.values() == ["morning meetings"]


@pytest.mark.parametrize("words", ["meetings", "evening", "?"])
def test_an_unknown_or_ambiguous_value_is_refused_with_the_choices(words: str) -> None:
    with pytest.raises(Invalid) as refused:
        swung().resolve(61, keep=words)
    assert "“afternoon meetings”" in str(refused.value)
    assert "“morning meetings”" in str(refused.value)


def test_a_whole_value_is_not_ambiguous_because_another_contains_it() -> None:
    held = contest("morning", "late morning")
    changes = decide_resolution(held, (), keep="morning", scopes=None, occasion=occasion(1))
    assert only(Add, changes).draft.value == "morning"


@pytest.mark.parametrize(
    ("keep", "scopes"),
    [(None, None), ("morning", {"default": "morning"}), (" ", None), (None, {}), (None, {"a": "morning", "A": "noon"})],
)
def test_exactly_one_clear_answer_is_needed(keep: str | None, scopes: dict[str, str] | None) -> None:
    with pytest.raises(Invalid):
        decide_resolution(contest("morning", "noon"), (), keep=keep, scopes=scopes, occasion=occasion(1))


def test_a_contest_is_answered_once() -> None:
    closed = replace(contest("morning", "noon"), state=ContestState.RESOLVED)
    with pytest.raises(Conflict):
        decide_resolution(closed, (), keep="noon", scopes=None, occasion=occasion(1))
