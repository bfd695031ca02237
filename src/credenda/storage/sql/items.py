"""Items that programs keep, and tasks of other agents."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any, Final

from credenda import limits
from credenda.errors import Conflict, LimitExceeded
from credenda.ids import parse_id
from credenda.model.item import ANY_VERSION, Item, ItemFilter, ItemRemoval
from credenda.model.server import FINISHED, AgentTask, Skill, TaskAnswer, TaskFilter, TaskState
from credenda.storage.damage import guard_row
from credenda.storage.sql.server_tables import ServerTables
from credenda.storage.sql.statements import Record, StatementRunner

_LAST: Final = "\U0010ffff"
_ALL: Final = 1 << 62


class ItemStore(ServerTables):
    """The items of a database; each belongs to one tenant. A writer files them (`Item`, `ItemRemoval`)."""

    def find_items(self, user_id: str, wanted: ItemFilter) -> list[Item]:
        """Return the items of a tenant that match a filter."""
        name = "find_newest_items" if wanted.newest else "find_items"
        name = "find_expired_items" if wanted.expired else name
        given = {
            "user_id": user_id,
            "space": wanted.space,
            "is_below": int(wanted.below),
            "last_space": wanted.space + _LAST,
            "key": wanted.key,
            "key_begins": wanted.key_begins,
            "sources": json.dumps(wanted.sources),
            "now_us": wanted.now_us,
            "limit": wanted.limit if wanted.limit >= 0 else _ALL,
        }
        with self._view_tables(user_id) as run:
            return [_to_item(row) for row in run(name, **given)]


@guard_row("items")
def _to_item(row: Record) -> Item:
    return Item(
        space=row["space"],
        key=row["key"],
        value=row["value"],
        source=row["source"],
        version=row["version"],
        created_us=row["created_at"],
        updated_us=row["updated_at"],
        expires_us=row["expires_at"],
    )


def write_item(run: StatementRunner, row: Item | ItemRemoval, tag: str, now_us: int) -> str:
    """Store or delete an item in the present transaction, and return its key; raise `Conflict` for another version.

    Raises `NotFound` for a source of another tenant.
    """
    if isinstance(row, Item) and row.source is not None:
        parse_id(row.source, tag)
    key = row.key
    if key == "":
        last = run("numbered_keys", space=row.space).fetchone()
        number = str(last[0]) if last else "0"
        key = f"{int(number) + 1 if number.isdecimal() else 1:012}"
    if row.version != ANY_VERSION:
        found = run("item_version", space=row.space, key=key, now_us=now_us).fetchone()
        if (found[0] if found else 0) != row.version:
            raise Conflict(
                "this item has another version by now",
                why="someone else has written it, or it is gone",
                fix="read it again, and repeat the change",
            )
    if isinstance(row, ItemRemoval):
        run("delete_items", space=row.space, key=key)
        return ""
    run(
        "put_item",
        space=row.space,
        key=key,
        value=row.value,
        source=row.source,
        updated_us=row.updated_us,
        expires_us=row.expires_us,
    )
    return key or ""


# Tasks of other agents.


_FINISHED: Final = json.dumps(sorted(FINISHED))


class AgentTaskStore(ServerTables):
    """The tasks of a database; each belongs to one tenant. Erasing a tenant deletes its tasks in the same transaction.

    Tasks are not part of an export: they name ids of this database, and an agent that waits for one waits here.
    """

    def add_task(self, user: str, task: AgentTask) -> AgentTask:
        """Store a new task, durable on return; or return the one that the same message began.

        That one has the same message id, skill, events and contests. Without events it is unfinished and has the same
        context.
        A tenant has a bounded number of tasks: the oldest finished one makes room. Raises `LimitExceeded` where none
        is finished.
        """

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
        """Return a task of a tenant; None for an unknown id, and for one of another tenant."""
        with self._view_tables(user) as run:
            row = run("task_by_id", user_id=user, id_text=task_id).fetchone()
        return None if row is None else _to_task(row)

    def update_task(self, user: str, task: AgentTask) -> bool:
        """Store a changed task with the next version; return False, and change nothing, for an outdated version."""
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
