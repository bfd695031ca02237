"""A slash at the end of a path: the same answer as without, at every door, with the same rights, records and bounds."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import httpx2
import pytest

from credenda import Credenda, limits
from credenda.interfaces.authorization import SCOPES
from credenda.services.access import issue_token

from .peer import CARD
from .running import running
from .served import MCP_HEADERS
from .test_server_origins import Routes

ALL = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
VERSION = {"A2A-Version": "1.0"}
METADATA = ("protected-resource", "protected-resource/mcp", "authorization-server")
BOUND = ("x-request-id", "date", "content-length")
"""What differs between two equal answers."""


@pytest.fixture
def routes(monkeypatch: pytest.MonkeyPatch) -> Routes:
    return Routes(monkeypatch)


def make_token(db: Path, *scopes: str) -> str:
    with Credenda.open(db, user="ana", workers=False) as memory:
        parts = memory._parts  # noqa: SLF001 - tokens are issued by the command line alone
        return issue_token(parts, "of " + " ".join(scopes), scopes=scopes, allowed=SCOPES, expires="never").token


def compare(client: httpx2.Client, method: str, path: str, **given: Any) -> httpx2.Response:  # noqa: ANN401 - of `request`
    """Send a request without and with the slash; both have the same answer, the second of which is returned."""
    plain, slashed = (client.request(method, one, **given) for one in (path, f"{path}/"))
    heads = [{name: value for name, value in one.headers.items() if name not in BOUND} for one in (plain, slashed)]
    assert (slashed.status_code, heads[1]) == (plain.status_code, heads[0]), f"{method} {path}"
    if "json" in plain.headers.get("content-type", ""):  # pages have keys, and metrics counts
        first, second = (re.sub(r"\d+", "0", one.text) for one in (plain, slashed))  # some answers tell the time
        assert second == first, f"{method} {path}"
    return slashed


@pytest.mark.parametrize("tokens", [False, True])
@pytest.mark.timeout(120)  # 2,000 requests to a real socket
def test_every_path_and_method_answers_alike_with_a_slash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, routes: Routes, *, tokens: bool
) -> None:
    found: set[int] = set()
    with (
        running(tmp_path / "memory.db", monkeypatch, tokens=tokens) as server,
        httpx2.Client(base_url=server.url, headers={"Content-Type": "application/json"}) as client,
    ):
        for path in routes.list_paths():
            for method in ALL:
                body = b"" if method in {"GET", "HEAD", "OPTIONS"} else b"[]"  # refused where it is read
                if path != "/":
                    found.add(compare(client, method, path, content=body).status_code)
        assert client.get("/mcp//").status_code == (401 if tokens else 404)
    assert {200, 400, 405} <= found
    assert (401 in found) == tokens
    assert not found & {301, 302, 307, 308}


def test_a_body_arrives_at_every_door(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    db = tmp_path / "memory.db"
    with running(db, monkeypatch) as server, httpx2.Client(base_url=server.url) as client:
        told = client.post("/v1/memories/", json={"content": "I live in Linz."}, headers={"Idempotency-Key": "k1"})
        assert told.status_code == 202
        again = client.post("/v1/memories", json={"content": "I live in Linz."}, headers={"Idempotency-Key": "k1"})
        assert (again.json(), again.headers["Idempotent-Replayed"]) == (told.json(), "true")
        sent = {"file": ("chat.json", '[{"role": "user", "content": "I like tea."}]')}
        assert client.post("/v1/imports/", files=sent).json()["turns"] == 1
        assert client.get("/v1/stats/").json()["events"] == 2

        asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        assert compare(client, "POST", "/mcp", json=asked, headers=MCP_HEADERS).json()["result"]["tools"]

        task = {"jsonrpc": "2.0", "id": 1, "method": "GetTask", "params": {"id": "none"}}
        assert compare(client, "POST", "/a2a", json=task, headers=VERSION).json()["error"]["code"] == -32001
        message = {"messageId": "1", "role": "ROLE_USER", "parts": [{"text": "I drink tea."}]}
        call = {"message": message, "configuration": {"returnImmediately": True}}
        handed = client.post("/a2a/message:send/", json=call, headers=VERSION)
        assert handed.status_code == 200
        name = handed.json()["task"]["id"]
        assert client.get(f"/a2a/tasks/{name}/", headers=VERSION).json()["id"] == name
        assert compare(client, "GET", CARD).json()["name"] == "Credenda"


def test_rights_records_and_bounds_are_those_of_the_path_without_a_slash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    db = tmp_path / "memory.db"
    with running(db, monkeypatch, tokens=True) as server, httpx2.Client(base_url=server.url) as client:
        reader = {"Authorization": f"Bearer {make_token(db, 'memory:read')}"}
        owner = {"Authorization": f"Bearer {make_token(db, *SCOPES)}"}
        assert compare(client, "GET", "/v1/memories").status_code == 401
        assert compare(client, "POST", "/v1/memories", json={"content": "x"}, headers=reader).status_code == 403
        assert compare(client, "POST", "/mcp").status_code == 401
        assert "/.well-known/oauth-protected-resource/mcp" in client.post("/mcp/").headers["www-authenticate"]
        for path in (CARD, "/livez", *(f"/.well-known/oauth-{one}" for one in METADATA)):
            assert compare(client, "GET", path).status_code == 200, path
        assert client.post("/register/", json={"redirect_uris": ["http://127.0.0.1:9/back"]}).status_code == 201
        assert client.post("/v1/stats/", headers=owner).status_code == 405
        long = b" " * (limits.HTTP_BODY_BYTES + 1)
        assert client.post("/v1/search/", content=long, headers=owner).status_code == 413
        compare(client, "GET", "/v1/core", headers=owner)
        compare(client, "GET", CARD)
    with Credenda.open(db, user="ana", workers=False) as memory:
        records = [one.fields for one in memory.data.audit(limit=50).items]
    found = [(one["door"], one["operation"], one["status"]) for one in records if one["operation"] == "core"]
    assert found == [("rest", "core", 200)] * 2
