"""An agent with a memory: the SDK's own client, in this process or before a server of its own."""

import json
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import mcp_types as wire
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.server.lowlevel import Server

from credenda import Credenda, MemoryUnit
from credenda.interfaces.authorization import use_as_owner
from credenda.interfaces.mcp.server import build_server
from credenda.operations import Toolset
from tests.waiting import limit_waiting

from .terminal import environment

MODES = ("auto", "legacy")
REVISIONS = {"auto": "2026-07-28", "legacy": "2025-11-25"}
Body = Callable[["Agent"], Awaitable[Any]]


class Agent:
    """Calls tools and reads what they answer."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def result(self, tool: str, **arguments: object) -> wire.CallToolResult:
        return await self.client.call_tool(tool, arguments)

    async def ask(self, tool: str, **arguments: object) -> dict[str, Any]:
        """Call a tool that must succeed."""
        result = await self.result(tool, **arguments)
        assert not result.is_error, result.structured_content
        return result.structured_content

    async def fail(self, tool: str, **arguments: object) -> dict[str, Any]:
        """Call a tool that must answer with an error."""
        result = await self.result(tool, **arguments)
        assert result.is_error, result.structured_content
        assert json.loads(text_of(result)) == result.structured_content
        return result.structured_content

    async def read(self, uri: str) -> str:
        (content,) = (await self.client.read_resource(uri)).contents
        assert isinstance(content, wire.TextResourceContents)
        return content.text


def text_of(result: wire.CallToolResult) -> str:
    (content,) = result.content
    assert isinstance(content, wire.TextContent)
    return content.text


def drive(server: Server[Any] | StdioServerParameters, body: Body, mode: str = "auto") -> Any:  # noqa: ANN401 - what the body returns
    """Connect, run the body, and take leave; nothing may take longer than the bound."""

    async def run() -> object:
        with limit_waiting("the end of a conversation with a server"):
            async with Client(server, mode=mode) as client:
                return await body(Agent(client))

    return anyio.run(run)


def serving(memory: Credenda, toolset: Toolset = "default") -> Server[Any]:
    return build_server(lambda: use_as_owner(memory), toolset=toolset)


def command(db: Path, *args: str, user: str = "ana") -> StdioServerParameters:
    """Say how a client starts a server of its own."""
    given = ["-m", "credenda", "--db", str(db), "--user", user, "mcp", *args]
    return StdioServerParameters(command=sys.executable, args=given, env=environment())


def say(mem: Credenda, *sentences: str) -> None:
    for sentence in sentences:
        mem.remember(sentence)
    mem.settle()


def swing(mem: Credenda) -> None:
    for value, when in (("morning", "2026-01-01"), ("afternoon", "2026-01-20"), ("morning", "2026-02-10")):
        mem.store(
            MemoryUnit(
                text=f"I prefer {value} meetings",
                type="preference",
                entity="user",
                attribute="meeting_time",
                value=f"{value} meetings",
                created_at=when,
            )
        )
