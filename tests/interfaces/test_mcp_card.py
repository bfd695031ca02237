"""The contest card: what the tool and the resource say of it, and what the page may do."""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256

import mcp_types as wire
import pytest

from credenda import Credenda
from credenda.interfaces.authorization import use_as_owner
from credenda.interfaces.mcp.server import build_server
from credenda.interfaces.mcp.tool_specs import EXTENSION, MEDIA_TYPE, URI, make_page
from credenda.operations import OPERATIONS

from .agent import MODES, Agent, drive, serving, swing

REACHING_OUT = (
    "fetch",
    "XMLHttpRequest",
    "WebSocket",
    "EventSource",
    "sendBeacon",
    "import(",
    "http:",
    "https:",
    "src=",
)
WRITING_MARKUP = ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function(", "DOMParser")


@pytest.mark.parametrize("mode", MODES)
def test_the_card_belongs_to_the_tool_that_shows_contests(mode: str, mem: Credenda) -> None:
    async def body(agent: Agent) -> None:
        tools = {tool.name: tool for tool in (await agent.client.list_tools()).tools}
        assert [name for name, tool in tools.items() if tool.meta] == ["resolve_conflict"]
        assert tools["resolve_conflict"].meta == {"ui": {"resourceUri": URI, "visibility": ["model", "app"]}}
        listed = {str(one.uri): one for one in (await agent.client.list_resources()).resources}
        (page,) = (await agent.client.read_resource(URI)).contents
        assert isinstance(page, wire.TextResourceContents)
        assert page.text == make_page()
        for shown in (listed[URI], page):
            assert shown.mime_type == MEDIA_TYPE
            assert shown.meta is not None
            assert set(shown.meta["ui"]["csp"]) == {
                *("connectDomains", "resourceDomains", "frameDomains", "baseUriDomains")
            }
            assert not any(shown.meta["ui"]["csp"].values())
        declared = agent.client.server_capabilities
        assert declared is not None
        assert declared.extensions == ({EXTENSION: {}} if mode == "auto" else None)  # a field of the later revision

    drive(serving(mem), body, mode)


@pytest.mark.parametrize("mode", MODES)
def test_a_client_without_apps_reads_the_same_as_text(mode: str, mem: Credenda) -> None:
    swing(mem)

    async def body(agent: Agent) -> None:
        told = await agent.result("resolve_conflict")
        (text,) = told.content
        assert isinstance(text, wire.TextContent)
        assert "morning meetings" in text.text
        assert "<script" not in text.text

    drive(serving(mem), body, mode)


def test_a_server_without_the_tool_has_no_card(mem: Credenda) -> None:
    server = build_server(lambda: use_as_owner(mem), operations=[OPERATIONS["search"]])

    async def body(agent: Agent) -> None:
        assert [str(one.uri) for one in (await agent.client.list_resources()).resources] == ["credenda://core"]

    drive(server, body)
    assert server.extensions == {}


def test_the_policy_permits_the_script_and_the_style_of_the_page_alone() -> None:
    page = make_page()
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    sources = dict(part.split(" ", 1) for part in policy.split("; "))
    assert sources.pop("default-src") == "'none'"
    assert sources.pop("base-uri") == "'none'"
    assert sources.pop("form-action") == "'none'"
    for name in ("script", "style"):
        (text,) = re.findall(rf"<{name}>(.*?)</{name}>", page, re.DOTALL)
        digest = b64encode(sha256(text.encode()).digest()).decode()
        assert sources.pop(f"{name}-src") == f"'sha256-{digest}'"
    assert sources == {}


def test_the_page_reaches_no_network_and_writes_text_as_text() -> None:
    page = make_page()
    assert [word for word in (*REACHING_OUT, *WRITING_MARKUP) if word in page] == []
    assert re.findall(r"\son[a-z]+=", page) == []
    assert re.findall(r"<(?:link|img|iframe|form|object|embed|base)\b", page) == []
    assert page.count("textContent = text;") == 1
