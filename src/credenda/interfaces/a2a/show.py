"""Show a task in the JSON form of protocol version 1.0."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from credenda.clock import format_time
from credenda.interfaces.a2a.progress import Progress
from credenda.interfaces.serialize import to_jsonable
from credenda.model.agent_task import TaskState
from credenda.model.outcome import Contradiction

__all__ = ["show_artifact", "show_status", "show_task"]

_STATES: Final = {state: f"TASK_STATE_{state.name}" for state in TaskState}
_CHOICES: Final = ("keep_existing", "keep_new", "keep_both")
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
    status: dict[str, Any] = {"state": _STATES[progress.state], "timestamp": format_time(task.updated_us)}
    if progress.state is TaskState.INPUT_REQUIRED:
        status["message"] = _write_message(progress, len(task.answers), _write_questions(progress.questions))
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


def _write_questions(questions: Sequence[Contradiction]) -> list[dict[str, Any]]:
    """Write the questions as text and as data."""
    asked = [
        {
            **{name: getattr(one, name) for name in ("id", "entity", "attribute", "scope", "question")},
            "values": list(one.values),
            "choices": list(_CHOICES),
        }
        for one in questions
    ]
    text = "\n".join(one.question for one in questions)
    return [{"text": text, "mediaType": "text/plain"}, _show_data({"questions": asked})]


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
