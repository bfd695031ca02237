"""MCP over HTTP in both revisions: questions, progress, and sessions that belong to their caller."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import anyio
import mcp_types as wire
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from credenda import Credenda
from tests.waiting import PATIENCE_SECONDS, limit_waiting

from .agent import MODES, Agent, command, swing
from .served import MCP_HEADERS, Site
from .test_server_process import Server

pytestmark = pytest.mark.tokens


ASKING: dict[str, object] = {"elicitation": {}}


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@pytest.fixture
def contested(db: Path) -> Path:
    with Credenda.open(db, user="ana", workers=False, embedder="none") as memory:
        swing(memory)
    return db


@pytest.fixture
def url(contested: Path) -> Iterator[str]:
    server = Server("--db", str(contested), "--toolset", "full")
    yield f"{server.url}/mcp"
    server.child.kill()
    server.child.communicate(timeout=PATIENCE_SECONDS)


def post(site: Site, token: str, method: str, session: str = "", **params: object) -> Any:  # noqa: ANN401 - a response
    """Send a request of the revision 2025-11-25."""
    body = {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}
    headers = MCP_HEADERS | ({"mcp-session-id": session} if session else {})
    return site.send("POST", "/mcp", token, content=json.dumps(body), headers=headers)


def initialize(site: Site, token: str, capabilities: dict[str, object]) -> Any:  # noqa: ANN401 - a response
    who = {"name": "client", "version": "1"}
    return post(site, token, "initialize", protocolVersion="2025-11-25", capabilities=capabilities, clientInfo=who)


def converse(target: str | StdioServerParameters, mode: str) -> None:
    """Answer the question about the one contest, and follow a long call."""
    asked: list[str] = []
    steps: list[str | None] = []

    async def answer(_: object, form: Any) -> wire.ElicitResult:  # noqa: ANN401 - a form or an address
        asked.append(form.message)
        return wire.ElicitResult(action="accept", content={"keep": "morning meetings"})

    async def note(_: float, __: float | None, doing: str | None) -> None:
        steps.append(doing)

    async def run() -> None:
        with limit_waiting("the end of a conversation with a server"):
            async with Client(target, mode=mode, elicitation_callback=cast("Any", answer)) as client:
                agent = Agent(client)
                (contest,) = (await agent.ask("resolve_conflict"))["contests"]
                told = await agent.ask("resolve_conflict", contest_id=contest["id"])
                assert told["data"]["contest"]["state"] == "resolved"
                await client.call_tool("check_store", {}, progress_callback=cast("Any", note))

    anyio.run(run)
    assert len(asked) == 1
    assert steps == ["change log", "rows", "index"]


def is_resolved(db: Path) -> bool:
    with Credenda.open(db, user="ana", workers=False, embedder="none") as memory:
        return memory.manage.contests()[0].resolution == "morning meetings"


@pytest.mark.parametrize("mode", MODES)
def test_a_question_and_progress_reach_the_client_over_a_socket(mode: str, url: str, db: Path) -> None:
    converse(url, mode)
    assert is_resolved(db)


@pytest.mark.parametrize("mode", MODES)
def test_a_question_and_progress_reach_the_client_over_standard_input(mode: str, contested: Path) -> None:
    converse(command(contested, "--toolset", "full"), mode)
    assert is_resolved(contested)


def test_only_a_client_that_can_be_asked_gets_a_session(site: Site) -> None:
    token = site.token("ana")
    plain = initialize(site, token, {})
    assert plain.status_code == 200
    assert plain.headers["content-type"] == "application/json"
    assert "mcp-session-id" not in plain.headers
    asking = initialize(site, token, ASKING)
    assert asking.status_code == 200
    assert re.fullmatch(r"[0-9a-f]{32}", asking.headers["mcp-session-id"])


def test_a_session_is_its_callers_alone_and_ends(site: Site) -> None:
    ana, ben = site.token("ana"), site.token("ben")
    other = site.token("ana", name="another program")
    session = initialize(site, ana, ASKING).headers["mcp-session-id"]
    assert post(site, ana, "tools/list", session).status_code == 200
    for token in (ben, other):
        assert post(site, token, "tools/list", session).status_code == 404
        assert site.send("DELETE", "/mcp", token, headers={"mcp-session-id": session}).status_code == 404
    assert post(site, "", "tools/list", session).status_code == 401
    assert post(site, ana, "tools/list", session).status_code == 200
    assert site.send("DELETE", "/mcp", ana, headers={"mcp-session-id": session}).status_code == 200
    assert post(site, ana, "tools/list", session).status_code == 404


def test_a_call_in_a_session_has_the_scopes_of_its_own_token(site: Site) -> None:
    reader = site.token("ana", scopes=["memory:read"])
    session = initialize(site, reader, ASKING).headers["mcp-session-id"]
    given = {"text": "I like tea.", "topic": "t"}
    told = post(site, reader, "tools/call", session, name="store_memory", arguments=given)
    assert told.status_code == 200
    assert '"code":"forbidden"' in told.text.replace(" ", "").replace("\\", "")


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT"])
def test_there_is_no_stream_to_open_and_no_session_to_end(method: str, site: Site) -> None:
    told = site.send(method, "/mcp", site.token("ana"))
    assert told.status_code == 405
    assert told.headers["allow"] == "POST"


def test_an_answer_is_json_unless_progress_is_wanted(site: Site) -> None:
    token = site.token("ana")
    plain = post(site, token, "tools/call", name="dream", arguments={})
    assert plain.headers["content-type"] == "application/json"
    told = post(site, token, "tools/call", name="dream", arguments={}, _meta={"progressToken": "p"})
    assert told.headers["content-type"].startswith("text/event-stream")
    sent = [json.loads(line[6:]) for line in told.text.splitlines() if line.startswith("data: {")]
    assert (
        next(one for one in sent if one.get("method") == "notifications/progress")["params"]["message"] == "forgetting"
    )
    assert sent[-1]["id"] == 7


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b"[" * 9_999, b'{"method": "initialize", "params": 1}'])
def test_a_body_that_is_no_request_is_refused(body: bytes, site: Site) -> None:
    told = site.send("POST", "/mcp", site.token("ana"), content=body, headers=MCP_HEADERS)
    assert told.status_code == 400
