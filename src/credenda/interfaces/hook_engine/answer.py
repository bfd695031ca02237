"""The answer to a hook: of a memory that is open, or of one on a server that is opened for it alone."""

from __future__ import annotations

from collections.abc import Mapping
from threading import Thread
from typing import Any, Final, cast

from credenda.agents.recall import Recalled, find_core, find_for_prompt, find_lines
from credenda.client import Credenda
from credenda.interfaces.hook.payload import format_status
from credenda.interfaces.hook.run import SERVER_THREAD
from credenda.model.memory import Status

__all__ = ["answer_from_server", "answer_hook"]

_IDS: Final = 2_000


def answer_hook(memory: Credenda, request: Mapping[str, Any]) -> dict[str, object]:
    """Answer one request. Raises `CredendaError` as the verbs do.

    `kind` is core, compact or prompt, lines for memories by their ids, status for the status line, or file.
    """
    kind, project, session = (str(request.get(name, "")) for name in ("kind", "project", "session"))
    match kind:
        case "prompt":
            seen = frozenset(_read_ids(request, "seen"))
            found = find_for_prompt(memory, str(request.get("text", "")), project=project, session=session, seen=seen)
        case "core" | "compact":
            found = find_core(memory, project=project, session=session, again=kind == "compact")
        case "lines":
            found = find_lines(memory, _read_ids(request, "ids"))
        case "status":
            found = Recalled(_describe_status(memory))
        case _:
            found = Recalled()
    return {"text": found.text, "ids": [*found.ids, *found.sources]}


def _read_ids(request: Mapping[str, Any], name: str) -> list[str]:
    told = request.get(name)
    return [str(one) for one in cast("list[object]", told)[:_IDS]] if isinstance(told, list) else []


def _describe_status(memory: Credenda) -> str:
    counts = memory.stats()
    doubtful = counts.memories.get(Status.CHALLENGED, 0)
    return format_status(counts.total + doubtful, counts.open_contests, doubtful)


def answer_from_server(
    database: str, user: str, request: Mapping[str, Any], *, seconds: float
) -> Mapping[str, object] | None:
    """Open the memory of a user on a server to read only, and answer one request; None if it takes longer.

    No model is loaded: the words alone are searched. A thread does it, because a name that is looked up and a server
    that hangs do not end in time. Raises `CredendaError` as the verbs do.
    """
    answers, failures = list[Mapping[str, object]](), list[Exception]()

    def answer() -> None:
        try:
            with Credenda.open(
                database, user=user, workers=False, read_only=True, embedder="none", llm="none"
            ) as memory:
                answers.append(answer_hook(memory, request))
        except Exception as error:  # noqa: BLE001 - raised again in the thread of the caller
            failures.append(error)

    thread = Thread(target=answer, name=SERVER_THREAD, daemon=True)
    thread.start()
    thread.join(seconds)
    if failures:
        raise failures[0]
    return answers[0] if answers else None
