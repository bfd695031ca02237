"""Tasks of other agents: each belongs to one tenant, begins once, and is updated by one writer at a time."""

from __future__ import annotations

from dataclasses import replace

import pytest

from credenda import limits
from credenda.errors import LimitExceeded
from credenda.model.server import AgentTask, Skill, TaskAnswer, TaskFilter, TaskState
from credenda.storage.store import Store

from .build import ANA, BEN


def make(number: int, state: TaskState = TaskState.SUBMITTED) -> AgentTask:
    return AgentTask(
        id=f"t{number}",
        context_id=f"c{number % 2}",
        message_id=f"m{number}",
        skill=Skill.CONSOLIDATE,
        state=state,
        events=("e1-000000", "e2-000000"),
        created_us=number,
        updated_us=number,
    )


def test_a_task_is_found_by_its_tenant_alone(store: Store) -> None:
    tasks, task = store.agent_tasks, make(1)
    assert tasks.add_task(ANA, task) == task
    assert tasks.find_task(ANA, "t1") == task
    assert tasks.find_task(BEN, "t1") is None
    assert tasks.list_tasks(BEN, TaskFilter()) == []
    assert tasks.count_tasks(BEN, TaskFilter()) == 0
    assert not tasks.update_task(BEN, replace(task, state=TaskState.CANCELED))
    assert tasks.add_task(BEN, task) == task
    assert tasks.find_task(ANA, "t1") == task


def test_a_first_message_begins_one_task(store: Store) -> None:
    tasks = store.agent_tasks
    first = tasks.add_task(ANA, make(1))
    assert tasks.add_task(ANA, replace(make(2), message_id="m1")) == first
    assert tasks.count_tasks(ANA, TaskFilter()) == 1
    other = replace(make(3), message_id="m1", events=("e3-000000",))
    assert tasks.add_task(ANA, other) == other


def test_a_finished_task_without_messages_is_not_begun_again(store: Store) -> None:
    tasks = store.agent_tasks
    asking = replace(make(1), skill=Skill.RESOLVE, events=(), contests=("k1-000000",))
    assert tasks.add_task(ANA, asking) == asking
    assert tasks.add_task(ANA, replace(asking, id="t2")) == asking
    tasks.update_task(ANA, replace(asking, state=TaskState.COMPLETED))
    assert tasks.add_task(ANA, replace(asking, id="t2")).id == "t2"


def test_of_two_updates_of_one_version_one_is_stored(store: Store) -> None:
    tasks, task = store.agent_tasks, make(1)
    tasks.add_task(ANA, task)
    answered = replace(task, answers=(TaskAnswer(question="m1", contest="k1", message_id="x"),), updated_us=9)
    assert tasks.update_task(ANA, answered)
    assert not tasks.update_task(ANA, replace(task, state=TaskState.CANCELED))
    assert tasks.find_task(ANA, "t1") == replace(answered, version=2)


def test_tasks_are_listed_by_their_last_update_in_pages(store: Store) -> None:
    tasks = store.agent_tasks
    for number in range(1, 6):
        tasks.add_task(ANA, make(number, TaskState.COMPLETED if number > 3 else TaskState.SUBMITTED))
    names = [one.id for one in tasks.list_tasks(ANA, TaskFilter())]
    assert names == ["t5", "t4", "t3", "t2", "t1"]
    page = tasks.list_tasks(ANA, TaskFilter(limit=2, before=(4, "t4")))
    assert [one.id for one in page] == ["t3", "t2"]
    finished = TaskFilter(states=frozenset({TaskState.COMPLETED}))
    assert {one.id for one in tasks.list_tasks(ANA, finished)} == {"t4", "t5"}
    assert {one.id for one in tasks.list_tasks(ANA, TaskFilter(context_id="c0", since_us=3))} == {"t4"}
    assert tasks.count_tasks(ANA, replace(finished, limit=1)) == 2


def test_the_oldest_finished_task_makes_room(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "AGENT_TASKS", 2)
    tasks = store.agent_tasks
    tasks.add_task(ANA, make(1))
    tasks.add_task(ANA, make(2, TaskState.FAILED))
    tasks.add_task(ANA, make(3))
    assert [one.id for one in tasks.list_tasks(ANA, TaskFilter())] == ["t3", "t1"]
    with pytest.raises(LimitExceeded):
        tasks.add_task(ANA, make(4))
    assert tasks.add_task(BEN, make(4)).id == "t4"
