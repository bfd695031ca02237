"""Work of a call in a worker thread: its progress goes to the client, and a cancelled call stops."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from threading import Event
from typing import Any, Final, Literal, TypeVar

import anyio
import mcp_types as wire
from anyio import from_thread, to_thread
from anyio.streams.memory import MemoryObjectSendStream
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from credenda import limits
from credenda.deadline import allow_stop, has_deadline, limit_duration
from credenda.errors import Invalid
from credenda.model.contest import ContestCase
from credenda.progress import Report, report_to

Call = ServerRequestContext[Any]
T = TypeVar("T")
_Step = tuple[float, float, str]
_STEPS_WAITING: Final = 64
"""Steps that a slow client may be behind; the next ones are left out."""


async def run_work(call: Call, work: Callable[..., T], *args: object, lasting: bool = False) -> T:
    """Run work in a worker thread and return its result.

    Work of a cancelled call ends at its next statement, and this returns when it has ended, so that nothing works on a
    memory that nobody holds any more. `lasting` work, which is maintenance, may take as long at this door as at the
    others, and a client that gave a progress token gets its progress.
    """
    outcome: list[T | Exception] = []
    tried = partial(_try, outcome, work, *args)
    with ExitStack() as stack:
        if lasting and has_deadline():
            stack.enter_context(limit_duration(limits.HTTP_MAINTENANCE_SECONDS))
        stop = stack.enter_context(allow_stop())
        async with anyio.create_task_group() as group:
            group.start_soon(_stop_with_call, stop)
            await (_report_while(call, tried) if lasting else to_thread.run_sync(tried))
            group.cancel_scope.cancel()
    (result,) = outcome
    if isinstance(result, Exception):
        raise result
    return result


def _try(outcome: list[T | Exception], work: Callable[..., T], *args: object) -> None:
    """Note the result, or the error, which a task group would wrap."""
    try:
        outcome.append(work(*args))
    except Exception as error:  # noqa: BLE001 - the caller raises it
        outcome.append(error)


async def _report_while(call: Call, work: Callable[[], None]) -> None:
    """Run work in a worker thread, and send its progress to the client."""
    sending, receiving = anyio.create_memory_object_stream[_Step](_STEPS_WAITING)
    async with anyio.create_task_group() as group:

        async def send_steps() -> None:
            async with receiving:
                async for done, total, doing in receiving:
                    await call.session.report_progress(done, total, doing)

        group.start_soon(send_steps)
        with sending, report_to(_make_report(sending)):
            await to_thread.run_sync(work)


def _make_report(sending: MemoryObjectSendStream[_Step]) -> Report:
    """Return a function for the worker thread; it only ever reports more than before, as the protocol requires."""
    last = -1.0

    def send(step: _Step) -> None:
        try:
            sending.send_nowait(step)
        except (anyio.WouldBlock, anyio.BrokenResourceError):
            return

    def report(done: float, total: float, doing: str) -> None:
        nonlocal last
        if done > last:
            last = done
            from_thread.run_sync(send, (done, total, doing))

    return report


async def _stop_with_call(stop: Event) -> None:
    """Set the event when the call ends, or is cancelled."""
    try:
        await anyio.sleep_forever()
    finally:
        stop.set()


# The question about a contest, put to the user by a client that can do so.


NAME: Final = "contest"
"""The name of the question in a result that asks."""
_RULE: Final = "If each is right in its own case: X when …, else Y."


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The user's answer: a value or rule to keep, or how they refused."""

    keep: str = ""
    refused: Literal["", "decline", "cancel"] = ""


def can_ask(call: Call) -> bool:
    """Return whether the client can put a form to its user, in this call."""
    declared = call.session.client_capabilities
    if declared is None or declared.elicitation is None:
        return False
    if declared.elicitation.url is not None and declared.elicitation.form is None:
        return False
    return call.protocol_version in MODERN_PROTOCOL_VERSIONS or call.session.can_send_request


def make_question(contest: ContestCase) -> wire.ElicitRequestFormParams:
    """Make the form: a choice of the values, or a rule in the user's words.

    A choice is the value itself and not its place, so that an answer to values that have changed since is refused.
    """
    choice = {"type": "string", "title": "Keep", "enum": list(contest.values)}
    rule = {"type": "string", "title": "Or a rule", "description": _RULE, "maxLength": limits.MEMORY_TEXT_CHARACTERS}
    schema = {"type": "object", "properties": {"keep": choice, "rule": rule}}
    return wire.ElicitRequestFormParams(message=contest.question, requested_schema=schema)


async def wait_for_answer(call: Call, question: wire.ElicitRequestFormParams) -> wire.ElicitResult:
    """Ask now, and wait for the answer; no answer in time counts as dismissed."""
    schema: dict[str, Any] = dict(question.requested_schema)
    with anyio.move_on_after(limits.MCP_ANSWER_SECONDS):
        try:
            return await call.session.elicit_form(question.message, schema, related_request_id=call.request_id)
        except MCPError:  # the client does not answer after all
            return wire.ElicitResult(action="cancel")
    return wire.ElicitResult(action="cancel")


def read_answer(contest: ContestCase, told: object) -> Answer:
    """Read the user's answer; one that holds nothing counts as declined.

    Raises `Invalid` for an answer that is none of the choices.
    """
    if not isinstance(told, wire.ElicitResult):
        raise Invalid("that is no answer to the question", fix="answer with action and content")
    if told.action != "accept":
        return Answer(refused=told.action)
    content: Mapping[str, object] = told.content or {}
    rule, keep = content.get("rule"), content.get("keep")
    if isinstance(rule, str) and rule.strip():
        return Answer(keep=rule)
    if keep is None:
        return Answer(refused="decline")
    if keep not in contest.values:
        what = "the answer is none of the values"
        raise Invalid(what, why="they may have changed", fix=f"choose among {', '.join(contest.values)}")
    return Answer(keep=str(keep))
