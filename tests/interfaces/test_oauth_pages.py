"""What a person sees and a client gets: login, consent, tokens, refresh and revocation."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from credenda import limits
from credenda.interfaces.server.address import Address
from credenda.services import access
from credenda.testing import ManualClock

from .oauth import Browser, Connector, connect, read_answer, read_form
from .served import BASE, serving
from .terminal import Terminal

# The person


def test_a_link_of_the_command_line_logs_in_to_a_running_server(tmp_path: Path, clock: ManualClock) -> None:
    with serving(tmp_path / "memory.db", clock, tokens=True) as site:
        terminal = Terminal(tmp_path)
        link: str = terminal.json("login-link", "--url", BASE)["url"]
        code = parse_qs(urlsplit(link).query)["code"][0]
        browser = Browser(site)
        form = read_form(browser.get(link).text)  # opening the link, as a preview does, uses nothing up
        assert form["code"] == code
        assert browser.post("/login", form).status_code == 303
        assert "logged in as <strong>ana" in browser.get("/login").text


def test_a_login_code_is_used_up_and_expires(tmp_path: Path, clock: ManualClock) -> None:
    with serving(tmp_path / "memory.db", clock, tokens=True) as site:
        secrets = site.parts.store.secrets
        code = access.issue_link(secrets, "ana", clock.now_us())
        assert Browser(site).post("/login", {"code": code}).status_code == 303
        again = Browser(site)
        assert again.post("/login", {"code": code}).status_code == 401
        assert again.cookies == {}
        late = access.issue_link(secrets, "ana", clock.now_us())
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
        form["code"] = access.issue_link(site.parts.store.secrets, "ana", clock.now_us())
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
    assert not [one for one in secrets if one[-24:].encode() in files]


def test_consent_and_tokens_are_recorded_with_the_scopes_that_were_given(tmp_path: Path, clock: ManualClock) -> None:
    with serving(tmp_path / "memory.db", clock, tokens=True) as site:
        site.token("ana")  # her name is kept with records that are written from now on
        connect(site, scopes="memory:read memory:erase")
        Connector(site).redeem("credenda_code_" + "A" * 43)
    lines = [json.loads(line) for line in Terminal(tmp_path).text("audit", "export").splitlines()]
    found = [
        (one["user"], one["record"]["operation"], one["record"]["scope"], one["record"]["status"]) for one in lines
    ]
    given = "memory:read memory:erase"
    assert [one for one in found if one[1] in {"authorize", "token"}] == [
        ("ana", "authorize", "", 200),
        ("ana", "authorize", given, 303),
        ("ana", "token", given, 200),
        (None, "token", "", 400),
    ]
    assert lines[-3]["record"]["credential"].startswith("oauth:")


def test_a_server_that_may_not_write_offers_no_oauth(tmp_path: Path, clock: ManualClock) -> None:
    with serving(tmp_path / "memory.db", clock, tokens=True) as site:
        token = site.token("ana")
    with serving(tmp_path / "memory.db", clock, tokens=True, read_only=True) as site:
        assert "resource_metadata" not in site.send("POST", "/mcp").headers["WWW-Authenticate"]
        assert site.send("GET", "/.well-known/oauth-protected-resource").status_code == 404
        assert site.send("GET", "/v1/stats", token).status_code == 200


def test_an_address_that_sends_too_much_without_a_token_waits(
    tmp_path: Path, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "OAUTH_REQUESTS", 3)
    monkeypatch.setattr(limits, "OAUTH_REQUESTS_RATE", 1e-6)  # however slow this machine is, no permit comes back
    with serving(tmp_path / "memory.db", clock, tokens=True) as site:
        body = {"redirect_uris": ["https://app.example.com/"]}
        codes = [site.send("POST", "/register", json=body).status_code for _ in range(4)]
        assert codes == [201, 201, 201, 429]
        assert site.send("GET", "/v1/stats", site.token("ana")).status_code == 200
