"""Questions from outside: asked, answered in words, audited, and opened again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import cast

import pytest

from credenda import Credenda, Invalid, MemoryUnit
from credenda.model.change import ContestCase, ContestState
from credenda.testing import ManualClock

Say = Callable[..., None]


@pytest.fixture
def case(mem: Credenda) -> ContestCase:
    for value, when in (("morning", "2026-01-01"), ("afternoon", "2026-01-20"), ("morning", "2026-02-10")):
        mem.store(
            MemoryUnit(
                text=f"I prefer {value} meetings",
                type="preference",
                entity="user",
                attribute="meeting_time",
                value=f"{value} meetings",
                created_at=when,
            )
        )
    (asked,) = mem.manage.contests()
    return asked


def _meeting(text: str, value: str) -> MemoryUnit:
    return MemoryUnit(text=text, type="preference", entity="user", attribute="meeting_time", value=value)


def held(mem: Credenda) -> set[tuple[str | None, str | None]]:
    return {(one.scope, one.value) for one in mem.list(attribute="meeting_time").items}


@pytest.mark.requirement("R-083", "R-086")
def test_a_question_speaks_to_the_person_and_to_an_agent(case: ContestCase) -> None:
    assert case.question.startswith("For your meeting time I have heard")
    assert case.question in case.agent_question
    assert case.id in case.agent_question
    assert "Do not choose for them" in case.agent_question


@pytest.mark.requirement("R-086", "R-087")
@pytest.mark.parametrize(
    ("answer", "scope"),
    [
        ("morning when consulting, else afternoon", "consulting"),
        ("For consulting, morning; otherwise afternoon.", "consulting"),
        ("morning when I am in Vienna, in all other cases afternoon", "when I am in Vienna"),
    ],
)
def test_an_answer_in_words_gives_each_value_its_scope(
    mem: Credenda, case: ContestCase, *, answer: str, scope: str
) -> None:
    done = mem.manage.resolve(case.id, keep=answer)
    assert held(mem) == {(scope, "morning meetings"), (None, "afternoon meetings")}
    assert done.contest.state is ContestState.RESOLVED
    assert done.contest.agent_question == ""
    governing = [mem.get(one) for one in done.memory_ids]
    assert all(one.importance >= 0.9 and one.confidence >= 0.95 for one in governing)


@pytest.mark.requirement("R-086")
def test_what_the_answer_covers_confirms_and_anything_else_opens_it_again(mem: Credenda, case: ContestCase) -> None:
    mem.manage.resolve(case.id, keep="morning when consulting, else afternoon")
    before = held(mem)
    mem.store(_meeting("Morning meetings it is", "morning meetings"))
    assert held(mem) == before
    mem.store(_meeting("I prefer evening meetings", "evening meetings"))
    (again,) = [one for one in mem.manage.contests() if one.state is ContestState.OPEN]
    assert "evening meetings" in again.values


@pytest.mark.parametrize(
    "answer", ["when consulting", "morning when consulting, else evening", "morning else", "x, else y"]
)
def test_an_answer_that_names_no_value_is_refused(mem: Credenda, case: ContestCase, answer: str) -> None:
    before = held(mem)
    with pytest.raises(Invalid, match=r"names none|morning meetings"):
        mem.manage.resolve(case.id, keep=answer)
    assert held(mem) == before


@pytest.mark.requirement("R-084", "R-085")
def test_the_audit_lists_what_goes_in_circles(mem: Credenda, clock: ManualClock, say: Say) -> None:
    say("I live in Linz.", "I moved to Graz.", "I moved to Wels.", "I moved to Steyr.", days=3)
    say("I work at Bosch.", "I now work at Siemens.", days=3)
    (loop,) = mem.manage.loops()
    assert (loop.entity, loop.attribute) == ("user", "residence")
    assert loop.chain == "Linz -> Graz -> Wels -> Steyr"
    assert loop.superseded_count == 3
    assert loop.contest_id == mem.manage.contests()[0].id
    assert loop.first_seen < loop.last_superseded <= clock.now()
    assert mem.manage.loops(days=1) == []
    with pytest.raises(Invalid):
        mem.manage.loops(days=0)


def test_scopes_that_map_nothing_are_refused(mem: Credenda, case: ContestCase) -> None:
    with pytest.raises(Invalid, match="scopes must map"):
        mem.manage.resolve(case.id, scopes=cast("Mapping[str, str]", ["morning"]))


def test_the_values_of_an_answer_go_to_an_agent_together(mem: Credenda, case: ContestCase) -> None:
    mem.manage.resolve(case.id, scopes={"in winter": "morning meetings", "in summer": "afternoon meetings"})
    blocks = [mem.context("When do we meet in winter?", token_budget=budget).text for budget in range(25, 125, 5)]
    shown = [("morning" in block, "afternoon" in block) for block in blocks]
    assert set(shown) == {(False, False), (True, True)}


def test_the_value_of_an_answer_that_a_search_misses_goes_to_the_agent_beside_the_other(
    mem: Credenda, case: ContestCase
) -> None:
    mem.manage.resolve(case.id, scopes={"in winter": "morning meetings", "in summer": "afternoon meetings"})
    assert [hit.memory.value for hit in mem.search("winter", limit=1).hits if hit.memory] == ["morning meetings"]
    block = mem.context("winter", limit=1).text
    assert "morning meetings (in winter)" in block
    assert "afternoon meetings (in summer)" in block
