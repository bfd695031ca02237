"""The MCP server: tools from the operations table, two resources and a prompt, in both revisions of the protocol.

It is independent of transport and tenant: a function lends the open memory for a request.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from datetime import UTC
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, get_args
from urllib.parse import unquote

import mcp_types as wire
from mcp.server.caching import CacheableMethod, CacheHint
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from credenda import __version__
from credenda.errors import CredendaError, Invalid, NotFound
from credenda.interfaces.authorization import authorize
from credenda.interfaces.call_note import note_failure, note_operation
from credenda.interfaces.dispatch import invoke
from credenda.interfaces.mcp import contest_card as card
from credenda.interfaces.mcp import tool_specs
from credenda.interfaces.mcp.project import bind_to_project, read_resource_page
from credenda.interfaces.mcp.results import (
    build_answer,
    build_brief,
    build_failure,
    build_internal_failure,
    to_text,
)
from credenda.interfaces.mcp.running import NAME, Call, can_ask, make_question, read_answer, run_work, wait_for_answer
from credenda.interfaces.mcp.tool_specs import ToolSpec, build_tools, check_texts, read_arguments
from credenda.model.contest import ContestCase, ContestState
from credenda.operations.mcp_tools import Toolset
from credenda.operations.table import OPERATIONS, Operation

if TYPE_CHECKING:
    from credenda.client import Credenda

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
            wire.Tool.model_validate(offer.listed() | _get_card(name), by_name=False)
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
        if _has_no_answer(offer, arguments) and can_ask(call):
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


def _get_card(name: str) -> dict[str, Any]:
    """Return the field of a tool that names its card, if it has one."""
    return {"_meta": card.TOOL_META} if name == card.TOOL else {}


def _has_no_answer(offer: ToolSpec, arguments: Mapping[str, object]) -> bool:
    """Return whether a call is to resolve a contest, and says nothing more than which."""
    given = {name for name, value in arguments.items() if value is not None}
    return given == {"contest_id"} and any(route.operation.name == "resolve" for route in offer.routes)


def _make_result(told: Mapping[str, Any], *, text: str = "", is_error: bool = False) -> wire.CallToolResult:
    shown = wire.TextContent(text=text or to_text(told))
    return wire.CallToolResult(content=[shown], structured_content=dict(told), is_error=is_error)
