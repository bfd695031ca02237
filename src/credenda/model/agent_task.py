"""Tasks that other agents hand over: what is stored of each."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

__all__ = ["FINISHED", "AgentTask", "Skill", "TaskAnswer", "TaskFilter", "TaskState"]


class Skill(StrEnum):
    """The work that another agent may ask for."""

    CONSOLIDATE = "consolidate_memories"
    RESOLVE = "resolve_conflicts"


class TaskState(StrEnum):
    """The state of a task."""

    SUBMITTED = "submitted"
    WORKING = "working"
    INPUT_REQUIRED = "input-required"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELED = "canceled"


FINISHED: Final = frozenset({TaskState.COMPLETED, TaskState.FAILED, TaskState.CANCELED})
"""States that a task does not leave."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskAnswer:
    """One answer to a question of a task, and the message that gave it.

    `question` is the id of a contest or of a memory that contradicts earlier ones, `contest` that of its contest.
    """

    question: str
    contest: str
    message_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentTask:
    """A task as it is stored. It holds no words: `events` and `contests` are ids.

    `message_id` is the first message's, as its sender named it. `contests` are those that a task of the skill
    `resolve_conflicts` asks about. `version` counts the updates.
    """

    id: str
    context_id: str
    message_id: str
    skill: Skill
    state: TaskState
    events: tuple[str, ...] = ()
    contests: tuple[str, ...] = ()
    answers: tuple[TaskAnswer, ...] = ()
    created_us: int
    updated_us: int
    version: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskFilter:
    """A filter of tasks, the latest update first; `before` is the update time and id of the last one of a page."""

    context_id: str | None = None
    states: frozenset[TaskState] = field(default_factory=lambda: frozenset(TaskState))
    since_us: int = 0
    before: tuple[int, str] | None = None
    limit: int = 50
