"""The storage of tasks of other agents."""

from __future__ import annotations

from typing import Protocol

from credenda.model.agent_task import AgentTask, TaskFilter

__all__ = ["AgentTaskStore"]


class AgentTaskStore(Protocol):
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
        ...

    def find_task(self, user: str, task_id: str) -> AgentTask | None:
        """Return a task of a tenant; None for an unknown id, and for one of another tenant."""
        ...

    def update_task(self, user: str, task: AgentTask) -> bool:
        """Store a changed task with the next version; return False, and change nothing, for an outdated version."""
        ...

    def list_tasks(self, user: str, wanted: TaskFilter) -> list[AgentTask]:
        """Return tasks of a tenant, the latest update first."""
        ...

    def count_tasks(self, user: str, wanted: TaskFilter) -> int:
        """Return the number of tasks that meet a filter, on all pages."""
        ...
