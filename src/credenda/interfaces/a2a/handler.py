"""Answer the methods of the protocol, for both bindings and both versions; the SDK translates between them."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable, Generator, Iterator
from contextlib import contextmanager
from datetime import UTC
from functools import partial
from typing import Any, Final, NoReturn, TypeVar

import anyio
from a2a.server.context import ServerCallContext
from a2a.server.events import Event
from a2a.server.jsonrpc_models import JSONParseError
from a2a.server.request_handlers.request_handler import RequestHandler
from a2a.server.request_handlers.response_helpers import agent_card_to_dict, build_error_response
from a2a.server.routes import create_jsonrpc_routes
from a2a.server.routes.common import DefaultServerCallContextBuilder
from a2a.server.routes.rest_routes import create_rest_routes
from a2a.types import a2a_pb2 as pb
from a2a.types.a2a_pb2 import AgentCard
from a2a.utils import errors as protocol
from a2a.utils.error_handlers import build_rest_error_payload
from a2a.utils.errors import A2AError, ContentTypeNotSupportedError
from a2a.utils.input_mode_validator import validate_input_modes
from a2a.utils.proto_utils import validate_proto_required_fields
from a2a.utils.task import apply_history_length, validate_history_length, validate_page_size
from anyio import to_thread
from google.protobuf.json_format import MessageToDict, ParseDict, ParseError
from google.protobuf.message import Message as ProtoMessage
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from credenda.clock import from_datetime, seconds
from credenda.errors import Conflict, CredendaError, Invalid, LimitExceeded, NotFound
from credenda.interfaces.a2a.endpoint import build_card
from credenda.interfaces.a2a.tasks import (
    FAILURE,
    AgentTasks,
    Incoming,
    Progress,
    read_answer,
    read_handover,
    show_artifact,
    show_status,
    show_task,
)
from credenda.interfaces.authorization import note_failure
from credenda.interfaces.server.memories import Memories
from credenda.model.server import FINISHED, TaskFilter, TaskState
from credenda.runtime import ActiveCalls

T = TypeVar("T")

_SETTLED: Final = FINISHED | {TaskState.INPUT_REQUIRED}
_FIRST_STEP_SECONDS: Final = 0.01
_LAST_STEP_SECONDS: Final = 0.25
_STEP_GROWTH: Final = 1.5
_PAGE: Final = 50
_STATES: Final = {f"TASK_STATE_{state.name}": state for state in TaskState}


class TaskHandler(RequestHandler):
    """The methods of the protocol, over the tasks of the current principal."""

    def __init__(
        self, tasks: AgentTasks, card: pb.AgentCard, active_calls: ActiveCalls, *, wait_seconds: float
    ) -> None:
        """Answer for these tasks; an answer waits at most `wait_seconds` for a task."""
        self._tasks = tasks
        self._card = card
        self._active_calls = active_calls
        self._wait_seconds = wait_seconds

    async def on_message_send(self, params: pb.SendMessageRequest, context: ServerCallContext) -> pb.Task | pb.Message:
        """Begin or continue a task; return it when it is settled, or at once where that is wanted."""
        progress = await self._send(params, context)
        if not params.configuration.return_immediately:
            async for found in self._follow(progress, context):
                progress = found
        return apply_history_length(_to_task(progress), params.configuration)

    async def on_message_send_stream(
        self, params: pb.SendMessageRequest, context: ServerCallContext
    ) -> AsyncGenerator[Event]:
        """Begin or continue a task, and stream its states."""
        progress = await self._send(params, context)
        yield apply_history_length(_to_task(progress), params.configuration)
        async for event in self._stream(progress, context):
            yield event

    async def on_subscribe_to_task(
        self, params: pb.SubscribeToTaskRequest, context: ServerCallContext
    ) -> AsyncGenerator[Event]:
        """Stream the states of a task that is not finished."""
        _check(params, context)
        progress = await _call(context, self._tasks.show, params.id)
        if progress.state in FINISHED:
            raise protocol.UnsupportedOperationError(f"the task is {progress.state}")
        yield _to_task(progress)
        async for event in self._stream(progress, context):
            yield event

    async def on_get_task(self, params: pb.GetTaskRequest, context: ServerCallContext) -> pb.Task | None:
        """Return a task."""
        _check(params, context)
        validate_history_length(params)
        return apply_history_length(_to_task(await _call(context, self._tasks.show, params.id)), params)

    async def on_list_tasks(self, params: pb.ListTasksRequest, context: ServerCallContext) -> pb.ListTasksResponse:
        """Return a page of tasks."""
        _check(params, context)
        validate_history_length(params)
        if params.HasField("page_size"):
            validate_page_size(params.page_size)
        with _translate(context):
            state = pb.TaskState.Name(params.status)
            known = frozenset({_STATES[state]}) if state in _STATES else frozenset[TaskState]()
            since = params.status_timestamp_after
            wanted = TaskFilter(
                context_id=params.context_id or None,
                states=known if params.status else frozenset(TaskState),
                since_us=from_datetime(since.ToDatetime(tzinfo=UTC))
                if params.HasField("status_timestamp_after")
                else 0,
                before=_read_token(params.page_token) if params.page_token else None,
                limit=params.page_size if params.HasField("page_size") else _PAGE,
            )
        page = await _call(context, self._tasks.list, wanted)
        shown = [apply_history_length(_to_task(progress), params) for progress in page.tasks]
        if not params.include_artifacts:
            for task in shown:
                task.ClearField("artifacts")
        token = "" if page.last is None else f"{page.last.updated_us}-{page.last.id}"
        return pb.ListTasksResponse(tasks=shown, next_page_token=token, page_size=wanted.limit, total_size=page.total)

    async def on_cancel_task(self, params: pb.CancelTaskRequest, context: ServerCallContext) -> pb.Task | None:
        """Cancel a task."""
        _check(params, context)
        return _to_task(await _call(context, self._tasks.cancel, params.id, conflict=protocol.TaskNotCancelableError))

    async def _refuse_push(self, params: Any, context: ServerCallContext) -> NoReturn:  # noqa: ANN401 - of four kinds
        """Refuse: a server that sent to addresses of its callers could be made to reach others."""
        del params, context
        raise protocol.PushNotificationNotSupportedError

    on_create_task_push_notification_config = _refuse_push
    on_get_task_push_notification_config = _refuse_push
    on_list_task_push_notification_configs = _refuse_push
    on_delete_task_push_notification_config = _refuse_push

    async def on_get_extended_agent_card(
        self, params: pb.GetExtendedAgentCardRequest, context: ServerCallContext
    ) -> pb.AgentCard:
        """Refuse: the card tells everybody the same."""
        del params, context
        raise protocol.UnsupportedOperationError("there is no other card")

    async def _send(self, params: pb.SendMessageRequest, context: ServerCallContext) -> Progress:
        _check(params, context)
        validate_history_length(params.configuration)
        validate_input_modes(params.message, self._card)
        if params.configuration.HasField("task_push_notification_config"):
            raise protocol.PushNotificationNotSupportedError
        with _translate(context):
            incoming = _read_message(params.message)
            wanted = read_answer(incoming) if incoming.task_id else read_handover(incoming)
        if incoming.task_id:
            return await _call(context, self._tasks.answer, incoming, wanted)
        return await _call(context, self._tasks.begin, incoming, wanted)

    async def _follow(self, progress: Progress, context: ServerCallContext) -> AsyncGenerator[Progress]:
        """Yield each new state of a task, until it is finished or waits for an answer, for a bounded time."""
        until, step = seconds() + self._wait_seconds, _FIRST_STEP_SECONDS
        while progress.state not in _SETTLED and seconds() < until:
            with self._active_calls.suspend():
                await anyio.sleep(step)
            step = min(step * _STEP_GROWTH, _LAST_STEP_SECONDS)
            found = await _call(context, self._tasks.watch, progress.task.id)
            if found.state is not progress.state:
                progress = found
                yield found

    async def _stream(self, progress: Progress, context: ServerCallContext) -> AsyncGenerator[Event]:
        """Yield the events of a task after its first one."""
        async for found in self._follow(progress, context):
            place = {"taskId": found.task.id, "contextId": found.task.context_id}
            if found.state is TaskState.COMPLETED:
                shown = {**place, "artifact": show_artifact(found), "lastChunk": True}
                yield ParseDict(shown, pb.TaskArtifactUpdateEvent())
            yield ParseDict({**place, "status": show_status(found)}, pb.TaskStatusUpdateEvent())


def _to_task(progress: Progress) -> pb.Task:
    return ParseDict(show_task(progress), pb.Task())


def _check(params: ProtoMessage, context: ServerCallContext) -> None:
    """Check the fields of a request; its tenant is not one that a caller may set."""
    validate_proto_required_fields(params)
    if context.tenant:
        raise protocol.InvalidParamsError("no tenant can be chosen: the caller's token names it")


async def _call(
    context: ServerCallContext,
    work: Callable[..., T],
    *given: object,
    conflict: type[protocol.A2AError] = protocol.UnsupportedOperationError,
) -> T:
    """Run a call in a thread, and translate its errors."""
    with _translate(context, conflict):
        return await to_thread.run_sync(partial(work, *given), abandon_on_cancel=True)


@contextmanager
def _translate(
    context: ServerCallContext, conflict: type[protocol.A2AError] = protocol.UnsupportedOperationError
) -> Generator[None]:
    """Turn our errors into those of the protocol; an error for which it has none goes to the endpoint."""
    try:
        yield
    except protocol.A2AError:
        raise
    except CredendaError as error:
        kind = _KINDS.get(type(error))
        if kind is None:
            context.state[FAILURE](error)
            raise protocol.InternalError from error
        note_failure(error.code)
        raise (conflict if kind is Conflict else kind)(
            "; ".join(filter(None, (error.what, error.why, error.fix)))
        ) from error
    except Exception as error:
        context.state[FAILURE](error)
        raise protocol.InternalError from error


_KINDS: Final[dict[type[CredendaError], Any]] = {
    NotFound: protocol.TaskNotFoundError,
    Invalid: protocol.InvalidParamsError,
    LimitExceeded: protocol.InvalidParamsError,
    Conflict: Conflict,
}


def _read_message(message: pb.Message) -> Incoming:
    """Read the parts of a message; raises the protocol's error for a part that is neither text nor data."""
    if message.role != pb.Role.ROLE_USER:
        raise Invalid("the role of a message to an agent is user", fix="send ROLE_USER")
    texts: list[str] = []
    data: dict[str, Any] = dict(MessageToDict(message.metadata))
    data = {"skill": data["skill"]} if "skill" in data else {}
    for part in message.parts:
        match part.WhichOneof("content"):
            case "text":
                texts.append(part.text)
            case "data" if part.data.WhichOneof("kind") == "struct_value":
                data |= MessageToDict(part.data)
            case _:
                raise protocol.ContentTypeNotSupportedError("a part is neither text nor a JSON object")
    return Incoming(
        message_id=message.message_id,
        context_id=message.context_id,
        task_id=message.task_id,
        texts=tuple(texts),
        data=data,
    )


def _read_token(token: str) -> tuple[int, str]:
    at, dash, last = token.partition("-")
    if not (dash and at.isdecimal() and at.isascii() and len(at) < len(str(1 << 63))):
        raise Invalid("the pageToken is not one of ours", fix="copy nextPageToken of the page before")
    return int(at), last


# The routes of the SDK, over our handler; importing this module loads the SDK.


class _Contexts(DefaultServerCallContextBuilder):
    """Gives the handler a place for the errors that the endpoint answers."""

    def build(self, request: Request) -> ServerCallContext:
        """Build the context of a call."""
        context = super().build(request)

        def fail(error: Exception) -> None:
            request.scope["state"][FAILURE] = error

        context.state[FAILURE] = fail
        return context


def make_sdk_routes(memories: Memories, path: str, *, wait_seconds: float) -> Iterator[Route]:
    """Make the routes below a path: JSON-RPC at the path itself, and HTTP+JSON, of both versions."""
    card = ParseDict(build_card("", tokens=False), AgentCard())
    handler = TaskHandler(AgentTasks(memories), card, memories.active_calls, wait_seconds=wait_seconds)
    contexts = _Contexts()
    made: list[Any] = [
        *create_jsonrpc_routes(handler, path, contexts, enable_v0_3_compat=True),
        *create_rest_routes(handler, contexts, enable_v0_3_compat=True, path_prefix=path),
    ]
    for route in made:
        if isinstance(route, Route):  # the others are the same paths with a tenant before them
            yield route


def show_card(url: str, *, tokens: bool) -> dict[str, Any]:
    """Return the card of version 1.0 with the fields of version 0.3 beside them."""
    return agent_card_to_dict(ParseDict(build_card(url, tokens=tokens), AgentCard()))


def refuse_media_type(*, rpc: bool) -> Response:
    """Make the answer of a binding, JSON-RPC or HTTP+JSON, to a body that is not announced as JSON."""
    error = ContentTypeNotSupportedError("the body has another media type; send application/json")
    return _refuse(error, error, rpc=rpc)


def refuse_body(*, rpc: bool) -> Response:
    """Make the answer of a binding to a body that is no JSON, or nested too deeply."""
    told = "the body is not JSON; send one object in UTF-8"
    return _refuse(JSONParseError(message=told), ParseError(told), rpc=rpc)


def _refuse(error: A2AError | JSONParseError, rest_error: Exception, *, rpc: bool) -> Response:
    if rpc:
        return JSONResponse(build_error_response(None, error))
    payload = build_rest_error_payload(rest_error)
    return JSONResponse(payload, payload["error"]["code"])


def write_stream_error(error: Exception) -> bytes:
    """Write the event of an error in a stream of HTTP+JSON."""
    return f"event: error\ndata: {json.dumps(build_rest_error_payload(error))}\n\n".encode()
