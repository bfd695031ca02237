"""The resources and prompts that the MCP conformance suite reads by name, and completion."""

from __future__ import annotations

import base64
import json
import struct
import zlib
from collections.abc import Mapping
from typing import Any, Final

import mcp_types as wire
from mcp.server.context import ServerRequestContext

Call = ServerRequestContext[Any, Any]

_TEXT_URI: Final = "test://static-text"
_BINARY_URI: Final = "test://static-binary"
_TEMPLATE: Final = "test://template/{id}/data"


def make_png() -> str:
    """Return one red pixel as PNG, in base64."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    head = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    pixel = zlib.compress(b"\0\xff\0\0")
    parts = (chunk(b"IHDR", head), chunk(b"IDAT", pixel), chunk(b"IEND", b""))
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"".join(parts)).decode()


def embed(uri: str, mime_type: str, text: str) -> wire.EmbeddedResource:
    return wire.EmbeddedResource(resource=wire.TextResourceContents(uri=uri, mime_type=mime_type, text=text))


def make_question(message: str, schema: dict[str, Any]) -> wire.ElicitRequest:
    return wire.ElicitRequest(params=wire.ElicitRequestFormParams(message=message, requested_schema=schema))


def want(name: str, kind: str) -> dict[str, Any]:
    return {"type": "object", "properties": {name: {"type": kind}}, "required": [name]}


PNG: Final = make_png()
IMAGE: Final = wire.ImageContent(data=PNG, mime_type="image/png")
ROUND: Final = "test_input_required_result_"


async def list_resources(handler: Any, call: Call, params: Any) -> wire.ListResourcesResult:  # noqa: ANN401
    told = await handler(call, params)
    added = [
        wire.Resource(uri=_TEXT_URI, name="text", description="A text.", mime_type="text/plain"),
        wire.Resource(uri=_BINARY_URI, name="image", description="An image.", mime_type="image/png"),
    ]
    return told.model_copy(update={"resources": [*told.resources, *added]})


async def list_templates(handler: Any, call: Call, params: Any) -> wire.ListResourceTemplatesResult:  # noqa: ANN401
    told = await handler(call, params)
    added = wire.ResourceTemplate(uri_template=_TEMPLATE, name="template", mime_type="application/json")
    return told.model_copy(update={"resource_templates": [*told.resource_templates, added]})


async def read_resource(handler: Any, call: Call, params: wire.ReadResourceRequestParams) -> wire.ReadResourceResult:  # noqa: ANN401
    uri = str(params.uri)
    before, _, after = _TEMPLATE.partition("{id}")
    content: wire.TextResourceContents | wire.BlobResourceContents
    if uri == _TEXT_URI:
        text = "This is the content of the static text resource."
        content = wire.TextResourceContents(uri=uri, mime_type="text/plain", text=text)
    elif uri == _BINARY_URI:
        content = wire.BlobResourceContents(uri=uri, mime_type="image/png", blob=PNG)
    elif uri.startswith(before) and uri.endswith(after):
        name = uri.removeprefix(before).removesuffix(after)
        text = json.dumps({"id": name, "templateTest": True, "data": f"Data for ID: {name}"})
        content = wire.TextResourceContents(uri=uri, mime_type="application/json", text=text)
    else:
        return await handler(call, params)
    return wire.ReadResourceResult(contents=[content])


_PROMPTS: Final[Mapping[str, tuple[str, ...]]] = {
    "test_simple_prompt": (),
    "test_prompt_with_arguments": ("arg1", "arg2"),
    "test_prompt_with_embedded_resource": ("resourceUri",),
    "test_prompt_with_image": (),
    f"{ROUND}prompt": (),
}


async def list_prompts(handler: Any, call: Call, params: Any) -> wire.ListPromptsResult:  # noqa: ANN401
    told = await handler(call, params)
    added = [
        wire.Prompt(
            name=name,
            description="A prompt of the suite.",
            arguments=[wire.PromptArgument(name=one, description="An argument.", required=True) for one in names],
        )
        for name, names in _PROMPTS.items()
    ]
    return told.model_copy(update={"prompts": [*told.prompts, *added]})


async def get_prompt(handler: Any, call: Call, params: wire.GetPromptRequestParams) -> Any:  # noqa: ANN401
    given = params.arguments or {}
    content: list[wire.ContentBlock]
    match params.name:
        case "test_simple_prompt":
            content = [wire.TextContent(text="This is a simple prompt for testing.")]
        case "test_prompt_with_arguments":
            text = f"Prompt with arguments: arg1='{given['arg1']}', arg2='{given['arg2']}'"
            content = [wire.TextContent(text=text)]
        case "test_prompt_with_embedded_resource":
            resource = embed(given["resourceUri"], "text/plain", "Embedded resource content for testing.")
            content = [resource, wire.TextContent(text="Please process the embedded resource above.")]
        case "test_prompt_with_image":
            content = [IMAGE, wire.TextContent(text="Please analyze the image above.")]
        case "test_input_required_result_prompt":
            if "user_context" not in (params.input_responses or {}):
                question = make_question("What context should the prompt use?", want("context", "string"))
                return wire.InputRequiredResult(input_requests={"user_context": question})
            content = [wire.TextContent(text="Prompt with the context of the user.")]
        case _:
            return await handler(call, params)
    return wire.GetPromptResult(messages=[wire.PromptMessage(role="user", content=one) for one in content])


async def complete(_: Call, __: wire.CompleteRequestParams) -> wire.CompleteResult:
    return wire.CompleteResult(completion=wire.Completion(values=["paris", "park", "party"], total=3, has_more=False))
