"""Tasks of other agents: begin one, answer its questions, look at it, cancel it.

A task is a row of ids. Its state is derived from the messages and contests that they name, so that nothing has to run
for it: a restart loses nothing, and any process can answer. Every operation on a memory is called as the principal.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from credenda import limits
from credenda.clock import format_time
from credenda.errors import Conflict, Invalid, NotFound
from credenda.ids import draw_request_id
from credenda.interfaces.authorization import authorize, current_note, get_principal, invoke, note_operation
from credenda.interfaces.serialize import to_jsonable
from credenda.interfaces.server.memories import Memories
from credenda.model.change import ContestCase, ContestState
from credenda.model.query import Contradiction, Outcome
from credenda.model.server import FINISHED, AgentTask, Skill, TaskAnswer, TaskFilter, TaskState
from credenda.operations import OPERATIONS
from credenda.text.normalize import normalise_name

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


class TaskPage(NamedTuple):
    """A page of a list of tasks: their progress, the number of all, and the last task of the page if more follow."""

    tasks: Sequence[Progress]
    total: int
    last: AgentTask | None


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
                # A repeated message is stored once. Some clients number their messages anew in each
                # conversation: another text under a known id is another message.
                given: dict[str, Any] = {"content": list(wanted.messages), "session": context_id, "source": _SOURCE}
                given |= {"topic": wanted.topic} if wanted.topic is not None else {}
                try:
                    receipt = invoke(memory, _REMEMBER, {**given, "idempotency_key": key}, door="a2a")
                except Conflict:
                    receipt = invoke(memory, _REMEMBER, given, door="a2a")
                if not receipt.event_ids:
                    raise Invalid("no message was stored", why="; ".join(receipt.refused), fix="change it")
                events, contests = receipt.event_ids, ()
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
            for _ in range(_ATTEMPTS):
                answered = replace(task, answers=(*task.answers, added), updated_us=self._memories.clock.now_us())
                if self._store.update_task(get_principal().tenant, answered):
                    break
                task = self._find(task.id)
            return self._look(memory, self._find(task.id))

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
            last = shown[-1].task if shown and len(found) > wanted.limit else None
            return TaskPage(shown, self._store.count_tasks(user, wanted), last)

    def cancel(self, task_id: str) -> Progress:
        """End a task: it asks nothing more, and its messages stay. Raises `Conflict` for a finished one."""
        with self._memories.lend() as memory:
            authorize(_OUTCOME, memory)
            task = self._find(task_id)
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

    def _find(self, task_id: str) -> AgentTask:
        task = self._store.find_task(get_principal().tenant, task_id)
        if task is None:
            raise NotFound("there is no such task", fix="copy the id from the answer to its first message")
        return task

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


@contextmanager
def _hide_note() -> Generator[None]:
    """Call operations inside the block without a mention in the record of the call, which names the one asked for."""
    token = current_note.set(None)
    try:
        yield
    finally:
        current_note.reset(token)


# Read the message of another agent: a new task, or an answer to a question of one. Pure.


_LABEL: Final = re.compile(rf"[A-Za-z0-9._:@/-]{{1,{limits.AGENT_ID_CHARACTERS}}}")
_CHOICES: Final = {"keep existing": "existing", "keep new": "new", "keep both": "both"}
_HANDOVER: Final = frozenset({"skill", "messages", "topic", "contests"})
_ANSWER: Final = frozenset({"question", "resolution", "keep", "scopes"})
Choice = str
"""One of existing, new and both."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Incoming:
    """A message as the protocol carries it: its text parts, and the objects of its data parts joined."""

    message_id: str
    context_id: str = ""
    task_id: str = ""
    texts: tuple[str, ...] = ()
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Handover:
    """A new task: messages to consolidate, or the contests to ask about, where () means all open ones."""

    skill: Skill
    messages: tuple[Mapping[str, Any], ...] = ()
    topic: str | None = None
    contests: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer to a question; without an id, to the first one."""

    question: str = ""
    choice: Choice = ""
    keep: str | None = None
    scopes: Mapping[str, str] | None = None


def check_label(text: str, name: str) -> str:
    """Check an id that another agent has chosen: it is stored, and must not carry words of a memory."""
    if not _LABEL.fullmatch(text):
        why = f"it has other characters than letters, digits and ._:@/-, or more than {limits.AGENT_ID_CHARACTERS}"
        raise Invalid(f"the {name} is no id", why=why, fix="use a UUID")
    return text


def read_handover(incoming: Incoming) -> Handover:
    """Read a new task; raises `Invalid` for one that cannot be meant."""
    data = _check_names(incoming.data, _HANDOVER)
    messages = [{"role": "user", "content": text} for text in incoming.texts if text.strip()]
    value = data.get("messages", [])
    found = cast("list[object]", value) if isinstance(value, list) else [value]
    if not all(isinstance(one, dict) for one in found):
        raise Invalid("messages must be a list of objects", fix='send [{"role": "user", "content": "…"}]')
    messages += cast("list[dict[str, Any]]", found)
    try:
        skill = Skill(str(data.get("skill", Skill.CONSOLIDATE.value)))
    except ValueError:
        raise Invalid("there is no such skill", fix=f"use {' or '.join(one.value for one in Skill)}") from None
    if skill is Skill.CONSOLIDATE:
        if not messages or "contests" in data:
            raise Invalid(f"{skill} takes messages", why="there is no text", fix="send a text part, or `messages`")
        return Handover(skill=skill, messages=tuple(messages), topic=_read_text(data, "topic"))
    if "messages" in data or "topic" in data:
        raise Invalid(f"{skill} takes no messages", fix="send `contests`, or nothing")
    contests = data.get("contests", [])
    ids = cast("list[object]", contests) if isinstance(contests, list) else [contests]
    if not all(isinstance(one, str) for one in ids):
        raise Invalid("contests must be a list of ids", fix="send a list of strings")
    return Handover(skill=skill, contests=tuple(cast("list[str]", ids)))


def read_answer(incoming: Incoming) -> Answer:
    """Read an answer; text is one of the choices, a value, or the words "X when …, else Y"."""
    data = _check_names(incoming.data, _ANSWER)
    said = " ".join(incoming.texts).strip()
    choice, keep, scopes = _read_text(data, "resolution"), _read_text(data, "keep"), _read_scopes(data.get("scopes"))
    if choice is None and keep is None and scopes is None and said:
        choice = said if _find_choice(said) else None
        keep = None if choice else said
    if choice is not None and _find_choice(choice) is None:
        raise Invalid("there is no such resolution", fix="use keep_existing, keep_new or keep_both")
    if (keep is not None) + (choice is not None) + (scopes is not None and choice is None) != 1:
        why = "it must be one of resolution, keep and scopes"
        raise Invalid("the message is no answer", why=why, fix='send {"resolution": "keep_new"}')
    return Answer(
        question=_read_text(data, "question") or "",
        choice=_find_choice(choice or "") or "",
        keep=keep,
        scopes=scopes,
    )


def _find_choice(words: str) -> Choice | None:
    return _CHOICES.get(normalise_name(words.replace("_", " ").rstrip(".")))


def _check_names(data: Mapping[str, Any], known: Iterable[str]) -> Mapping[str, Any]:
    for name in data:
        if name not in known:
            raise Invalid(f"there is no field {name[:64]!r} here", fix=f"it takes {', '.join(sorted(known))}")
    return data


def _read_text(data: Mapping[str, Any], name: str) -> str | None:
    value = data.get(name)
    if value is not None and not isinstance(value, str):
        raise Invalid(f"{name} must be text", fix="send a string")
    return value


def _read_scopes(value: object) -> Mapping[str, str] | None:
    if value is None:
        return None
    table = cast("dict[str, object]", value) if isinstance(value, dict) else {"": None}
    if not all(isinstance(one, str) for one in table.values()):
        raise Invalid("scopes must map each scope to a value", fix='send {"at work": "tea", "default": "coffee"}')
    return cast("dict[str, str]", table)


# Derive the state of a task from its messages and contests. Pure.


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


# Show a task in the JSON form of protocol version 1.0.


_TASK_STATES: Final = {state: f"TASK_STATE_{state.name}" for state in TaskState}
_TASK_CHOICES: Final = ("keep_existing", "keep_new", "keep_both")
_MEMORY: Final = (
    *("id", "text", "type", "entity", "attribute", "value", "scope", "status", "confidence"),
    *("superseded_by", "contested"),
)
_CONTEST: Final = ("id", "entity", "attribute", "values", "resolution", "scopes", "memory_ids")
_RESULT: Final = "result"
_FAILED: Final = "The messages are stored, but they could not be processed. Search finds their words."


def show_task(progress: Progress) -> dict[str, Any]:
    """Show a whole task."""
    task = progress.task
    shown: dict[str, Any] = {
        "id": task.id,
        "contextId": task.context_id,
        "status": show_status(progress),
        "history": _show_history(progress),
        "metadata": {"skill": task.skill.value},
    }
    if progress.state is TaskState.COMPLETED:
        shown["artifacts"] = [show_artifact(progress)]
    return shown


def show_status(progress: Progress) -> dict[str, Any]:
    """Show the state of a task, with its questions where it waits for an answer."""
    task = progress.task
    status: dict[str, Any] = {"state": _TASK_STATES[progress.state], "timestamp": format_time(task.updated_us)}
    if progress.state is TaskState.INPUT_REQUIRED:
        asked = [
            {
                **{name: getattr(one, name) for name in ("id", "entity", "attribute", "scope", "question")},
                "values": list(one.values),
                "choices": list(_TASK_CHOICES),
            }
            for one in progress.questions
        ]
        text = "\n".join(one.question for one in progress.questions)
        status["message"] = _write_message(
            progress, len(task.answers), [{"text": text, "mediaType": "text/plain"}, _show_data({"questions": asked})]
        )
    if progress.state is TaskState.FAILED:
        status["message"] = _write_message(progress, len(task.answers), [{"text": _FAILED}])
    return status


def show_artifact(progress: Progress) -> dict[str, Any]:
    """Show the result of a completed task: the memories of its messages as they are now, and the answered contests."""
    memories = progress.outcome.memories if progress.outcome is not None else ()
    data = {
        "memories": [{name: getattr(one, name) for name in _MEMORY} for one in memories],
        "contests": [{name: getattr(one, name) for name in _CONTEST} for one in progress.answered],
    }
    text = f"Memories: {len(memories)}. Answered questions: {len(progress.answered)}."
    parts = [{"text": text, "mediaType": "text/plain"}, _show_data(to_jsonable(data, remote=True))]
    return {"artifactId": f"{progress.task.id}-{_RESULT}", "name": _RESULT, "parts": parts}


def _show_data(data: object) -> dict[str, Any]:
    return {"data": data, "mediaType": "application/json"}


def _show_history(progress: Progress) -> list[dict[str, Any]]:
    """Show the first message, and each answered question with its answer; deleted words are gone from it."""
    task = progress.task
    events = progress.outcome.events if progress.outcome is not None else ()
    texts = [one.text for one in events] or [f"skill {task.skill}"]
    shown = [_quote_user(progress, task.message_id, texts)]
    for number, contest in enumerate(progress.answered):
        shown.append(_write_message(progress, number, [{"text": contest.question}]))
        shown.append(_quote_user(progress, task.answers[number].message_id, [contest.resolution or ""]))
    return shown


def _quote_user(progress: Progress, message_id: str, texts: Sequence[str]) -> dict[str, Any]:
    parts = [{"text": text} for text in texts]
    return {**_list_ids(progress), "messageId": message_id, "role": "ROLE_USER", "parts": parts}


def _write_message(progress: Progress, number: int, parts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Write a message of ours; its id is the same each time it is shown."""
    name = f"{progress.task.id}-{number}"
    return {**_list_ids(progress), "messageId": name, "role": "ROLE_AGENT", "parts": list(parts)}


def _list_ids(progress: Progress) -> dict[str, str]:
    return {"taskId": progress.task.id, "contextId": progress.task.context_id}


# Errors for which the protocol has no word, such as a missing permission: the endpoint answers them over HTTP.


FAILURE: Final = "a2a_failure"
"""The key of such an error in the state of a request, and of the function that keeps it in the context of the SDK."""
