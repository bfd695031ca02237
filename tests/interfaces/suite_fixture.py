"""The tools, resources and prompts that the MCP conformance suite calls by name, added to the production server.

Handlers of the server are wrapped: what they do not know is answered here. What the server has no handler for, such as
completion, is registered.
"""

from __future__ import annotations

import base64
import json
import struct
import warnings
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

import anyio
import mcp_types as wire
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, PromptsListChanged, ToolsListChanged
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError
from mcp.shared.message import ServerMessageMetadata

from . import suite_pages as pages
from .suite_pages import IMAGE, ROUND, embed, make_question, want

Call = ServerRequestContext[Any, Any]
Answer = wire.CallToolResult | wire.InputRequiredResult
Tool = Callable[[Call, wire.CallToolRequestParams], Awaitable[Answer]]

_PAUSE_SECONDS: Final = 0.05


def add_suite(server: Server[Any]) -> None:
    """Add everything that the suite expects by name."""
    bus = InMemorySubscriptionBus()
    tools = {**_CONTENTS, **_PROGRESS, **_ASKING, **_ROUNDS, **_make_triggers(bus)}
    _wrap(server, "tools/list", _list_tools(tools))
    _wrap(server, "tools/call", _call_tool(tools))
    _wrap(server, "resources/list", pages.list_resources)
    _wrap(server, "resources/templates/list", pages.list_templates)
    _wrap(server, "resources/read", pages.read_resource)
    _wrap(server, "prompts/list", pages.list_prompts)
    _wrap(server, "prompts/get", pages.get_prompt)
    server.add_request_handler("completion/complete", wire.CompleteRequestParams, pages.complete)
    server.add_request_handler("logging/setLevel", wire.SetLevelRequestParams, _accept)
    server.add_request_handler("resources/subscribe", wire.SubscribeRequestParams, _accept)
    server.add_request_handler("resources/unsubscribe", wire.UnsubscribeRequestParams, _accept)
    server.add_request_handler("subscriptions/listen", wire.SubscriptionsListenRequestParams, ListenHandler(bus))
    security = RequestStateSecurity.ephemeral()
    server.middleware.append(RequestStateBoundary(security, default_audience="suite"))


def _wrap(server: Server[Any], method: str, more: Callable[..., Awaitable[Any]]) -> None:
    """Answer a method by `more`, which is given the handler of the server."""
    entry = server.get_request_handler(method)
    assert entry is not None, method

    async def handle(call: Call, params: Any) -> Any:  # noqa: ANN401 - of any method
        return await more(entry.handler, call, params)

    server.add_request_handler(method, entry.params_type, handle)


async def _accept(_: Call, __: Any) -> wire.EmptyResult:  # noqa: ANN401 - of any method
    return wire.EmptyResult()


# ------------------------------------------------------------------------------------------- contents


def _say(text: str) -> wire.CallToolResult:
    return wire.CallToolResult(content=[wire.TextContent(text=text)])


def _always(*content: wire.ContentBlock, is_error: bool = False) -> Tool:
    async def answer(_: Call, __: wire.CallToolRequestParams) -> Answer:
        return wire.CallToolResult(content=list(content), is_error=is_error)

    return answer


def _make_wav() -> str:
    """Return one silent sample as WAV, in base64."""
    shape = struct.pack("<HHIIHH", 1, 1, 8_000, 8_000, 1, 8)
    body = b"WAVEfmt " + struct.pack("<I", len(shape)) + shape + b"data" + struct.pack("<I", 1) + b"\x80"
    return base64.b64encode(b"RIFF" + struct.pack("<I", len(body)) + body).decode()


_CONTENTS: Final[Mapping[str, Tool]] = {
    "test_simple_text": _always(wire.TextContent(text="This is a simple text response for testing.")),
    "test_image_content": _always(IMAGE),
    "test_audio_content": _always(wire.AudioContent(data=_make_wav(), mime_type="audio/wav")),
    "test_embedded_resource": _always(
        embed("test://embedded-resource", "text/plain", "This is an embedded resource content.")
    ),
    "test_multiple_content_types": _always(
        wire.TextContent(text="Multiple content types test:"),
        IMAGE,
        embed("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
    ),
    "test_custom_headers": _always(wire.TextContent(text="done")),
    "json_schema_2020_12_tool": _always(wire.TextContent(text="done")),
    "test_error_handling": _always(
        wire.TextContent(text="This tool intentionally returns an error for testing"), is_error=True
    ),
}

# ------------------------------------------------------------------------- notifications during a call


async def _progress(call: Call, _: wire.CallToolRequestParams) -> Answer:
    for done in (0, 50, 100):
        await call.session.report_progress(done, 100)
        await anyio.sleep(_PAUSE_SECONDS)
    return _say("done")


async def _log(call: Call, _: wire.CallToolRequestParams) -> Answer:
    for step in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MCPDeprecationWarning)
            sent = call.session.send_log_message("info", step, related_request_id=call.request_id)  # pyright: ignore[reportDeprecated] - the suite asks for it
        await sent
        await anyio.sleep(_PAUSE_SECONDS)
    return _say("done")


_PROGRESS: Final[Mapping[str, Tool]] = {
    "test_tool_with_progress": _progress,
    "test_tool_with_logging": _log,
    "test_logging_tool": _log,
}


def _make_triggers(bus: InMemorySubscriptionBus) -> dict[str, Tool]:
    """Make the tools that say that a list changed."""

    async def change_tools(_: Call, __: wire.CallToolRequestParams) -> Answer:
        await bus.publish(ToolsListChanged())
        return _say("changed")

    async def change_prompts(_: Call, __: wire.CallToolRequestParams) -> Answer:
        await bus.publish(PromptsListChanged())
        return _say("changed")

    return {"test_trigger_tool_change": change_tools, "test_trigger_prompt_change": change_prompts}


# ------------------------------------------------------- requests to the client, until revision 2025-11-25

_NAME: Final = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
_ASK_WHO: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "username": {"type": "string", "description": "User's response"},
        "email": {"type": "string", "description": "User's email address"},
    },
    "required": ["username", "email"],
}
_DEFAULTS: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": True},
    },
}


def _title(*values: str) -> list[dict[str, str]]:
    return [{"const": value, "title": f"The {value}"} for value in values]


_VALUES: Final = ["value1", "value2", "value3"]
_OPTIONS: Final = ["option1", "option2", "option3"]
_ENUMS: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "untitledSingle": {"type": "string", "enum": _OPTIONS},
        "titledSingle": {"type": "string", "oneOf": _title(*_VALUES)},
        "legacyEnum": {"type": "string", "enum": ["opt1", "opt2"], "enumNames": ["Option One", "Option Two"]},
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": _OPTIONS}},
        "titledMulti": {"type": "array", "items": {"anyOf": _title(*_VALUES)}},
    },
}


def _elicit(schema: dict[str, Any]) -> Tool:
    async def ask(call: Call, params: wire.CallToolRequestParams) -> Answer:
        message = str((params.arguments or {}).get("message", "Please answer"))
        told = await call.session.elicit_form(message, schema, related_request_id=call.request_id)
        return _say(f"Elicitation completed: action={told.action}, content={json.dumps(told.content)}")

    return ask


async def _sample(call: Call, params: wire.CallToolRequestParams) -> Answer:
    request = _make_sampling(str((params.arguments or {}).get("prompt", "")), 100)
    related = ServerMessageMetadata(related_request_id=call.request_id)
    told = await call.session.send_request(request, wire.CreateMessageResult, metadata=related)
    return _say(f"LLM response: {told.content}")


def _make_sampling(text: str, tokens: int) -> wire.CreateMessageRequest:
    message = wire.SamplingMessage(role="user", content=wire.TextContent(text=text))
    params = wire.CreateMessageRequestParams(messages=[message], max_tokens=tokens)
    return wire.CreateMessageRequest(params=params)


_ASKING: Final[Mapping[str, Tool]] = {
    "test_elicitation": _elicit(_ASK_WHO),
    "test_elicitation_sep1034_defaults": _elicit(_DEFAULTS),
    "test_elicitation_sep1330_enums": _elicit(_ENUMS),
    "test_sampling": _sample,
}

# ---------------------------------------------------------- questions in a result, from revision 2026-07-28


def _ask_once(requests: dict[str, wire.InputRequest], *, state: str | None = None) -> Tool:
    """Make a tool that asks until every request has its answer."""

    async def ask(_: Call, params: wire.CallToolRequestParams) -> Answer:
        answers = params.input_responses or {}
        if any(name not in answers for name in requests):
            return wire.InputRequiredResult(input_requests=requests, request_state=state)
        if params.request_state != state:
            raise MCPError(code=wire.INVALID_PARAMS, message="the state is missing")
        told = {name: answers[name].model_dump(mode="json", by_alias=True, exclude_none=True) for name in requests}
        return _say(f"state-ok {json.dumps(told)}")

    return ask


async def _ask_twice(_: Call, params: wire.CallToolRequestParams) -> Answer:
    answers = params.input_responses or {}
    if params.request_state == "second" and "step2" in answers:
        return _say("done")
    if params.request_state == "first" and "step1" in answers:
        color = make_question("Step 2: What is your favorite color?", want("color", "string"))
        return wire.InputRequiredResult(input_requests={"step2": color}, request_state="second")
    return wire.InputRequiredResult(input_requests={"step1": _ASK_NAME}, request_state="first")


async def _ask_what_is_declared(call: Call, params: wire.CallToolRequestParams) -> Answer:
    declared = call.session.client_capabilities
    requests: dict[str, wire.InputRequest] = {}
    if declared is not None and declared.elicitation is not None:
        requests["user_name"] = _ASK_NAME
    if declared is not None and declared.sampling is not None:
        requests["greeting"] = _SAMPLE
    if not requests or all(name in (params.input_responses or {}) for name in requests):
        return _say("done")
    return wire.InputRequiredResult(input_requests=requests)


async def _need_sampling(call: Call, _: wire.CallToolRequestParams) -> Answer:
    declared = call.session.client_capabilities
    if declared is None or declared.sampling is None:
        raise MCPError(
            code=wire.MISSING_REQUIRED_CLIENT_CAPABILITY,
            message="this tool needs sampling",
            data={"requiredCapabilities": {"sampling": {}}},
        )
    return _say("done")


_ASK_NAME: Final = make_question("What is your name?", _NAME)
_ASK_OK: Final = make_question("Please confirm", want("ok", "boolean"))
_SAMPLE: Final = _make_sampling("Generate a greeting", 50)
_ROOTS: Final = wire.ListRootsRequest()
_ROUNDS: Final[Mapping[str, Tool]] = {
    f"{ROUND}elicitation": _ask_once({"user_name": _ASK_NAME}),
    "test_streaming_elicitation": _ask_once({"user_name": _ASK_NAME}),
    f"{ROUND}sampling": _ask_once({"capital_question": _make_sampling("What is the capital of France?", 100)}),
    f"{ROUND}list_roots": _ask_once({"client_roots": _ROOTS}),
    f"{ROUND}request_state": _ask_once({"confirm": _ASK_OK}, state="kept"),
    f"{ROUND}tampered_state": _ask_once({"confirm": _ASK_OK}, state="kept"),
    f"{ROUND}multiple_inputs": _ask_once(
        {"user_name": _ASK_NAME, "greeting": _SAMPLE, "client_roots": _ROOTS}, state="kept"
    ),
    f"{ROUND}multi_round": _ask_twice,
    f"{ROUND}capabilities": _ask_what_is_declared,
    "test_missing_capability": _need_sampling,
}

# ---------------------------------------------------------------------------------- the list and the calls


_HEADER: Final[dict[str, Any]] = {"type": "string", "x-mcp-header": "Region"}
_ADDRESS: Final[dict[str, Any]] = {
    "$anchor": "addressDef",
    "type": "object",
    "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
}
_SCHEMAS: Final[Mapping[str, dict[str, Any]]] = {
    "test_custom_headers": {"type": "object", "properties": {"region": _HEADER}},
    "json_schema_2020_12_tool": {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {"address": _ADDRESS},
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"},
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": False,
    },
}
"""Schemas that the suite looks at, by tool; the others take nothing."""


def _list_tools(tools: Mapping[str, Tool]) -> Callable[..., Awaitable[Any]]:
    async def more(handler: Any, call: Call, params: Any) -> wire.ListToolsResult:  # noqa: ANN401
        told = await handler(call, params)
        added = [
            wire.Tool(
                name=name, description="A tool of the suite.", input_schema=_SCHEMAS.get(name, {"type": "object"})
            )
            for name in tools
        ]
        return told.model_copy(update={"tools": [*told.tools, *added]})

    return more


def _call_tool(tools: Mapping[str, Tool]) -> Callable[..., Awaitable[Any]]:
    async def more(handler: Any, call: Call, params: wire.CallToolRequestParams) -> Any:  # noqa: ANN401
        tool = tools.get(params.name)
        return await (handler(call, params) if tool is None else tool(call, params))

    return more
