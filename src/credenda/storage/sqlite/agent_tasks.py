"""Tasks of other agents in SQLite."""

from __future__ import annotations

import json
import sqlite3
from abc import ABC, abstractmethod
from dataclasses import asdict
from typing import Any, Final

from credenda import limits
from credenda.errors import LimitExceeded
from credenda.model.agent_task import FINISHED, AgentTask, Skill, TaskAnswer, TaskFilter, TaskState
from credenda.storage.damage import guard_row
from credenda.storage.sqlite.connection import ReadPool
from credenda.storage.sqlite.group import GroupCommit

__all__ = ["AgentTaskRows"]

_INSERT: Final = """INSERT INTO agent_tasks (user_id, id, context_id, message_id, skill, state, events, contests,
    answers, created_at, updated_at, version)
VALUES (:user_id, :id, :context_id, :message_id, :skill, :state, :events, :contests, :answers,
    :created_us, :updated_us, :version)"""
_FIND: Final = "SELECT * FROM agent_tasks WHERE user_id = ? AND id = ?"
_FIND_SAME: Final = """SELECT * FROM agent_tasks
WHERE user_id = :user_id AND message_id = :message_id AND skill = :skill AND events = :events AND contests = :contests
    AND (events <> '[]' OR (context_id = :context_id AND state NOT IN (SELECT value FROM json_each(:finished))))"""
_UPDATE: Final = """UPDATE agent_tasks SET state = :state, answers = :answers, updated_at = :updated_us,
    version = version + 1
WHERE user_id = :user_id AND id = :id AND version = :version"""
_WHERE: Final = """FROM agent_tasks WHERE user_id = :user_id AND updated_at >= :since_us
    AND (:context_id IS NULL OR context_id = :context_id)
    AND state IN (SELECT value FROM json_each(:states))"""
_LIST: Final = f"""SELECT * {_WHERE} AND (:at IS NULL OR (updated_at, id) < (:at, :last))
ORDER BY updated_at DESC, id DESC LIMIT :limit"""
_COUNT: Final = f"SELECT count(*) {_WHERE}"
_COUNT_ALL: Final = "SELECT count(*) FROM agent_tasks WHERE user_id = ?"
_PRUNE: Final = """DELETE FROM agent_tasks WHERE user_id = :user_id AND id IN (
    SELECT id FROM agent_tasks WHERE user_id = :user_id AND state IN (SELECT value FROM json_each(:states))
    ORDER BY updated_at, id LIMIT 1)"""
_FINISHED: Final = json.dumps(sorted(FINISHED))


class AgentTaskRows(ABC):
    """The part of a SQLite store that keeps tasks of other agents."""

    _readers: ReadPool

    @abstractmethod
    def _writable(self) -> tuple[sqlite3.Connection, GroupCommit]:
        """Return the connection that writes, and the commits that it shares."""

    def add_task(self, user: str, task: AgentTask) -> AgentTask:
        """Store a new task, or return the one that the same message began."""
        connection, commits = self._writable()

        def add() -> AgentTask:
            row = _to_row(user, task)
            found = connection.execute(_FIND_SAME, {**row, "finished": _FINISHED}).fetchone()
            if found is not None:
                return _to_task(found)
            if connection.execute(_COUNT_ALL, (user,)).fetchone()[0] >= limits.AGENT_TASKS:
                _prune(connection, user)
            connection.execute(_INSERT, row)
            return task

        return commits.run(add)

    def find_task(self, user: str, task_id: str) -> AgentTask | None:
        """Return a task of a tenant."""
        with self._readers.take() as connection:
            row = connection.execute(_FIND, (user, task_id)).fetchone()
        return None if row is None else _to_task(row)

    def update_task(self, user: str, task: AgentTask) -> bool:
        """Store a changed task if its version is the stored one."""
        connection, commits = self._writable()
        return commits.run(lambda: connection.execute(_UPDATE, _to_row(user, task)).rowcount == 1)

    def list_tasks(self, user: str, wanted: TaskFilter) -> list[AgentTask]:
        """Return tasks of a tenant, the latest update first."""
        at, last = wanted.before or (None, None)
        given = {**_to_conditions(user, wanted), "at": at, "last": last, "limit": wanted.limit}
        with self._readers.take() as connection:
            return [_to_task(row) for row in connection.execute(_LIST, given)]

    def count_tasks(self, user: str, wanted: TaskFilter) -> int:
        """Return the number of tasks that meet a filter, on all pages."""
        with self._readers.take() as connection:
            return connection.execute(_COUNT, _to_conditions(user, wanted)).fetchone()[0]


def _prune(connection: sqlite3.Connection, user: str) -> None:
    if not connection.execute(_PRUNE, {"user_id": user, "states": _FINISHED}).rowcount:
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
        **{name: getattr(task, name) for name in AgentTask.__dataclass_fields__},
        "user_id": user,
        "skill": task.skill.value,
        "state": task.state.value,
        "events": json.dumps(task.events),
        "contests": json.dumps(task.contests),
        "answers": json.dumps([asdict(one) for one in task.answers]),
    }


@guard_row("agent_tasks")
def _to_task(row: sqlite3.Row) -> AgentTask:
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
