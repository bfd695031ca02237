"""The essential scenarios of the MCP conformance suite, replayed on the production application with its fixture.

`scripts/conformance` runs the suite itself, which needs Node.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import anyio
import mcp_types as wire
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from credenda import Credenda
from credenda.testing import ManualClock
from tests.waiting import limit_waiting

from .agent import MODES, Agent, drive, serving, text_of
from .served import MCP_HEADERS, Site
from .served import serving as serving_http
from .suite_fixture import add_suite

Table = dict[str, Any]
MODERN = "2026-07-28"
META = "io.modelcontextprotocol/"
CONTENTS = {
    "test_simple_text": ["text"],
    "test_image_content": ["image"],
    "test_audio_content": ["audio"],
    "test_embedded_resource": ["resource"],
    "test_multiple_content_types": ["text", "image", "resource"],
}
PROMPTS: Mapping[str, tuple[dict[str, str], list[str]]] = {
    "test_simple_prompt": ({}, ["text"]),
    "test_prompt_with_arguments": ({"arg1": "one", "arg2": "two"}, ["text"]),
    "test_prompt_with_embedded_resource": ({"resourceUri": "test://some"}, ["resource", "text"]),
    "test_prompt_with_image": ({}, ["image", "text"]),
}


@pytest.fixture
def site(tmp_path: Path, clock: ManualClock) -> Iterator[Site]:
    with serving_http(tmp_path / "memory.db", clock, extend=add_suite) as opened:
        yield opened


def run(mem: Credenda, mode: str, body: Callable[[Agent], Any], **callbacks: Any) -> Any:  # noqa: ANN401 - of the client
    server = serving(mem)
    add_suite(server)

    async def connect() -> object:
        with limit_waiting("the end of a conversation with a server"):
            async with Client(server, mode=mode, **callbacks) as client:
                return await body(Agent(client))

    return anyio.run(connect)


def send(
    site: Site,
    method: str,
    params: Mapping[str, Any] | None = None,
    *,
    meta: Mapping[str, Any] | None = None,
    headers: Mapping[str, str] | None = None,
) -> Any:  # noqa: ANN401 - a response
    """Send a request of the revision 2026-07-28; None in `meta` leaves a field out."""
    told: Table = {f"{META}protocolVersion": MODERN, f"{META}clientCapabilities": {}, **(meta or {})}
    sent: Table = {**(params or {}), "_meta": {name: value for name, value in told.items() if value is not None}}
    named = {"Mcp-Name": str(sent["name"])} if "name" in sent else {}
    given = MCP_HEADERS | {"MCP-Protocol-Version": MODERN, "Mcp-Method": method} | named | dict(headers or {})
    body: Table = {"jsonrpc": "2.0", "id": 5, "method": method, "params": sent}
    return site.send("POST", "/mcp", content=json.dumps(body), headers=given)


@pytest.mark.parametrize("mode", MODES)
def test_every_kind_of_content_reaches_the_client(mode: str, mem: Credenda) -> None:
    async def body(agent: Agent) -> None:
        names = [tool.name for tool in (await agent.client.list_tools()).tools]
        assert names == [tool.name for tool in (await agent.client.list_tools()).tools]
        assert set(CONTENTS) < set(names)
        for name, kinds in CONTENTS.items():
            assert [content.type for content in (await agent.result(name)).content] == kinds
        failed = await agent.result("test_error_handling")
        assert failed.is_error
        assert "intentionally" in text_of(failed)

    run(mem, mode, body)


@pytest.mark.parametrize("mode", MODES)
def test_resources_and_prompts_of_every_kind(mode: str, mem: Credenda) -> None:
    async def body(agent: Agent) -> None:
        assert await agent.read("test://static-text")
        assert "123" in await agent.read("test://template/123/data")
        (image,) = (await agent.client.read_resource("test://static-binary")).contents
        assert isinstance(image, wire.BlobResourceContents)
        for name, (given, kinds) in PROMPTS.items():
            told = await agent.client.get_prompt(name, given)
            assert [message.content.type for message in told.messages] == kinds
            assert all(value in str(told.messages) for value in given.values())
        with pytest.raises(MCPError) as caught:
            await agent.read("test://nothing")
        assert caught.value.error.data["uri"] == "test://nothing"
        about = wire.PromptReference(name="test_prompt_with_arguments")
        told = await agent.client.complete(about, {"name": "arg1", "value": "par"})
        assert told.completion.values

    run(mem, mode, body)


@pytest.mark.parametrize("mode", MODES)
def test_progress_is_reported_in_order(mode: str, mem: Credenda) -> None:
    steps: list[float] = []

    async def note(done: float, _: float | None, __: str | None) -> None:
        steps.append(done)

    async def body(agent: Agent) -> None:
        await agent.client.call_tool("test_tool_with_progress", {}, progress_callback=cast("Any", note))

    run(mem, mode, body)
    assert steps == [0, 50, 100]


@pytest.mark.parametrize(
    "name", ["test_elicitation", "test_elicitation_sep1034_defaults", "test_elicitation_sep1330_enums"]
)
def test_a_server_of_the_earlier_revision_asks_during_the_call(name: str, mem: Credenda) -> None:
    asked: list[Any] = []

    async def answer(_: object, form: Any) -> wire.ElicitResult:  # noqa: ANN401 - a form or an address
        asked.append(form.requested_schema["properties"])
        return wire.ElicitResult(action="accept", content={"name": "Jane"})

    async def body(agent: Agent) -> None:
        assert "Jane" in text_of(await agent.result(name, message="Who?"))

    run(mem, "legacy", body, elicitation_callback=answer)
    assert len(asked) == 1
    if name.endswith("defaults"):
        assert {one: asked[0][one]["default"] for one in asked[0]} == {
            "name": "John Doe",
            "age": 30,
            "score": 95.5,
            "status": "active",
            "verified": True,
        }


def test_a_question_is_answered_in_as_many_rounds_as_it_takes(mem: Credenda) -> None:
    asked: list[str] = []

    async def answer(_: object, form: Any) -> wire.ElicitResult:  # noqa: ANN401 - a form or an address
        asked.append(form.message)
        return wire.ElicitResult(
            action="accept", content={"name": "Alice", "color": "blue", "ok": True, "context": "c"}
        )

    async def body(agent: Agent) -> None:
        assert "Alice" in text_of(await agent.result("test_input_required_result_elicitation"))
        assert "state-ok" in text_of(await agent.result("test_input_required_result_request_state"))
        assert text_of(await agent.result("test_input_required_result_multi_round")) == "done"
        assert (await agent.client.get_prompt("test_input_required_result_prompt", {})).messages

    run(mem, "auto", body, elicitation_callback=answer)
    assert len(asked) == 5


def test_a_state_that_was_tampered_with_is_refused(site: Site) -> None:
    call: Table = {"name": "test_input_required_result_tampered_state", "arguments": {}}
    meta: Table = {f"{META}clientCapabilities": {"elicitation": {}}}
    first = send(site, "tools/call", call, meta=meta).json()["result"]
    assert first["resultType"] == "input_required"
    answers = {name: {"action": "accept", "content": {"ok": True}} for name in first["inputRequests"]}
    again = {**call, "inputResponses": answers}
    refused = send(site, "tools/call", {**again, "requestState": first["requestState"] + "-TAMPERED"}, meta=meta)
    assert refused.json()["error"]["code"] == wire.INVALID_PARAMS
    other = {**again, "name": "test_input_required_result_request_state", "requestState": first["requestState"]}
    assert send(site, "tools/call", other, meta=meta).json()["error"]["code"] == wire.INVALID_PARAMS
    told = send(site, "tools/call", {**again, "requestState": first["requestState"]}, meta=meta)
    assert told.json()["result"]["resultType"] == "complete"


def test_only_what_the_client_declared_is_asked_for(site: Site) -> None:
    call: Table = {"name": "test_input_required_result_capabilities", "arguments": {}}
    told = send(site, "tools/call", call, meta={f"{META}clientCapabilities": {"sampling": {}}}).json()["result"]
    assert [one["method"] for one in told["inputRequests"].values()] == ["sampling/createMessage"]
    refused = send(site, "tools/call", {"name": "test_missing_capability", "arguments": {}})
    assert refused.status_code == 400
    assert refused.json()["error"]["code"] == wire.MISSING_REQUIRED_CLIENT_CAPABILITY
    assert refused.json()["error"]["data"]["requiredCapabilities"] == {"sampling": {}}


def test_a_request_says_its_revision_in_the_header_and_in_the_body(site: Site) -> None:
    assert send(site, "server/discover").json()["result"]["supportedVersions"][-1] == MODERN
    for name in ("protocolVersion", "clientCapabilities"):
        lacking = send(site, "tools/list", meta={f"{META}{name}": None})
        assert (lacking.status_code, lacking.json()["error"]["code"]) == (400, wire.INVALID_PARAMS)
    other = send(site, "tools/list", headers={"MCP-Protocol-Version": "2030-01-01"})
    assert (other.status_code, other.json()["error"]["code"]) == (400, -32020)
    unknown = send(
        site,
        "tools/list",
        meta={f"{META}protocolVersion": "2030-01-01"},
        headers={"MCP-Protocol-Version": "2030-01-01"},
    )
    assert (unknown.status_code, unknown.json()["error"]["code"]) == (400, -32022)
    assert MODERN in unknown.json()["error"]["data"]["supported"]
    wrong = send(site, "tools/list", headers={"Mcp-Method": "tools/call"})
    assert (wrong.status_code, wrong.json()["error"]["code"]) == (400, -32020)


@pytest.mark.parametrize("method", ["initialize", "ping", "logging/setLevel", "resources/subscribe", "no/such"])
def test_a_method_that_the_revision_lacks_is_not_found(method: str, site: Site) -> None:
    told = send(site, method)
    assert (told.status_code, told.json()["error"]["code"]) == (404, wire.METHOD_NOT_FOUND)
    assert told.json()["id"] == 5


@pytest.mark.parametrize("method", ["tools/list", "prompts/list", "resources/list", "resources/templates/list"])
def test_lists_say_how_long_they_hold_and_that_they_are_private(method: str, site: Site) -> None:
    told = send(site, method).json()["result"]
    assert told["ttlMs"] >= 0
    assert told["cacheScope"] == "private"


def test_a_tool_that_logs_is_silent_unless_the_request_asks(site: Site) -> None:
    call: Table = {"name": "test_logging_tool", "arguments": {}}
    assert "notifications/message" not in send(site, "tools/call", call).text
    told = send(site, "tools/call", call, meta={f"{META}logLevel": "info"})
    assert told.headers["content-type"].startswith("text/event-stream")
    assert told.text.count("notifications/message") == 3


@pytest.mark.parametrize("host", ["evil.example.com", "127.0.0.1.evil.example.com"])
def test_a_page_of_another_site_is_refused(host: str, site: Site) -> None:
    assert 400 <= send(site, "server/discover", headers={"Host": host}).status_code < 500
    assert 400 <= send(site, "server/discover", headers={"Origin": f"http://{host}"}).status_code < 500
    own = {"Host": "localhost:8765", "Origin": "http://localhost:8765"}
    assert send(site, "server/discover", headers=own).status_code == 200


def test_the_fixture_is_no_part_of_the_product(mem: Credenda) -> None:
    async def body(agent: Agent) -> None:
        assert not [tool for tool in (await agent.client.list_tools()).tools if tool.name.startswith("test_")]

    drive(serving(mem, "full"), body)
