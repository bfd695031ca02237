"""Derive the state of a task from its messages and contests. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from credenda.errors import Invalid, NotFound
from credenda.interfaces.a2a.request import Answer
from credenda.model.agent_task import FINISHED, AgentTask, TaskState
from credenda.model.contest import ContestCase, ContestState
from credenda.model.outcome import Contradiction, Outcome

__all__ = ["Progress", "choose_resolution", "derive_state", "find_question", "list_questions"]

_STATES: Final[Mapping[str, TaskState]] = {
    "queued": TaskState.SUBMITTED,
    "running": TaskState.WORKING,
    "failed": TaskState.FAILED,
}
_TWO: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """A task with what is known of it now; its state is the present one, which may not be stored yet.

    `questions` are open; `answered` are the contests of the answers, in their order. `outcome` is None for a task
    without messages.
    """

    task: AgentTask
    outcome: Outcome | None
    questions: tuple[Contradiction, ...]
    answered: tuple[ContestCase, ...]

    @property
    def state(self) -> TaskState:
        """The present state."""
        return self.task.state


def derive_state(task: AgentTask, outcome: Outcome | None, questions: Sequence[Contradiction]) -> TaskState:
    """Return the present state of a task; a finished one stays as it is."""
    if task.state in FINISHED:
        return task.state
    if outcome is not None and outcome.state in _STATES:
        return _STATES[outcome.state]
    return TaskState.INPUT_REQUIRED if questions else TaskState.COMPLETED


def list_questions(
    task: AgentTask, outcome: Outcome | None, contests: Iterable[ContestCase]
) -> tuple[Contradiction, ...]:
    """Return the open questions of a task: what its messages contradict, or the contests that it is about."""
    if task.state in FINISHED:
        return ()
    if outcome is not None:
        return outcome.contradictions
    return tuple(
        Contradiction(
            id=one.id,
            entity=one.entity,
            attribute=one.attribute,
            scope=one.scope,
            values=one.values,
            question=one.question,
        )
        for one in contests
        if one.id in task.contests and one.state is ContestState.OPEN
    )


def find_question(questions: Sequence[Contradiction], answer: Answer) -> Contradiction:
    """Return the question that an answer names, or the first; raises `NotFound` for one that is not open."""
    found = next((one for one in questions if answer.question in {"", one.id}), None)
    if found is None:
        raise NotFound("the task has no such question", fix="copy an id from the questions of the task")
    return found


def choose_resolution(question: Contradiction, answer: Answer) -> dict[str, object]:
    """Return the inputs of `resolve` for an answer: `keep` a value, or `scopes`.

    Raises `Invalid` for "keep existing" where there are several earlier values.
    """
    if answer.scopes is not None and answer.choice in {"", "both"}:
        return {"scopes": dict(answer.scopes)}
    if answer.keep is not None:
        return {"keep": answer.keep}
    if answer.scopes is not None:
        raise Invalid("scopes go with keep_both", why=f"the resolution keeps the {answer.choice} value alone")
    if answer.choice == "existing" and len(question.values) > _TWO:
        listed = ", ".join(question.values[:-1])
        raise Invalid("keep_existing names several values", why=listed, fix='send one of them, as {"keep": "…"}')
    return {"keep": {"existing": question.values[0], "new": question.values[-1], "both": "both"}[answer.choice]}
