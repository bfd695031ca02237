"""Tasks of other agents."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any, Final

from credenda import limits
from credenda.errors import LimitExceeded
from credenda.model.agent_task import FINISHED, AgentTask, Skill, TaskAnswer, TaskFilter, TaskState
from credenda.storage.damage import guard_row
from credenda.storage.sql.run import Record, StatementRunner
from credenda.storage.sql.server_tables import ServerTables

__all__ = ["AgentTaskRows"]

_FINISHED: Final = json.dumps(sorted(FINISHED))


class AgentTaskRows(ServerTables):
    """The part of a store that keeps tasks of other agents."""

    def add_task(self, user: str, task: AgentTask) -> AgentTask:
        """Store a new task, or return the one that the same message began."""

        def add(run: StatementRunner) -> AgentTask:
            row = _to_row(user, task)
            found = run("same_task", **row, finished=_FINISHED).fetchone()
            if found is not None:
                return _to_task(found)
            if run("count_all_tasks", user_id=user).fetchone()[0] >= limits.AGENT_TASKS:
                _prune(run, user)
            run("insert_task", **row)
            return task

        return self._change_tables(add, user, alone="tasks")

    def find_task(self, user: str, task_id: str) -> AgentTask | None:
        """Return a task of a tenant."""
        with self._view_tables(user) as run:
            row = run("task_by_id", user_id=user, id_text=task_id).fetchone()
        return None if row is None else _to_task(row)

    def update_task(self, user: str, task: AgentTask) -> bool:
        """Store a changed task if its version is the stored one."""
        return self._change_tables(lambda run: run("update_task", **_to_row(user, task)).rowcount == 1, user)

    def list_tasks(self, user: str, wanted: TaskFilter) -> list[AgentTask]:
        """Return tasks of a tenant, the latest update first."""
        at_us, last = wanted.before or (None, None)
        given = {**_to_conditions(user, wanted), "at_us": at_us, "last_id": last, "limit": wanted.limit}
        with self._view_tables(user) as run:
            return [_to_task(row) for row in run("list_tasks", **given)]

    def count_tasks(self, user: str, wanted: TaskFilter) -> int:
        """Return the number of tasks that meet a filter, on all pages."""
        with self._view_tables(user) as run:
            return run("count_tasks", **_to_conditions(user, wanted)).fetchone()[0]


def _prune(run: StatementRunner, user: str) -> None:
    if not run("prune_task", user_id=user, finished=_FINISHED).rowcount:
        raise LimitExceeded(
            f"{limits.AGENT_TASKS:,} tasks wait for an answer",
            why="more are not kept for one user",
            fix="answer or cancel some of them",
        )


def _to_conditions(user: str, wanted: TaskFilter) -> dict[str, Any]:
    states = json.dumps(sorted(wanted.states))
    return {"user_id": user, "since_us": wanted.since_us, "context_id": wanted.context_id, "states": states}


def _to_row(user: str, task: AgentTask) -> dict[str, Any]:
    return {
        **{name: getattr(task, name) for name in AgentTask.__dataclass_fields__ if name != "id"},
        "user_id": user,
        "id_text": task.id,
        "skill": task.skill.value,
        "state": task.state.value,
        "events": json.dumps(task.events),
        "contests": json.dumps(task.contests),
        "answers": json.dumps([asdict(one) for one in task.answers]),
    }


@guard_row("agent_tasks")
def _to_task(row: Record) -> AgentTask:
    return AgentTask(
        id=row["id"],
        context_id=row["context_id"],
        message_id=row["message_id"],
        skill=Skill(row["skill"]),
        state=TaskState(row["state"]),
        events=tuple(json.loads(row["events"])),
        contests=tuple(json.loads(row["contests"])),
        answers=tuple(TaskAnswer(**one) for one in json.loads(row["answers"])),
        created_us=row["created_at"],
        updated_us=row["updated_at"],
        version=row["version"],
    )
