"""The MCP server: tools from the operations table, two resources and a prompt, in both revisions of the protocol.

It is independent of transport and tenant: a function lends the open memory for a request.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, get_args
from urllib.parse import unquote

import mcp_types as wire
from anyio import to_thread
from mcp.server.caching import CacheableMethod, CacheHint
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from credenda import __version__
from credenda.errors import CredendaError, Invalid, NotFound
from credenda.interfaces.call_note import note_failure, note_operation
from credenda.interfaces.dispatch import invoke
from credenda.interfaces.mcp import instructions
from credenda.interfaces.mcp.arguments import read_arguments
from credenda.interfaces.mcp.poisoning_check import check_texts
from credenda.interfaces.mcp.results import build_answer, build_failure, build_internal_failure, to_text
from credenda.interfaces.mcp.tool_specs import ToolSpec, build_tools
from credenda.model.core import Core
from credenda.model.query import Context
from credenda.operations.mcp_tools import Toolset
from credenda.operations.table import OPERATIONS, Operation

if TYPE_CHECKING:
    from credenda.client import Credenda

__all__ = ["build_server"]

Call = ServerRequestContext[Any]
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
) -> Server[Any]:
    """Make a server; `memory` lends the memory for a request and is called in the thread that serves it.

    Raises `Invalid` if any text for the model gives orders, so that such a server does not start.
    """
    tools = build_tools(operations, toolset=toolset, read_only=read_only)
    check_texts({name: offer.listed() for name, offer in tools.items()})
    check_texts(
        {"the instructions": instructions.INSTRUCTIONS, "the prompt": [instructions.GUIDE_ABOUT, instructions.GUIDE]}
    )
    check_texts({"the resources": [instructions.CORE_ABOUT, instructions.MEMORY_ABOUT]})
    handlers = _Handlers(memory=memory, tools=tools)
    hints: dict[CacheableMethod, CacheHint] = dict.fromkeys(get_args(CacheableMethod), _PRIVATE_LIST)
    hints["resources/read"] = _PRIVATE_READ
    return Server(
        "credenda",
        version=__version__,
        title="Credenda",
        instructions=instructions.INSTRUCTIONS,
        cache_hints=hints,
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_resources=handlers.list_resources,
        on_list_resource_templates=handlers.list_resource_templates,
        on_read_resource=handlers.read_resource,
        on_list_prompts=handlers.list_prompts,
        on_get_prompt=handlers.get_prompt,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Handlers:
    """The handlers of requests; code that uses the store runs in a worker thread and is never cancelled."""

    memory: Callable[[], AbstractContextManager[Credenda]]
    tools: Mapping[str, ToolSpec]

    async def list_tools(self, _: Call, __: wire.PaginatedRequestParams | None) -> wire.ListToolsResult:
        """List the tools, in the order of the table."""
        listed = [wire.Tool.model_validate(offer.listed(), by_name=False) for offer in self.tools.values()]
        return wire.ListToolsResult(tools=listed)

    async def call_tool(self, _: Call, params: wire.CallToolRequestParams) -> wire.CallToolResult:
        """Call a tool; an error in it becomes a result, which the model can read."""
        offer = self.tools.get(params.name)
        if offer is None:
            known = ", ".join(self.tools)
            raise MCPError(code=wire.INVALID_PARAMS, message=f"there is no tool {params.name[:64]!r}; choose {known}")
        return await to_thread.run_sync(self._call, offer, params.arguments or {})

    def _call(self, offer: ToolSpec, arguments: Mapping[str, object]) -> wire.CallToolResult:
        note_operation(offer.routes[0].operation, "mcp")
        try:
            operation, given = read_arguments(offer, arguments)
            with self.memory() as memory:
                value = invoke(memory, operation, given, door="mcp")
            told = build_answer(operation, given, value)
        except CredendaError as error:
            note_failure(error.code)
            return _make_result(build_failure(error), is_error=True)
        except Exception as error:  # noqa: BLE001 - where this door ends: an answer instead of a broken call
            note_failure(CredendaError.code)
            _log.debug("a tool broke", exc_info=True, extra={"tool": offer.name})
            return _make_result(build_internal_failure(error), is_error=True)
        return _make_result(told, text=value.text if isinstance(value, Context | Core) else "")

    async def list_resources(self, _: Call, __: wire.PaginatedRequestParams | None) -> wire.ListResourcesResult:
        """List the core block."""
        core = wire.Resource(
            uri=instructions.CORE_URI, name="core", description=instructions.CORE_ABOUT, mime_type=_MARKDOWN
        )
        return wire.ListResourcesResult(resources=[core])

    async def list_resource_templates(
        self, _: Call, __: wire.PaginatedRequestParams | None
    ) -> wire.ListResourceTemplatesResult:
        """List the URI template of memories."""
        memory = wire.ResourceTemplate(
            uri_template=instructions.MEMORY_URI, name="memory", description=instructions.MEMORY_ABOUT, mime_type=_JSON
        )
        return wire.ListResourceTemplatesResult(resource_templates=[memory])

    async def read_resource(self, call: Call, params: wire.ReadResourceRequestParams) -> wire.ReadResourceResult:
        """Read the core block or a memory."""
        uri = str(params.uri)
        try:
            kind, text = await to_thread.run_sync(self._read, uri)
        except CredendaError as error:
            note_failure(error.code)
            raise _make_error(error, uri, call.protocol_version) from error
        except Exception as error:  # noqa: BLE001 - where this door ends: the SDK would quote the error
            note_failure(CredendaError.code)
            _log.debug("a resource broke", exc_info=True)
            told = build_internal_failure(error)
            raise MCPError(code=wire.INTERNAL_ERROR, message=told["message"], data=told) from None
        return wire.ReadResourceResult(contents=[wire.TextResourceContents(uri=uri, mime_type=kind, text=text)])

    def _read(self, uri: str) -> tuple[str, str]:
        before, _, after = instructions.MEMORY_URI.partition("{id}")
        if uri == instructions.CORE_URI:
            return _MARKDOWN, self._invoke("context").text
        if uri.startswith(before) and uri.endswith(after):
            memory_id = unquote(uri.removeprefix(before))
            return _JSON, to_text(build_answer(OPERATIONS["why"], {}, self._invoke("why", id=memory_id)))
        raise NotFound("there is no such resource", fix=f"read {instructions.CORE_URI} or {instructions.MEMORY_URI}")

    def _invoke(self, name: str, **given: object) -> Any:  # noqa: ANN401 - any result
        with self.memory() as memory:
            return invoke(memory, OPERATIONS[name], given, door="mcp")

    async def list_prompts(self, _: Call, __: wire.PaginatedRequestParams | None) -> wire.ListPromptsResult:
        """List the prompt with the page on good use."""
        return wire.ListPromptsResult(prompts=[wire.Prompt(name="use_memory", description=instructions.GUIDE_ABOUT)])

    async def get_prompt(self, _: Call, params: wire.GetPromptRequestParams) -> wire.GetPromptResult:
        """Return the page on good use."""
        if params.name != "use_memory":
            raise MCPError(code=wire.INVALID_PARAMS, message="there is no such prompt; choose use_memory")
        page = wire.PromptMessage(role="user", content=wire.TextContent(text=instructions.GUIDE))
        return wire.GetPromptResult(description=instructions.GUIDE_ABOUT, messages=[page])


def _make_result(told: Mapping[str, Any], *, text: str = "", is_error: bool = False) -> wire.CallToolResult:
    shown = wire.TextContent(text=text or to_text(told))
    return wire.CallToolResult(content=[shown], structured_content=dict(told), is_error=is_error)


def _make_error(error: CredendaError, uri: str, version: str) -> MCPError:
    """Convert an error into a protocol error."""
    told = {**build_failure(error), "uri": uri}
    if isinstance(error, NotFound):
        code = wire.INVALID_PARAMS if version in MODERN_PROTOCOL_VERSIONS else _LEGACY_NOT_FOUND
        return MCPError(code=code, message="Resource not found", data=told)
    code = wire.INVALID_PARAMS if isinstance(error, Invalid) else wire.INTERNAL_ERROR
    return MCPError(code=code, message=str(error), data=told)
