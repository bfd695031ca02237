"""Pages of other origins: none of them changes anything, whatever the route, the method and the kind of body."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from httpx2 import Response
from starlette.routing import BaseRoute, Route, Router

from credenda.interfaces.server import process
from credenda.interfaces.server.address import Address
from credenda.interfaces.server.oauth.clients import Fetcher
from credenda.testing import ManualClock

from .pages import memory_of, tell
from .peer import METHODS
from .served import BASE, Site, serving
from .test_oidc import ISSUER, Issuer

START = "2026-03-01T09:00:00Z"
CHANGING = ("POST", "PUT", "PATCH", "DELETE")
FOREIGN: tuple[dict[str, str], ...] = (
    {"Origin": "http://127.0.0.1:3000"},
    {"Origin": "http://localhost:8765", "Sec-Fetch-Site": "cross-site"},
    {"Origin": "null"},
    {"Sec-Fetch-Site": "same-site"},
    {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"},
)
CHAT = '[{"role": "user", "content": "I live in Graz."}]'
FILE = f'--x\r\nContent-Disposition: form-data; name="file"; filename="chat.json"\r\n\r\n{CHAT}\r\n--x--\r\n'
UNASKED = (
    ("multipart/form-data; boundary=x", FILE),
    ("application/x-www-form-urlencoded", "content=I+live+in+Graz."),
    ("text/plain", CHAT),
    ("", CHAT),
    ("", ""),
)
"""Bodies that a browser sends without a question before them."""


class Routes:
    """The routes of the server that is made: what its router is given, and those of agents below `/a2a`."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.found: list[BaseRoute] = []
        patch.setattr(process, "Router", self._make)

    def _make(self, routes: list[BaseRoute], **given: Any) -> Router:  # noqa: ANN401 - as it takes
        self.found = list(routes)
        return Router(routes, **given)

    def list_paths(self) -> list[str]:
        """Return every path, with a word in place of each parameter."""
        templates = [route.path for route in self.found if isinstance(route, Route)]
        assert len(templates) == len(self.found), "a route of another kind, which this list would miss"
        agents = [f"/a2a{path}" for _, _, _, path in METHODS.values()]
        return sorted({re.sub(r"\{[^}]*\}", "m1-000000", one) for one in (*templates, *agents)})


@pytest.fixture
def routes(monkeypatch: pytest.MonkeyPatch) -> Routes:
    issuer = Issuer()
    monkeypatch.setattr(Fetcher, "fetch_json", issuer.fetch_json)
    return Routes(monkeypatch)


def send(site: Site, address: str, body: tuple[str, str], told: Mapping[str, str]) -> Response:
    """Send a body to a method and path, with what a browser tells about the page."""
    method, path = address.split(" ")
    kind = {"Content-Type": body[0]} if body[0] else {}
    return site.send(method, path, content=body[1], headers={**kind, **told})


def export(site: Site, path: Path) -> bytes:
    """Return every row of the memory."""
    with memory_of(site) as memory:
        memory.data.export(path)
    return path.read_bytes()


@pytest.mark.parametrize(
    ("address", "known"),
    [
        (Address(), {"/v1/imports", "/v1/consolidations", "/v1/me", "/mcp", "/a2a", "/data/import", "/memory-choice"}),
        (Address(tokens=True), {"/v1/imports", "/authorize", "/token", "/register", "/revoke", "/login", "/logout"}),
        (Address(oidc_issuer=ISSUER, oidc_client="pages"), {"/v1/imports", "/login/callback", "/logout"}),
    ],
)
def test_no_page_of_another_origin_changes_anything_on_any_route(
    tmp_path: Path, routes: Routes, address: Address, known: set[str]
) -> None:
    with serving(tmp_path / "memory.db", ManualClock(START), address=address) as site:
        tell(site, "I live in Linz.")
        own = {"Authorization": f"Bearer {site.token('ana')}"} if address.tokens else {}
        paths = routes.list_paths()
        assert known <= set(paths)
        before = export(site, tmp_path / "before")
        for number, path in enumerate(paths):
            for place, (method, is_first) in enumerate((m, one) for m in CHANGING for one in (True, False)):
                turn = number + place  # each route meets each method; over the routes these meet every page and body
                foreign = FOREIGN[0 if is_first else turn % len(FOREIGN)]
                refused = send(site, f"{method} {path}", UNASKED[turn // 2 % len(UNASKED)], {**own, **foreign})
                case = f"{method} {path} {foreign}"
                assert (refused.status_code, refused.headers["content-type"]) == (403, "application/problem+json"), case
                assert refused.json()["title"] in {"this origin may not call", "this request is refused"}, case
        assert export(site, tmp_path / "after") == before


@pytest.mark.parametrize("foreign", FOREIGN)
@pytest.mark.parametrize("body", UNASKED)
def test_what_a_browser_sends_unasked_is_stored_from_our_own_origin_alone(
    tmp_path: Path, foreign: dict[str, str], body: tuple[str, str]
) -> None:
    with serving(tmp_path / "memory.db", ManualClock(START)) as site:
        for path in ("/v1/imports", "/v1/memories", "/v1/consolidations"):
            assert send(site, f"POST {path}", body, foreign).status_code == 403
        assert site.send("GET", "/v1/stats").json()["events"] == 0
        own: tuple[dict[str, str], ...] = (
            {"Origin": BASE, "Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors"},
            {"Sec-Fetch-Site": "none"},
            {},
        )
        for headers in own:
            assert send(site, "POST /v1/imports", UNASKED[0], headers).status_code == 200
        assert site.send("GET", "/v1/stats").json()["events"] == 1
        assert site.send("POST", "/v1/consolidations").status_code == 200


def test_a_page_of_another_origin_reads_nothing_but_may_link_here(tmp_path: Path) -> None:
    with serving(tmp_path / "memory.db", ManualClock(START)) as site:
        for path in ("/", "/memories", "/search?query=Graz", "/v1/stats", "/openapi.json"):
            link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
            assert site.send("GET", path, headers=link).status_code == 200
            for mode in ("no-cors", "cors"):
                told = site.send("GET", path, headers={**link, "Sec-Fetch-Mode": mode})
                assert told.status_code == 403, (path, mode)


def test_a_refused_page_of_a_person_is_a_page(tmp_path: Path) -> None:
    with serving(tmp_path / "memory.db", ManualClock(START)) as site:
        told = site.send("POST", "/data/import", headers={"Origin": "http://127.0.0.1:3000", "Accept": "text/html"})
        assert (told.status_code, told.headers["content-type"].partition(";")[0]) == (403, "text/html")
        assert "This origin may not call" in told.text
