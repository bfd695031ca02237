"""The MCP server: tools from the operations table, two resources and a prompt, in both revisions of the protocol.

It is independent of transport and tenant: a function lends the open memory for a request.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, ExitStack, suppress
from dataclasses import dataclass
from datetime import UTC
from functools import cached_property, partial
from threading import Event
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar, get_args
from urllib.parse import unquote

import anyio
import mcp_types as wire
from anyio import from_thread, to_thread
from anyio.streams.memory import MemoryObjectSendStream
from mcp.server.caching import CacheableMethod, CacheHint
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from credenda import __version__, limits
from credenda.current_call import Report, allow_stop, has_deadline, limit_duration, report_to
from credenda.errors import CredendaError, Invalid, NotFound
from credenda.interfaces.authorization import authorize, invoke, note_failure, note_operation
from credenda.interfaces.mcp import tool_specs
from credenda.interfaces.mcp import tool_specs as card
from credenda.interfaces.mcp.results import build_answer, build_brief, build_failure, build_internal_failure, to_text
from credenda.interfaces.mcp.tool_specs import ToolSpec, build_tools, check_texts, read_arguments
from credenda.model.change import ContestCase, ContestState
from credenda.model.event import PROJECT
from credenda.operation import Operation
from credenda.operations import OPERATIONS, Toolset
from credenda.text.fence import CLOSING, OPENING, fence_text

if TYPE_CHECKING:
    from credenda.client import Credenda


# Keep the calls of a server to the project in which its client started it.


def bind_to_project(operation: Operation, given: Mapping[str, Any], project: str | None) -> dict[str, Any]:
    """Return the inputs of a call with the project: searches stay in it, and what is stored belongs to it."""
    bound = dict(given)
    if project is None:
        return bound
    names = {param.name for param in operation.params}
    if PROJECT in names:
        bound.setdefault(PROJECT, project)
    if operation.name == "remember" and project:
        bound["metadata"] = {PROJECT: project, **(bound.get("metadata") or {})}
    return bound


# The directory of a memory as resources: a page, or the listing of a folder, fenced as data.


_OPERATION = OPERATIONS["list"]
"""The operation whose permission and audit apply: a page shows memories as a list does."""


def read_resource_page(memory: Credenda, path: str) -> str:
    """Return a page or listing as text for a model; raises `NotFound` for an unknown path."""
    note_operation(_OPERATION, "mcp", {"path": path})
    authorize(_OPERATION, memory)
    try:
        lines = memory.directory.read(path).text.split("\n")
    except NotFound:
        lines = [f"{one.path}/" if one.folder else one.path for one in memory.directory.ls(path)]
    return "\n".join([OPENING, *map(_fence_line, lines), CLOSING])


def _fence_line(line: str) -> str:
    """Escape a line, keeping its indentation."""
    words = line.lstrip(" ")
    return " " * (len(line) - len(words)) + fence_text(words)


# Work of a call in a worker thread: its progress goes to the client, and a cancelled call stops.


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


_Answer = wire.CallToolResult | wire.InputRequiredResult
_log = logging.getLogger(__name__)
_MARKDOWN: Final = "text/markdown"
_JSON: Final = "application/json"
_PRIVATE_LIST: Final = CacheHint(ttl_ms=300_000, scope="private")
"""How long a client may cache a list, which never changes while the process runs."""
_PRIVATE_READ: Final = CacheHint(ttl_ms=0, scope="private")
_LEGACY_NOT_FOUND: Final = -32002
"""The error code of an unknown resource before revision 2026-07-28; later ones use invalid parameters."""


def build_server(
    memory: Callable[[], AbstractContextManager[Credenda]],
    *,
    toolset: Toolset = "default",
    read_only: bool = False,
    operations: Iterable[Operation] = OPERATIONS.values(),
    project: str | None = None,
) -> Server[Any]:
    """Make a server; `memory` lends the memory for a request and is called in the thread that serves it.

    With a `project` searches leave out other projects, and messages belong to it. Raises `Invalid` if any text for the
    model gives orders, so that such a server does not start.
    """
    tools = build_tools(operations, toolset=toolset, read_only=read_only)
    check_texts({name: offer.listed() for name, offer in tools.items()})
    check_texts({"the instructions": tool_specs.INSTRUCTIONS, "the prompt": [tool_specs.GUIDE_ABOUT, tool_specs.GUIDE]})
    check_texts({"the resources": [tool_specs.CORE_ABOUT, tool_specs.MEMORY_ABOUT, tool_specs.PAGES_ABOUT, card.ABOUT]})
    handlers = _Handlers(memory=memory, tools=tools, project=project)
    hints: dict[CacheableMethod, CacheHint] = dict.fromkeys(get_args(CacheableMethod), _PRIVATE_LIST)
    hints["resources/read"] = _PRIVATE_READ
    server = Server[Any](
        "credenda",
        version=__version__,
        title="Credenda",
        instructions=tool_specs.INSTRUCTIONS,
        cache_hints=hints,
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_resources=handlers.list_resources,
        on_list_resource_templates=handlers.list_resource_templates,
        on_read_resource=handlers.read_resource,
        on_list_prompts=handlers.list_prompts,
        on_get_prompt=handlers.get_prompt,
    )
    if card.TOOL in tools:
        server.extensions[card.EXTENSION] = {}
    return server


@dataclass(frozen=True, kw_only=True)
class _Handlers:
    """The handlers of requests; code that uses the store runs in a worker thread."""

    memory: Callable[[], AbstractContextManager[Credenda]]
    tools: Mapping[str, ToolSpec]
    project: str | None = None

    @cached_property
    def names(self) -> dict[str, str]:
        """Return the names of the listed tools by operation."""
        listed = (offer for offer in self.tools.values() if offer.is_listed)
        return {route.operation.name: offer.name for offer in listed for route in offer.routes}

    async def list_tools(self, _: Call, __: wire.PaginatedRequestParams | None) -> wire.ListToolsResult:
        """List the tools, in the order of the table."""
        listed = [
            wire.Tool.model_validate(
                offer.listed() | ({"_meta": card.TOOL_META} if name == card.TOOL else {}), by_name=False
            )
            for name, offer in self.tools.items()
            if offer.is_listed
        ]
        return wire.ListToolsResult(tools=listed)

    async def call_tool(self, call: Call, params: wire.CallToolRequestParams) -> _Answer:
        """Call a tool; an error in it becomes a result, which the model can read.

        A call that resolves a contest and leaves the answer out puts the question to the user, if the client can.
        """
        offer = self.tools.get(params.name)
        if offer is None:
            known = ", ".join(name for name, offer in self.tools.items() if offer.is_listed)
            note_failure(NotFound.code)
            raise MCPError(code=wire.INVALID_PARAMS, message=f"there is no tool {params.name[:64]!r}; choose {known}")
        arguments = params.arguments or {}
        given = {name for name, value in arguments.items() if value is not None}
        if (
            given == {"contest_id"}
            and any(route.operation.name == "resolve" for route in offer.routes)
            and can_ask(call)
        ):
            contest = await run_work(call, self._find_contest, offer, arguments)
            if isinstance(contest, wire.CallToolResult):
                return contest
            return await self._ask(call, params, offer, contest)
        return await run_work(call, self._call, offer, arguments, lasting=offer.lasting)

    async def _ask(
        self, call: Call, params: wire.CallToolRequestParams, offer: ToolSpec, contest: ContestCase
    ) -> _Answer:
        question = make_question(contest)
        told: object
        if call.protocol_version in MODERN_PROTOCOL_VERSIONS:
            told = (params.input_responses or {}).get(NAME)
            if told is None:
                return wire.InputRequiredResult(input_requests={NAME: wire.ElicitRequest(params=question)})
        else:
            told = await wait_for_answer(call, question)
        try:
            answer = read_answer(contest, told)
        except Invalid as error:
            note_failure(error.code)
            return _make_result(build_failure(error, self.names), is_error=True)
        if answer.refused:
            told, text = build_brief(OPERATIONS["contests"], {}, [contest], UTC)
            return _make_result({**told, "answer": answer.refused}, text=f"{text}\nanswer: {answer.refused}")
        # the time that the user took is not the call's, so that its work gets time of its own
        given = {"contest_id": contest.id, "keep": answer.keep}
        return await run_work(call, self._call, offer, given, lasting=True)

    def _find_contest(self, offer: ToolSpec, arguments: Mapping[str, object]) -> ContestCase | wire.CallToolResult:
        """Return the open contest that a call is about, or the error of the call."""
        found: list[ContestCase] = []
        given = str(arguments["contest_id"])
        with suppress(CredendaError), self.memory() as memory:  # `_call` reports it
            authorize(OPERATIONS["resolve"], memory)
            listed: list[ContestCase] = invoke(memory, OPERATIONS["contests"], {}, door="mcp")
            found = [one for one in listed if one.id.startswith(given) and one.state is ContestState.OPEN]
        return found[0] if len(found) == 1 else self._call(offer, arguments)

    def _call(self, offer: ToolSpec, arguments: Mapping[str, object]) -> wire.CallToolResult:
        note_operation(offer.routes[0].operation, "mcp")
        try:
            operation, told = read_arguments(offer, arguments)
            given = bind_to_project(operation, told, self.project)
            with self.memory() as memory:
                value = invoke(memory, operation, given, door="mcp")
                zone = memory.zone
            if offer.as_data or given.get("explain"):
                return _make_result(build_answer(operation, given, value))
            told, text = build_brief(operation, given, value, zone)
        except CredendaError as error:
            note_failure(error.code)
            return _make_result(build_failure(error, self.names), is_error=True)
        except Exception as error:  # noqa: BLE001 - where this door ends: an answer instead of a broken call
            note_failure(CredendaError.code)
            _log.debug("a tool broke", exc_info=True, extra={"tool": offer.name})
            return _make_result(build_internal_failure(error), is_error=True)
        return _make_result(told, text=text)

    async def list_resources(self, _: Call, __: wire.PaginatedRequestParams | None) -> wire.ListResourcesResult:
        """List the core block and the card."""
        core = wire.Resource(
            uri=tool_specs.CORE_URI, name="core", description=tool_specs.CORE_ABOUT, mime_type=_MARKDOWN
        )
        listed = {"uri": card.URI, "name": "contests", "description": card.ABOUT, "mimeType": card.MEDIA_TYPE}
        shown = wire.Resource.model_validate(listed | {"_meta": card.RESOURCE_META}, by_name=False)
        return wire.ListResourcesResult(resources=[core, *([shown] if card.TOOL in self.tools else [])])

    async def list_resource_templates(
        self, _: Call, __: wire.PaginatedRequestParams | None
    ) -> wire.ListResourceTemplatesResult:
        """List the URI templates of memories and pages."""
        memory = wire.ResourceTemplate(
            uri_template=tool_specs.MEMORY_URI, name="memory", description=tool_specs.MEMORY_ABOUT, mime_type=_JSON
        )
        pages = wire.ResourceTemplate(
            uri_template=tool_specs.PAGES_URI, name="pages", description=tool_specs.PAGES_ABOUT, mime_type=_MARKDOWN
        )
        return wire.ListResourceTemplatesResult(resource_templates=[memory, pages])

    async def read_resource(self, call: Call, params: wire.ReadResourceRequestParams) -> wire.ReadResourceResult:
        """Read the core block, a memory, a page or the card."""
        uri = str(params.uri)
        if uri == card.URI and card.TOOL in self.tools:
            page = {"uri": uri, "mimeType": card.MEDIA_TYPE, "text": card.make_page(), "_meta": card.RESOURCE_META}
            return wire.ReadResourceResult(contents=[wire.TextResourceContents.model_validate(page, by_name=False)])
        try:
            kind, text = await run_work(call, self._read, uri)
        except CredendaError as error:
            note_failure(error.code)
            raise self._make_error(error, uri, call.protocol_version) from error
        except Exception as error:  # noqa: BLE001 - where this door ends: the SDK would quote the error
            note_failure(CredendaError.code)
            _log.debug("a resource broke", exc_info=True)
            told = build_internal_failure(error)
            raise MCPError(code=wire.INTERNAL_ERROR, message=told["message"], data=told) from None
        return wire.ReadResourceResult(contents=[wire.TextResourceContents(uri=uri, mime_type=kind, text=text)])

    def _read(self, uri: str) -> tuple[str, str]:
        before, _, after = tool_specs.MEMORY_URI.partition("{id}")
        if uri == tool_specs.CORE_URI:
            return _MARKDOWN, self._invoke("context").text
        if uri.startswith(before) and uri.endswith(after):
            memory_id = unquote(uri.removeprefix(before))
            return _JSON, to_text(build_answer(OPERATIONS["why"], {}, self._invoke("why", id=memory_id)))
        pages = tool_specs.PAGES_URI.partition("{")[0]
        if uri.startswith(pages):
            with self.memory() as memory:
                return _MARKDOWN, read_resource_page(memory, unquote(uri.removeprefix(pages)))
        raise NotFound("there is no such resource", fix=f"read {tool_specs.CORE_URI} or {tool_specs.MEMORY_URI}")

    def _invoke(self, name: str, **given: object) -> Any:  # noqa: ANN401 - any result
        with self.memory() as memory:
            return invoke(memory, OPERATIONS[name], given, door="mcp")

    def _make_error(self, error: CredendaError, uri: str, version: str) -> MCPError:
        """Convert an error into a protocol error."""
        told = {**build_failure(error, self.names), "uri": uri}
        if isinstance(error, NotFound):
            code = wire.INVALID_PARAMS if version in MODERN_PROTOCOL_VERSIONS else _LEGACY_NOT_FOUND
            return MCPError(code=code, message="Resource not found", data=told)
        code = wire.INVALID_PARAMS if isinstance(error, Invalid) else wire.INTERNAL_ERROR
        return MCPError(code=code, message=told["message"], data=told)

    async def list_prompts(self, _: Call, __: wire.PaginatedRequestParams | None) -> wire.ListPromptsResult:
        """List the prompt with the page on good use."""
        return wire.ListPromptsResult(prompts=[wire.Prompt(name="use_memory", description=tool_specs.GUIDE_ABOUT)])

    async def get_prompt(self, _: Call, params: wire.GetPromptRequestParams) -> wire.GetPromptResult:
        """Return the page on good use."""
        if params.name != "use_memory":
            note_failure(NotFound.code)
            raise MCPError(code=wire.INVALID_PARAMS, message="there is no such prompt; choose use_memory")
        page = wire.PromptMessage(role="user", content=wire.TextContent(text=tool_specs.GUIDE))
        return wire.GetPromptResult(description=tool_specs.GUIDE_ABOUT, messages=[page])


def _make_result(told: Mapping[str, Any], *, text: str = "", is_error: bool = False) -> wire.CallToolResult:
    shown = wire.TextContent(text=text or to_text(told))
    return wire.CallToolResult(content=[shown], structured_content=dict(told), is_error=is_error)
