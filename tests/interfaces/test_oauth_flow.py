"""OAuth as a client and a person see it: from a refusal to a tool call, login, consent, refresh and revocation."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import anyio
import httpx2
import pytest
from anyio import to_thread
from mcp import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull, OAuthClientMetadata, OAuthToken

from credenda.interfaces.server.oauth import clients
from credenda.testing import ManualClock
from tests.waiting import limit_waiting

from .agent import MODES, Agent
from .oauth import CALLBACK, Browser, Connector, connect, read_answer, read_form
from .served import BASE, Site, serving

DOCUMENT = "https://client.example.com/metadata.json"


class Storage:
    """What a client keeps."""

    def __init__(self) -> None:
        self.tokens: OAuthToken | None = None
        self.client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


class Person:
    """Opens the page that a client asks for, and allows what is ticked and what is added."""

    def __init__(self, site: Site, *extra: str) -> None:
        self.browser = Browser(site)
        self.browser.log_in()
        self.extra = {f"scope:{scope}": scope for scope in extra}
        self.asked: list[str] = []
        self.answer: dict[str, str] = {}

    async def open(self, address: str) -> None:
        self.asked.append(address)
        response = await to_thread.run_sync(lambda: self.browser.allow(address, **self.extra))
        assert response.headers["Location"].startswith(CALLBACK)
        self.answer = read_answer(response)

    async def take(self) -> AuthorizationCodeResult:
        return AuthorizationCodeResult(**self.answer)


class Bridge(httpx2.AsyncBaseTransport):
    """Sends the requests of an asynchronous client to the server of this process."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.log: list[tuple[str, str, int]] = []

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        body = await request.aread()

        def send() -> httpx2.Response:
            self.site.client.cookies.clear()
            found = self.site.client.request(
                request.method, str(request.url), content=body, headers=dict(request.headers), follow_redirects=False
            )
            return httpx2.Response(found.status_code, headers=found.headers, content=found.content)

        answer = await to_thread.run_sync(send)
        self.log.append((request.method, request.url.path, answer.status_code))
        return answer


def drive(site: Site, person: Person, mode: str, *, document: str | None = None, scope: str | None = None) -> Bridge:
    """Let the SDK's client connect by itself and call tools."""
    metadata = OAuthClientMetadata.model_validate(
        {"redirect_uris": [CALLBACK], "client_name": "Example", "scope": scope}
    )

    async def run() -> Bridge:
        provider = OAuthClientProvider(
            f"{BASE}/mcp",
            metadata,
            Storage(),
            redirect_handler=person.open,
            callback_handler=person.take,
            client_metadata_url=document,
        )
        bridge = Bridge(site)
        with limit_waiting("the end of a login and a call"):
            async with httpx2.AsyncClient(transport=bridge, auth=provider) as http:
                transport = streamable_http_client(f"{BASE}/mcp", http_client=http)
                async with Client(transport, mode=mode) as client:
                    agent = Agent(client)
                    stored = await agent.ask("store_memory", text="My hobby is chess.")
                    assert stored["data"]["queued"]
                    if person.extra:
                        await agent.ask("stats")
        return bridge

    return anyio.run(run)


@pytest.mark.requirement("R-192")
@pytest.mark.parametrize("mode", MODES)
def test_the_client_of_the_sdk_goes_from_a_refusal_to_a_tool_call_by_itself(
    tmp_path: Path, clock: ManualClock, mode: str
) -> None:
    with serving(tmp_path / "memory.db", clock, tokens=True, toolset="default") as site:
        person = Person(site)
        bridge = drive(site, person, mode)
        paths = [path for _, path, _ in bridge.log]
        assert bridge.log[0][1:] == ("/mcp", 401)
        assert paths[1:4] == [
            "/.well-known/oauth-protected-resource/mcp",
            "/.well-known/oauth-authorization-server",
            "/register",
        ]
        assert paths[4:6] == ["/token", "/mcp"]
        asked = parse_qs(urlsplit(person.asked[0]).query)
        assert (asked["scope"], asked["resource"]) == (["memory:read memory:write"], [f"{BASE}/mcp"])
        assert person.answer["iss"] == BASE
        (kept,) = site.parts.store.tokens.list_tokens("ana")
        assert (kept.name, kept.scopes, kept.resource) == ("Example", ("memory:read", "memory:write"), f"{BASE}/mcp")


def test_a_client_with_a_document_registers_nothing(
    tmp_path: Path, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = {"client_id": DOCUMENT, "client_name": "Example App", "redirect_uris": [CALLBACK]}
    fetched: list[str] = []

    def fetch_public_json(url: str) -> object:
        fetched.append(url)
        return document

    monkeypatch.setattr(clients, "fetch_public_json", fetch_public_json)
    with serving(tmp_path / "memory.db", clock, tokens=True, toolset="default") as site:
        Browser(site).get(Connector(site).address(client_id=DOCUMENT))
        assert fetched == []  # nobody is logged in
        person = Person(site)
        bridge = drive(site, person, "auto", document=DOCUMENT)
        assert "/register" not in [path for _, path, _ in bridge.log]
        assert fetched == [DOCUMENT]
        page = person.browser.get(person.asked[0]).text
        assert "Example App" in page
        assert "client.example.com" in page


def test_a_client_asks_for_a_scope_that_a_tool_needs(tmp_path: Path, clock: ManualClock) -> None:
    """A tool beyond the granted scopes is answered with 403, and the client asks the person by itself."""
    with serving(tmp_path / "memory.db", clock, tokens=True) as site:
        answer = connect(site, scopes="memory:read", resource=f"{BASE}/mcp")
        refused = site.tool("store_memory", {"text": "I like tea."}, answer["access_token"])
        assert refused.status_code == 403
        challenge = refused.headers["WWW-Authenticate"]
        assert challenge == (
            'Bearer error="insufficient_scope", scope="memory:write", '
            f'resource_metadata="{BASE}/.well-known/oauth-protected-resource/mcp"'
        )
        assert site.tool("search_memories", {"query": "tea"}, answer["access_token"]).status_code == 200
        person = Person(site)
        bridge = drive(site, person, "auto", scope="memory:read")
        assert [status for _, path, status in bridge.log if path == "/mcp" and status >= 400] == [401]


def test_a_tool_beyond_the_scopes_leads_the_client_back_to_the_person(tmp_path: Path, clock: ManualClock) -> None:
    with serving(tmp_path / "memory.db", clock, tokens=True) as site:

        class Stingy(Person):
            """Gives reading alone at first."""

            async def open(self, address: str) -> None:
                self.asked.append(address)
                form = read_form(self.browser.get(address).text)
                if len(self.asked) == 1:
                    form.pop("scope:memory:write")
                self.answer = read_answer(self.browser.post("/authorize", {**form, "decision": "allow"}))

        person = Stingy(site)
        bridge = drive(site, person, "auto")
        assert [status for _, path, status in bridge.log if path == "/mcp" and status >= 400] == [401, 403]
        assert len(person.asked) == 2


def test_the_metadata_of_server_and_resource_fit_together(tmp_path: Path, clock: ManualClock) -> None:
    with serving(tmp_path / "memory.db", clock, tokens=True) as site:
        described = site.send("GET", "/.well-known/oauth-authorization-server").json()
        assert described["code_challenge_methods_supported"] == ["S256"]
        assert described["client_id_metadata_document_supported"] is True
        assert described["authorization_response_iss_parameter_supported"] is True
        for path in ("", "/mcp"):
            resource = site.send("GET", f"/.well-known/oauth-protected-resource{path}").json()
            assert resource["resource"] == BASE + path
            assert resource["authorization_servers"] == [described["issuer"]] == [BASE]
            assert resource["scopes_supported"] == ["memory:read", "memory:write"]
            refused = site.send("POST", path or "/v1/stats")
            challenge = refused.headers["WWW-Authenticate"]
            assert challenge == (
                'Bearer realm="credenda", scope="memory:read memory:write", '
                f'resource_metadata="{BASE}/.well-known/oauth-protected-resource{path}"'
            )
        assert site.send("POST", "/.well-known/oauth-authorization-server").status_code == 405
        assert site.send("GET", "/token").status_code == 405
        for absent in ("openid-configuration", "oauth-protected-resource/v1"):
            assert site.send("GET", f"/.well-known/{absent}").status_code == 404


def test_a_loopback_server_is_known_under_each_of_its_names(tmp_path: Path, clock: ManualClock) -> None:
    with serving(tmp_path / "memory.db", clock, tokens=True) as site:
        local = "http://localhost:8765"
        refused = site.client.post(f"{local}/mcp")
        assert (
            f'resource_metadata="{local}/.well-known/oauth-protected-resource/mcp"'
            in (refused.headers["WWW-Authenticate"])
        )
        found = site.client.get(f"{local}/.well-known/oauth-protected-resource/mcp").json()
        assert found == {**found, "resource": f"{local}/mcp", "authorization_servers": [local]}
        answer = connect(site, resource=f"{local}/mcp/")
        assert site.tool("search_memories", {"query": "x"}, answer["access_token"]).status_code == 200


def test_without_tokens_there_is_nothing_to_log_in_to(tmp_path: Path, clock: ManualClock) -> None:
    with serving(tmp_path / "memory.db", clock) as site:
        for path in ("/login", "/authorize", "/.well-known/oauth-authorization-server"):
            assert site.send("GET", path).status_code == 404
