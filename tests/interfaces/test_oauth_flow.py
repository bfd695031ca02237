"""OAuth as a client and a person see it: from a refusal to a tool call, login, consent, refresh and revocation."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import anyio
import httpx2
import pytest
from anyio import to_thread
from mcp import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull, OAuthClientMetadata, OAuthToken

from credenda.interfaces.server.address import Address
from credenda.interfaces.server.oauth import fetch
from credenda.services import logins
from credenda.testing import ManualClock

from .agent import MODES, Agent
from .oauth import CALLBACK, Browser, Connector, connect, read_answer, read_form
from .served import BASE, Site, serving
from .terminal import Terminal

START = "2026-03-01T09:00:00Z"
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


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(START)


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
        with anyio.fail_after(60):
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

    monkeypatch.setattr(fetch, "fetch_public_json", fetch_public_json)
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


# The person


def test_a_link_of_the_command_line_logs_in_to_a_running_server(tmp_path: Path, clock: ManualClock) -> None:
    with serving(tmp_path / "memory.db", clock, tokens=True) as site:
        terminal = Terminal(tmp_path)
        link = terminal.json("login-link", "--url", BASE)["url"]
        code = parse_qs(urlsplit(link).query)["code"][0]
        browser = Browser(site)
        form = read_form(browser.get(link).text)  # opening the link, as a preview does, uses nothing up
        assert form["code"] == code
        assert browser.post("/login", form).status_code == 303
        assert "logged in as <strong>ana" in browser.get("/login").text


def test_a_login_code_is_used_up_and_expires(tmp_path: Path, clock: ManualClock) -> None:
    with serving(tmp_path / "memory.db", clock, tokens=True) as site:
        secrets = site.parts.store.secrets
        code = logins.issue_link(secrets, "ana", clock.now_us())
        assert Browser(site).post("/login", {"code": code}).status_code == 303
        again = Browser(site)
        assert again.post("/login", {"code": code}).status_code == 401
        assert again.cookies == {}
        late = logins.issue_link(secrets, "ana", clock.now_us())
        clock.advance(timedelta(minutes=10))
        assert again.post("/login", {"code": late}).status_code == 401
        files = b"".join(path.read_bytes() for path in tmp_path.iterdir())
        assert code.encode() not in files


def test_a_session_ends_by_itself_and_by_logging_out(tmp_path: Path, clock: ManualClock) -> None:
    with serving(tmp_path / "memory.db", clock, tokens=True) as site:
        browser = Browser(site)
        cookie = browser.log_in().headers["Set-Cookie"]
        assert re.fullmatch(
            r"credenda=credenda_session_[\w-]{43}; HttpOnly; Max-Age=43200; Path=/; SameSite=lax", cookie
        )
        kept = dict(browser.cookies)
        form = read_form(browser.get("/login").text)
        assert browser.post("/logout", form).status_code == 303
        browser.cookies = kept
        assert "Login code" in browser.get("/login").text
        browser.cookies = {}
        browser.log_in()
        clock.advance(timedelta(hours=12))
        assert "Login code" in browser.get("/login").text


def test_over_tls_the_cookie_is_bound_to_the_host(tmp_path: Path, clock: ManualClock) -> None:
    address = Address(trust_proxy=True, url="https://memory.example.org")
    with serving(tmp_path / "memory.db", clock, address=address) as site:
        browser = Browser(site, "https://memory.example.org")
        cookie = browser.log_in().headers["Set-Cookie"]
        assert re.fullmatch(
            r"__Host-credenda=credenda_session_[\w-]{43}; HttpOnly; Max-Age=43200; Path=/; SameSite=lax; Secure", cookie
        )
        assert "logged in as" in browser.get("/login").text


def test_a_request_without_a_login_goes_on_after_it(tmp_path: Path, clock: ManualClock) -> None:
    with serving(tmp_path / "memory.db", clock, tokens=True) as site:
        browser, client = Browser(site), Connector(site)
        form = read_form(browser.get(client.address()).text)
        form["code"] = logins.issue_link(site.parts.store.secrets, "ana", clock.now_us())
        following = browser.post("/login", form).headers["Location"]
        assert following == client.address()
        assert "Example" in browser.get(following).text


@pytest.mark.requirement("R-191")
def test_the_consent_page_names_client_host_and_scopes_and_runs_nothing(tmp_path: Path, clock: ManualClock) -> None:
    with serving(tmp_path / "memory.db", clock, tokens=True) as site:
        browser = Browser(site)
        browser.log_in()
        client = Connector(site, "https://app.example.com/done", name='<script>alert("x")</script>\u202e Evil')
        page = browser.get(client.address(scope="memory:read memory:erase"))
        assert "<script" not in page.text
        assert "&lt;script&gt;" in page.text
        assert "\u202e" not in page.text
        for shown in ("app.example.com", "memory:read", "memory:erase", "ana (owner)", "Nobody has checked its name"):
            assert shown in page.text
        form = read_form(page.text)
        assert "scope:memory:read" in form
        assert "scope:memory:erase" not in form  # it must be ticked
        policy = page.headers["Content-Security-Policy"]
        assert policy.startswith("default-src 'none'; style-src 'sha256-")
        assert "form-action 'self' https://app.example.com;" in policy
        assert policy.endswith("frame-ancestors 'none'; base-uri 'none'")
        assert page.headers["X-Frame-Options"] == "DENY"
        assert page.headers["Cache-Control"] == "no-store"


def test_denied_access_gives_no_code(tmp_path: Path, clock: ManualClock) -> None:
    with serving(tmp_path / "memory.db", clock, tokens=True) as site:
        browser, client = Browser(site), Connector(site)
        browser.log_in()
        answer = read_answer(browser.allow(client.address(), decision="deny"))
        assert (answer["error"], answer["state"], answer["iss"]) == ("access_denied", "xyz", BASE)
        assert "code" not in answer
        form = read_form(browser.get(client.address(scope="memory:erase")).text)
        assert read_answer(browser.post("/authorize", {**form, "decision": "allow"}))["error"] == "access_denied"


# Tokens


def test_access_ends_after_an_hour_and_a_refresh_renews_it(tmp_path: Path, clock: ManualClock) -> None:
    with serving(tmp_path / "memory.db", clock, tokens=True) as site:
        answer = connect(site)
        assert (answer["token_type"], answer["expires_in"]) == ("Bearer", 3_600)
        clock.advance(timedelta(hours=1))
        assert site.send("GET", "/v1/stats", answer["access_token"]).status_code == 401
        renewed = answer["client"].refresh(answer["refresh_token"]).json()
        assert renewed["refresh_token"] != answer["refresh_token"]
        assert site.send("GET", "/v1/stats", renewed["access_token"]).status_code == 200
        fewer = answer["client"].refresh(renewed["refresh_token"], scope="memory:read").json()
        assert fewer["scope"] == "memory:read"
        body = {"content": "I like tea."}
        assert site.send("POST", "/v1/memories", fewer["access_token"], json=body).status_code == 403
        full = answer["client"].refresh(fewer["refresh_token"]).json()
        assert full["scope"] == "memory:read memory:write"


def test_a_connection_is_listed_and_revoked_like_a_token(tmp_path: Path, clock: ManualClock) -> None:
    terminal = Terminal(tmp_path)
    with serving(tmp_path / "memory.db", clock, tokens=True) as site:
        answer = connect(site)
        (listed,) = terminal.json("token", "list")
        assert (listed["name"], listed["client"]) == ("Example", answer["client"].id)
        assert "connected by OAuth" in terminal.text("token", "list")
        assert site.send("GET", "/v1/stats", answer["access_token"]).status_code == 200
        terminal.run("token", "revoke", listed["id"])
        assert site.send("GET", "/v1/stats", answer["access_token"]).status_code == 401
        assert answer["client"].refresh(answer["refresh_token"]).json()["error"] == "invalid_grant"


@pytest.mark.parametrize("kind", ["access_token", "refresh_token"])
def test_a_client_can_end_its_own_connection_alone(tmp_path: Path, clock: ManualClock, kind: str) -> None:
    with serving(tmp_path / "memory.db", clock, tokens=True) as site:
        answer = connect(site)
        sent: dict[str, Any] = {"token": answer[kind], "client_id": "dcr-another"}
        assert site.send("POST", "/revoke", data=sent).status_code == 200
        assert site.send("GET", "/v1/stats", answer["access_token"]).status_code == 200
        assert site.send("POST", "/revoke", data={**sent, "client_id": answer["client"].id}).status_code == 200
        assert site.send("GET", "/v1/stats", answer["access_token"]).status_code == 401


def test_nothing_secret_is_stored(tmp_path: Path, clock: ManualClock) -> None:
    with serving(tmp_path / "memory.db", clock, tokens=True) as site:
        browser, client = Browser(site), Connector(site)
        browser.log_in()
        code = read_answer(browser.allow(client.address()))["code"]
        answer = client.redeem(code).json()
        site.send("GET", "/v1/stats", answer["access_token"])
    files = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    secrets = [code, answer["access_token"], answer["refresh_token"], *browser.cookies.values()]
    assert not [one for one in secrets if one.rpartition("_")[2].encode() in files]
