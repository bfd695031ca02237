"""Tasks of other agents: begin one, answer its questions, look at it, cancel it.

A task is a row of ids. Its state is derived from the messages and contests that they name, so that nothing has to run
for it: a restart loses nothing, and any process can answer. Every operation on a memory is called as the principal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from credenda.errors import Conflict, Invalid, NotFound
from credenda.ids import draw_request_id
from credenda.interfaces.a2a.request import (
    Answer,
    Handover,
    Incoming,
    Progress,
    check_label,
    choose_resolution,
    derive_state,
    find_question,
    list_questions,
)
from credenda.interfaces.authorization import authorize, current_note, get_principal, note_operation
from credenda.interfaces.dispatch import invoke
from credenda.interfaces.server.memories import Memories
from credenda.model.change import ContestCase, ContestState
from credenda.model.query import Outcome
from credenda.model.server import FINISHED, AgentTask, Skill, TaskAnswer, TaskFilter, TaskState
from credenda.operation import Operation
from credenda.operations import OPERATIONS

if TYPE_CHECKING:
    from collections.abc import Generator

    from credenda.client import Credenda

_REMEMBER: Final = OPERATIONS["remember"]
_OUTCOME: Final = OPERATIONS["outcome"]
_CONTESTS: Final = OPERATIONS["contests"]
_RESOLVE: Final = OPERATIONS["resolve"]
_ATTEMPTS: Final = 5
_REFRESHED: Final = 500
"""Unfinished tasks whose state a list derives anew."""
_SOURCE: Final = "ai"
"""The source of the messages: an agent's word, which does not replace the user's."""
_UNFINISHED: Final = frozenset(TaskState) - FINISHED


class TaskPage:
    """A page of a list of tasks: their progress, the number of all, and the last task of the page if more follow."""

    def __init__(self, tasks: Sequence[Progress], total: int, *, more: bool) -> None:
        self.tasks = tasks
        self.total = total
        self.last = tasks[-1].task if more and tasks else None


class AgentTasks:
    """The tasks of the tenant of the current principal. All methods may be called from any thread.

    Raises `Forbidden` for a principal without the scope of an operation, `NotFound` for an unknown task and for one of
    another tenant.
    """

    def __init__(self, memories: Memories) -> None:
        self._memories = memories
        self._store = memories.agent_tasks

    def begin(self, incoming: Incoming, wanted: Handover) -> Progress:
        """Store the messages of a new task, or the contests that it asks about; the same message begins it once.

        Raises `Invalid` for messages that are refused.
        """
        context_id = check_label(incoming.context_id or draw_request_id(), "contextId")
        message_id = check_label(incoming.message_id, "messageId")
        with self._memories.lend() as memory:
            authorize(_OUTCOME, memory)
            if wanted.skill is Skill.CONSOLIDATE:
                key = f"a2a:{incoming.context_id}:{message_id}"
                events, contests = _store_messages(memory, wanted, key, context_id), ()
            else:
                # Return the open contests that a task asks about; raises `Invalid` for an id that names none.
                found: Mapping[str, ContestCase] = {
                    one.id: one for one in invoke(memory, _CONTESTS, {}, door="a2a") if one.state is ContestState.OPEN
                }
                unknown = [name for name in wanted.contests if name not in found]
                if unknown:
                    raise Invalid(
                        f"there is no open contest {unknown[0][:64]!r}", fix="leave `contests` out to ask about all"
                    )
                events, contests = (), (tuple(dict.fromkeys(wanted.contests)) or tuple(found))
            now_us = self._memories.clock.now_us()
            new = AgentTask(
                id=draw_request_id(),
                context_id=context_id,
                message_id=message_id,
                skill=wanted.skill,
                state=TaskState.SUBMITTED,
                events=events,
                contests=contests,
                created_us=now_us,
                updated_us=now_us,
            )
            task = self._store.add_task(get_principal().tenant, new)
            return self._look(memory, task)

    def answer(self, incoming: Incoming, answer: Answer) -> Progress:
        """Answer a question of a task; a repeated message changes nothing.

        Raises `Conflict` for a task that waits for no answer, `Invalid` for an answer that cannot be meant.
        """
        message_id = check_label(incoming.message_id, "messageId")
        with self._memories.lend() as memory:
            note_operation(_RESOLVE, "a2a", {"id": answer.question})
            authorize(_RESOLVE, memory)
            progress = self._look(memory, self._find(incoming.task_id))
            task = progress.task
            if incoming.context_id and incoming.context_id != task.context_id:
                raise Invalid("the task has another contextId", fix="leave it out, or give that of the task")
            if any(one.message_id == message_id for one in task.answers):
                return progress
            if task.state is not TaskState.INPUT_REQUIRED:
                raise Conflict("the task waits for no answer", why=f"it is {task.state}", fix="begin a new task")
            question = find_question(progress.questions, answer)
            given = {"id": question.id, **choose_resolution(question, answer)}
            resolution = invoke(memory, _RESOLVE, given, door="a2a")
            added = TaskAnswer(question=question.id, contest=resolution.contest.id, message_id=message_id)
            return self._look(memory, self._record(task, added))

    def show(self, task_id: str) -> Progress:
        """Return a task with its present state."""
        with self._memories.lend() as memory:
            note_operation(_OUTCOME, "a2a", {"id": task_id})
            authorize(_OUTCOME, memory)
            return self._look(memory, self._find(task_id))

    def watch(self, task_id: str) -> Progress:
        """Look at a task once more within the same call, which keeps the operation that its record names."""
        with _hide_note():
            return self.show(task_id)

    def list(self, wanted: TaskFilter) -> TaskPage:
        """Return a page of tasks, the latest update first."""
        user = get_principal().tenant
        with self._memories.lend() as memory:
            note_operation(_OUTCOME, "a2a", {})
            authorize(_OUTCOME, memory)
            for task in self._store.list_tasks(user, TaskFilter(states=_UNFINISHED, limit=_REFRESHED)):
                self._look(memory, task)
            found = self._store.list_tasks(user, replace(wanted, limit=wanted.limit + 1))
            shown = [self._look(memory, task) for task in found[: wanted.limit]]
            return TaskPage(shown, self._store.count_tasks(user, wanted), more=len(found) > wanted.limit)

    def cancel(self, task_id: str) -> Progress:
        """End a task: it asks nothing more, and its messages stay. Raises `Conflict` for a finished one."""
        with self._memories.lend() as memory:
            task = self._find(task_id, _OUTCOME, memory)
            operation = _REMEMBER if task.skill is Skill.CONSOLIDATE else _RESOLVE
            note_operation(operation, "a2a", {"id": task_id})
            authorize(operation, memory)
            for _ in range(_ATTEMPTS):
                progress = self._look(memory, self._find(task_id))
                if progress.state in FINISHED:
                    raise Conflict("the task cannot be canceled", why=f"it is {progress.state}")
                canceled = replace(progress.task, state=TaskState.CANCELED, updated_us=self._memories.clock.now_us())
                if self._store.update_task(get_principal().tenant, canceled):
                    return self._look(memory, self._find(task_id))
            raise Conflict("the task changes at this moment", fix="try again")

    def _find(self, task_id: str, operation: Operation | None = None, memory: Credenda | None = None) -> AgentTask:
        if operation is not None:
            authorize(operation, memory)
        task = self._store.find_task(get_principal().tenant, task_id)
        if task is None:
            raise NotFound("there is no such task", fix="copy the id from the answer to its first message")
        return task

    def _record(self, task: AgentTask, added: TaskAnswer) -> AgentTask:
        """Store an answer that was carried out."""
        for _ in range(_ATTEMPTS):
            answered = replace(task, answers=(*task.answers, added), updated_us=self._memories.clock.now_us())
            if self._store.update_task(get_principal().tenant, answered):
                break
            task = self._find(task.id)
        return self._find(task.id)

    def _look(self, memory: Credenda, task: AgentTask) -> Progress:
        """Derive the present state of a task, and store it."""
        outcome: Outcome | None = None
        contests: Sequence[ContestCase] = ()
        with _hide_note():
            if task.events:
                outcome = invoke(memory, _OUTCOME, {"event_ids": list(task.events)}, door="a2a")
            if task.answers or not task.events:
                contests = invoke(memory, _CONTESTS, {}, door="a2a")
        questions = list_questions(task, outcome, contests)
        state = derive_state(task, outcome, questions)
        if state is not task.state:
            task = self._store_state(task, state)
        by_id = {one.id: one for one in contests}
        answered = tuple(by_id[one.contest] for one in task.answers if one.contest in by_id)
        return Progress(task=task, outcome=outcome, questions=questions, answered=answered)

    def _store_state(self, task: AgentTask, state: TaskState) -> AgentTask:
        """Store a state; another process that does the same at this moment is as good."""
        moved = replace(task, state=state, updated_us=self._memories.clock.now_us())
        if not self._memories.read_only and self._store.update_task(get_principal().tenant, moved):
            return replace(moved, version=task.version + 1)
        return moved


def _store_messages(memory: Credenda, wanted: Handover, key: str, context_id: str) -> tuple[str, ...]:
    """Store the messages of a task and return the ids of their events.

    A repeated message is stored once. Some clients number their messages anew in each conversation: another text under
    a known id is another message.
    """
    given: dict[str, Any] = {"content": list(wanted.messages), "session": context_id, "source": _SOURCE}
    given |= {"topic": wanted.topic} if wanted.topic is not None else {}
    try:
        receipt = invoke(memory, _REMEMBER, {**given, "idempotency_key": key}, door="a2a")
    except Conflict:
        receipt = invoke(memory, _REMEMBER, given, door="a2a")
    if not receipt.event_ids:
        raise Invalid("no message was stored", why="; ".join(receipt.refused), fix="change it")
    return receipt.event_ids


@contextmanager
def _hide_note() -> Generator[None]:
    """Call operations inside the block without a mention in the record of the call, which names the one asked for."""
    token = current_note.set(None)
    try:
        yield
    finally:
        current_note.reset(token)
