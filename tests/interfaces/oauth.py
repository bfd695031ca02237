"""A person with a browser, and OAuth clients, before a server in this process."""

from __future__ import annotations

import re
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from hashlib import sha256
from html import unescape
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from httpx2 import Response

from credenda.services import access

from .served import BASE, Site

VERIFIER = "v" * 43
CALLBACK = "http://127.0.0.1:5555/callback"
_INPUT = re.compile(r'<input type="(\w+)" name="([^"]+)" value="([^"]*)"( checked)?')


def challenge_of(verifier: str) -> str:
    return urlsafe_b64encode(sha256(verifier.encode()).digest()).rstrip(b"=").decode()


class Browser:
    """A person's browser: follows no redirect by itself, keeps its cookies, and sends the origin of its pages."""

    def __init__(self, site: Site, base: str = BASE) -> None:
        self.site = site
        self.base = base
        self.cookies: dict[str, str] = {}

    def get(self, address: str, **headers: str) -> Response:
        return self._send("GET", address, headers)

    def post(self, address: str, fields: Mapping[str, str], *, origin: str | None = None, **headers: str) -> Response:
        given = {"Origin": self.base if origin is None else origin, **headers}
        return self._send("POST", address, given, data=dict(fields))

    def log_in(self, person: str = "ana") -> Response:
        secret = access.issue_link(self.site.parts.store.secrets, person, self.site.parts.clock.now_us())
        return self.post("/login", {"code": secret})

    def allow(self, address: str, **chosen: str) -> Response:
        """Open an authorization page and allow what it has ticked, with other choices where they are given."""
        page = self.get(address)
        assert page.status_code == 200, page.text
        return self.post("/authorize", {**read_form(page.text), "decision": "allow", **chosen})

    def _send(self, method: str, address: str, headers: Mapping[str, str], **given: Any) -> Response:  # noqa: ANN401 - what the client takes
        cookie = (
            {"Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items())} if self.cookies else {}
        )
        address = address if "://" in address else self.base + address
        self.site.client.cookies.clear()
        sent = {**cookie, **headers}
        answer = self.site.client.request(method, address, headers=sent, follow_redirects=False, **given)
        for name, value in answer.cookies.items():
            self.cookies[name] = value
        self.site.client.cookies.clear()
        return answer


def read_form(page: str) -> dict[str, str]:
    """Return what the form of a page would send as it stands."""
    found = {name: (kind, unescape(value), chosen) for kind, name, value, chosen in _INPUT.findall(page)}
    radios = {name: unescape(value) for kind, name, value, chosen in _INPUT.findall(page) if kind == "radio" and chosen}
    kept = {name: value for name, (kind, value, chosen) in found.items() if kind in {"hidden", "text"} or chosen}
    return kept | radios


class Connector:
    """A client that sends what it is told to send."""

    def __init__(self, site: Site, redirect: str = CALLBACK, *, name: str = "Example") -> None:
        self.site = site
        self.redirect = redirect
        metadata = {"client_name": name, "redirect_uris": [redirect]}
        self.id: str = site.send("POST", "/register", json=metadata).json()["client_id"]

    def address(self, **changed: str | None) -> str:
        """Return an authorization request, with fields changed, or left out where they are None."""
        fields: dict[str, str | None] = {
            "response_type": "code",
            "client_id": self.id,
            "redirect_uri": self.redirect,
            "code_challenge": challenge_of(VERIFIER),
            "code_challenge_method": "S256",
            "state": "xyz",
            "scope": "memory:read memory:write",
            "resource": BASE,
            **changed,
        }
        return "/authorize?" + urlencode({name: value for name, value in fields.items() if value is not None})

    def token(self, **fields: str) -> Response:
        return self.site.send("POST", "/token", data={"client_id": self.id, **fields})

    def redeem(self, code: str, **changed: str) -> Response:
        given = {"grant_type": "authorization_code", "code": code, "redirect_uri": self.redirect}
        return self.token(**{**given, "code_verifier": VERIFIER, **changed})

    def refresh(self, text: str, **changed: str) -> Response:
        return self.token(**{"grant_type": "refresh_token", "refresh_token": text, **changed})


def read_answer(response: Response) -> dict[str, str]:
    """Return what a redirect brings a client."""
    assert response.status_code == 303, response.text
    return {name: value for name, (value,) in parse_qs(urlsplit(response.headers["Location"]).query).items()}


def connect(site: Site, person: str = "ana", scopes: str = "memory:read memory:write", **asked: str) -> dict[str, Any]:
    """Connect a client to the memory of a person, and return the answer with its tokens."""
    browser, client = Browser(site), Connector(site)
    browser.log_in(person)
    ticked = {f"scope:{scope}": scope for scope in scopes.split()}
    answer = read_answer(browser.allow(client.address(scope=scopes, **asked), **ticked))
    issued = client.redeem(answer["code"])
    assert issued.status_code == 200, issued.text
    return {**issued.json(), "client": client}
