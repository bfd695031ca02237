"""Attacks on the authorization server: each is refused, and leaves nothing behind."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import cast
from urllib.parse import parse_qs, urlsplit

import pytest

from credenda import limits
from credenda.interfaces.server.address import Address
from credenda.interfaces.server.oauth.clients import register_client
from credenda.services import access
from credenda.storage.sqlite.store import SqliteStore
from credenda.testing import ManualClock

from .oauth import VERIFIER, Browser, Connector, challenge_of, connect, read_answer, read_form
from .served import BASE, Site, serving

pytestmark = pytest.mark.tokens


OTHER = "https://other.example.org"


@pytest.fixture
def browser(site: Site) -> Browser:
    person = Browser(site)
    person.log_in()
    return person


@pytest.fixture
def client(site: Site) -> Connector:
    return Connector(site)


def get_code(browser: Browser, client: Connector) -> str:
    return read_answer(browser.allow(client.address()))["code"]


# Codes


def test_a_code_that_comes_twice_ends_the_connection(site: Site, browser: Browser, client: Connector) -> None:
    code = get_code(browser, client)
    first = client.redeem(code).json()
    assert site.send("GET", "/v1/stats", first["access_token"]).status_code == 200
    again = client.redeem(code)
    assert (again.status_code, again.json()["error"]) == (400, "invalid_grant")
    assert site.send("GET", "/v1/stats", first["access_token"]).status_code == 401
    assert client.refresh(first["refresh_token"]).json()["error"] == "invalid_grant"


@pytest.mark.parametrize(
    "changed",
    [
        {"code_verifier": "w" * 43},
        {"code_verifier": ""},
        {"code_verifier": VERIFIER[:-1]},
        {"code_verifier": challenge_of(VERIFIER)},
        {"client_id": "dcr-W10"},
        {"redirect_uri": "http://127.0.0.1:5555/other"},
        {"redirect_uri": ""},
    ],
)
def test_a_stolen_code_is_of_no_use(browser: Browser, client: Connector, changed: dict[str, str]) -> None:
    code = get_code(browser, client)
    assert client.redeem(code, **changed).json()["error"] == "invalid_grant"
    assert client.redeem(code).json()["error"] == "invalid_grant"  # one attempt was all


def test_a_code_ends_after_a_minute_and_is_no_other_secret(
    site: Site, browser: Browser, client: Connector, clock: ManualClock
) -> None:
    code = get_code(browser, client)
    assert site.send("GET", "/v1/stats", code).status_code == 401
    assert client.refresh(code).json()["error"] == "invalid_grant"
    clock.advance(timedelta(minutes=1))
    assert client.redeem(code).json()["error"] == "invalid_grant"
    answer = connect(site)
    assert site.send("GET", "/v1/stats", answer["refresh_token"]).status_code == 401
    assert client.redeem(answer["access_token"]).json()["error"] == "invalid_grant"
    assert site.send("GET", "/v1/stats", browser.cookies["credenda"]).status_code == 401


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"code_challenge_method": None}, "invalid_request"),
        ({"code_challenge": None}, "invalid_request"),
        ({"code_challenge": "short"}, "invalid_request"),
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"response_type": None}, "unsupported_response_type"),
        ({"scope": "openid email"}, "invalid_scope"),
        ({"resource": f"{OTHER}/mcp"}, "invalid_target"),
        ({"resource": f"{BASE}.evil.example/mcp"}, "invalid_target"),
        ({"resource": f"{BASE}/v1"}, "invalid_target"),
    ],
)
def test_a_request_that_is_not_safe_gets_no_page(
    browser: Browser, client: Connector, changed: dict[str, str | None], error: str
) -> None:
    answer = read_answer(browser.get(client.address(**changed)))
    assert (answer["error"], answer["state"], answer["iss"]) == (error, "xyz", BASE)


# Redirects


@pytest.mark.parametrize(
    "uri",
    [
        "http://127.0.0.1:5555/callback/",
        "http://127.0.0.1:5555/callback?x=1",
        "http://127.0.0.1:5555/callback#x",
        "http://127.0.0.1:5555/../callback",
        "http://localhost:5555/callback",
        "http://127.0.0.1@evil.example/callback",
        "http://127.0.0.1.evil.example/callback",
        "https://127.0.0.1:5555/callback",
        "http://evil.example/callback",
        "",
    ],
)
def test_an_answer_goes_to_the_registered_address_alone(browser: Browser, client: Connector, uri: str) -> None:
    page = browser.get(client.address(redirect_uri=uri))
    assert page.status_code == 400
    assert "Location" not in page.headers
    assert browser.get(client.address(redirect_uri=uri, response_type="token")).status_code == 400


def test_a_program_on_this_machine_may_listen_on_any_port(browser: Browser, client: Connector) -> None:
    asked = client.address(redirect_uri="http://127.0.0.1:49152/callback")
    assert browser.allow(asked).headers["Location"].startswith("http://127.0.0.1:49152/callback?code=")


@pytest.mark.parametrize(
    "uri",
    [
        "javascript:alert(1)",
        "javascript://x/%0aalert(1)",
        "data:text/html,x",
        "file:///etc/passwd",
        "http://evil.example/callback",
        "http://localhost.evil.example/callback",
        "https://user@evil.example/",
        "https://evil.example/#fragment",
        "https://evil.example/\nx",
        "https://evil.example;script-src *",
        "https://",
        "//evil.example",
        "/relative",
        "",
        "mailto:x@example.com",
        "ms-msdt:/id",
        "search-ms:/query",
        "shell:/startup",
        "x-javascript:/x",
        "https://*.evil.example/",
        "https://exämple.com/",
        "https://evil.example:99999/",
        7,
        None,
    ],
)
def test_an_address_that_could_run_or_leak_is_not_registered(site: Site, uri: object) -> None:
    refused = site.send("POST", "/register", json={"redirect_uris": ["https://app.example.com/", uri]})
    assert (refused.status_code, refused.json()["error"]) == (400, "invalid_redirect_uri")


@pytest.mark.parametrize("uri", ["cursor://anysphere.cursor-mcp/oauth/callback", "https://vscode.dev/redirect"])
def test_addresses_of_known_programs_are_registered(site: Site, uri: str) -> None:
    made = site.send(
        "POST", "/register", json={"redirect_uris": [uri], "token_endpoint_auth_method": "client_secret_post"}
    )
    assert made.status_code == 201
    assert made.json()["token_endpoint_auth_method"] == "none"
    assert "client_secret" not in made.json()


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{", b'{"redirect_uris": []}', b'{"redirect_uris": "x"}', b"[" * 9_999, b"\xff"]
)
def test_a_registration_that_cannot_be_read_is_refused(site: Site, body: bytes) -> None:
    assert site.send("POST", "/register", content=body).status_code == 400


def test_registrations_are_bounded_and_store_nothing(site: Site) -> None:
    store = cast("SqliteStore", site.parts.store)
    before = store.commits
    long = {"redirect_uris": [f"https://app.example.com/{'x' * 1_900}{i}" for i in range(9)]}
    assert site.send("POST", "/register", json=long).status_code == 400
    assert site.send("POST", "/register", content=b"x" * (limits.OAUTH_BODY_BYTES + 1)).status_code == 413
    assert site.send("POST", "/register", json={"redirect_uris": ["https://app.example.com/"]}).status_code == 201
    assert store.commits == before


@pytest.mark.parametrize(
    "client_id", ["", "dcr-", "dcr-e30", "dcr-WyJ4Il0", "dcr-WyJ4IiwiamF2YXNjcmlwdDp4Il0", "x", "dcr-" + "A" * 5_000]
)
def test_an_invented_client_is_refused(browser: Browser, client: Connector, client_id: str) -> None:
    assert browser.get(client.address(client_id=client_id)).status_code == 400


def test_a_field_that_comes_twice_is_refused(browser: Browser, client: Connector) -> None:
    assert browser.get(client.address() + "&redirect_uri=https://evil.example/").status_code == 400
    assert browser.get(client.address() + "&scope=memory:erase").status_code == 400


# Audience


@pytest.mark.requirement("R-201")
def test_a_token_serves_the_resource_it_is_for(site: Site) -> None:
    narrow = connect(site, resource=f"{BASE}/mcp")["access_token"]
    assert site.tool("search_memories", {"query": "x"}, narrow).status_code == 200
    for path in ("/v1/stats", "/metrics", "/mcpx"):
        refused = site.send("GET", path, narrow)
        assert (refused.status_code, refused.json()["detail"]) == (401, "it was issued for another address")
    assert site.send("GET", "/v1/stats", connect(site, resource=BASE)["access_token"]).status_code == 200


def test_a_token_for_another_server_is_refused(tmp_path: Path, clock: ManualClock) -> None:
    """One database behind two addresses: a token of one is not for the other."""
    with serving(tmp_path / "memory.db", clock, tokens=True) as site:
        answer = connect(site)
    with serving(tmp_path / "memory.db", clock, address=Address(trust_proxy=True, url=OTHER)) as site:
        headers = {"Host": urlsplit(OTHER).netloc}
        refused = site.send("GET", "/v1/stats", answer["access_token"], headers=headers)
        assert refused.status_code == 401
        given = {"grant_type": "refresh_token", "refresh_token": answer["refresh_token"], "resource": f"{BASE}/mcp"}
        client_id = answer["client"].id
        renewed = site.send("POST", "/token", data={**given, "client_id": client_id}, headers=headers)
        assert renewed.json()["error"] == "invalid_target"


def test_a_refresh_for_another_resource_is_refused(site: Site) -> None:
    answer = connect(site, resource=f"{BASE}/mcp")
    for resource in (BASE, OTHER):
        refused = answer["client"].refresh(answer["refresh_token"], resource=resource)
        assert refused.json()["error"] == "invalid_target"
    assert answer["client"].refresh(answer["refresh_token"], resource=f"{BASE}/mcp").status_code == 200


# Refresh tokens


def test_a_refresh_token_that_comes_twice_ends_the_connection(site: Site) -> None:
    answer = connect(site)
    client = answer["client"]
    renewed = client.refresh(answer["refresh_token"]).json()
    stolen = client.refresh(answer["refresh_token"])
    assert (stolen.status_code, stolen.json()["error"]) == (400, "invalid_grant")
    for token in (answer["access_token"], renewed["access_token"]):
        assert site.send("GET", "/v1/stats", token).status_code == 401
    assert client.refresh(renewed["refresh_token"]).json()["error"] == "invalid_grant"


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"client_id": "dcr-other"}, "invalid_grant"),
        ({"scope": "memory:read memory:erase"}, "invalid_scope"),
        ({"scope": " "}, "invalid_scope"),
        ({"refresh_token": "credenda_refresh_" + "A" * 43}, "invalid_grant"),
        ({"grant_type": "password"}, "unsupported_grant_type"),
        ({"grant_type": "client_credentials"}, "unsupported_grant_type"),
    ],
)
def test_a_refresh_gives_no_more_than_the_person_did(site: Site, changed: dict[str, str], error: str) -> None:
    answer = connect(site)
    refused = answer["client"].refresh(answer["refresh_token"], **changed)
    assert (refused.status_code, refused.json()["error"]) == (400, error)
    assert refused.headers["Cache-Control"] == "no-store"


def test_a_connection_ends_ninety_days_after_its_last_refresh_and_after_a_year(site: Site, clock: ManualClock) -> None:
    answer = connect(site)
    client, refresh = answer["client"], answer["refresh_token"]
    for _ in range(4):
        clock.advance(timedelta(days=89))
        refresh = client.refresh(refresh).json()["refresh_token"]
    clock.advance(timedelta(days=9))
    assert client.refresh(refresh).json()["error"] == "invalid_grant"
    answer = connect(site)
    clock.advance(timedelta(days=90))
    assert client.refresh(answer["refresh_token"]).json()["error"] == "invalid_grant"


def test_an_address_that_guesses_codes_is_slowed_down(
    tmp_path: Path, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "HTTP_FAILED_TOKENS_RATE", 1e-6)  # however slow this machine is, no permit comes back
    with serving(tmp_path / "memory.db", clock, tokens=True) as site:
        client, person = Connector(site), Browser(site)
        codes = [client.redeem("credenda_code_" + "A" * 43).status_code for _ in range(limits.HTTP_FAILED_TOKENS + 1)]
        assert codes == [400] * limits.HTTP_FAILED_TOKENS + [429]
        assert person.post("/login", {"code": "x"}).status_code == 429


# Forms and sessions


def test_a_form_of_another_page_or_session_is_refused(site: Site, browser: Browser, client: Connector) -> None:
    form = read_form(browser.get(client.address()).text)
    allowed = {**form, "decision": "allow"}
    assert browser.post("/authorize", {**allowed, "csrf": ""}).status_code == 403
    assert browser.post("/authorize", {**allowed, "csrf": "ä"}).status_code == 403
    other = client.address(scope="memory:erase").partition("?")[2]
    assert browser.post("/authorize", {**allowed, "request": other}).status_code == 403
    stranger = Browser(site)
    assert stranger.post("/authorize", allowed).status_code == 403
    stranger.log_in("bob")
    assert stranger.post("/authorize", allowed).status_code == 403
    assert browser.post("/authorize", allowed).status_code == 303


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1:9999", "https://127.0.0.1:8765"])
def test_a_form_from_another_origin_is_refused(site: Site, browser: Browser, client: Connector, origin: str) -> None:
    allowed = {**read_form(browser.get(client.address()).text), "decision": "allow"}
    assert browser.post("/authorize", allowed, origin=origin).status_code == 403
    code = access.issue_link(site.parts.store.secrets, "eve", site.parts.clock.now_us())
    assert browser.post("/login", {"code": code}, origin=origin).status_code == 403
    assert browser.post("/logout", read_form(browser.get("/login").text), origin=origin).status_code == 403


def test_a_form_without_an_origin_needs_the_word_of_the_browser(site: Site) -> None:
    code = access.issue_link(site.parts.store.secrets, "ana", site.parts.clock.now_us())
    for headers in ({}, {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "none"}):
        assert site.send("POST", "/login", data={"code": code}, headers=headers).status_code == 403
    sent = site.client.post(
        "/login", data={"code": code}, headers={"Sec-Fetch-Site": "same-origin"}, follow_redirects=False
    )
    assert sent.status_code == 303


def test_a_session_that_someone_else_has_set_is_not_taken_over(site: Site) -> None:
    attacker, victim = Browser(site), Browser(site)
    planted = {"credenda": "credenda_session_" + "A" * 43}
    attacker.cookies, victim.cookies = dict(planted), dict(planted)
    victim.log_in("ana")
    assert victim.cookies != attacker.cookies
    assert "Login code" in attacker.get("/login").text
    attacker.log_in("eve")
    fixed = Browser(site)
    fixed.cookies = dict(attacker.cookies)
    fixed.log_in("ana")
    assert "logged in as <strong>ana" in fixed.get("/login").text
    assert "logged in as <strong>eve" in attacker.get("/login").text


def test_a_person_gives_access_to_no_memory_of_others(browser: Browser, client: Connector) -> None:
    answer = read_answer(browser.allow(client.address(), memory="bob"))
    assert answer["error"] == "access_denied"
    assert read_answer(browser.allow(client.address(), memory=""))["error"] == "access_denied"


def test_scopes_that_were_not_asked_for_are_not_given(site: Site, browser: Browser, client: Connector) -> None:
    added = {"scope:memory:erase": "memory:erase", "scope:memory:admin": "memory:admin"}
    code = read_answer(browser.allow(client.address(), **added))["code"]
    assert client.redeem(code).json()["scope"] == "memory:read memory:write"
    assert site.parts.store.tokens.list_tokens()[0].scopes == ("memory:read", "memory:write")


def test_the_login_leads_nowhere_else(site: Site) -> None:
    person = Browser(site)
    for following in ("https://evil.example", "//evil.example", "\r\nSet-Cookie: x=y"):
        code = access.issue_link(site.parts.store.secrets, "ana", site.parts.clock.now_us())
        answer = person.post("/login", {"code": code, "next": following})
        assert urlsplit(answer.headers["Location"])[:3] == ("", "", "/authorize")
        assert "x" not in answer.cookies


def test_a_name_with_markup_is_text(browser: Browser) -> None:
    page = browser.get('/login?code="><img src=x onerror=alert(1)>')
    assert "<img" not in page.text


def test_an_answer_keeps_the_query_of_its_address(site: Site, browser: Browser) -> None:
    client = Connector(site, "https://app.example.com/done?tenant=7")
    found = parse_qs(urlsplit(browser.allow(client.address()).headers["Location"]).query)
    assert found.keys() == {"tenant", "code", "state", "iss"}


def test_metadata_of_a_registration_come_back_as_understood() -> None:
    made = register_client(
        {"client_name": "A\u202eB\n C", "redirect_uris": ["https://a.example/x"], "logo_uri": "http://x"}
    )
    assert made["client_name"] == "A B C"
    assert made["redirect_uris"] == ["https://a.example/x"]
    assert "logo_uri" not in made
