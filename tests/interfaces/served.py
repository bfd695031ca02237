"""A server in this process: the whole application with its layers, and callers with tokens."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any, Final

from httpx2 import Response
from starlette.testclient import TestClient

from credenda import Credenda
from credenda.bootstrap import build_parts
from credenda.clock import Clock
from credenda.interfaces.authorization import SCOPES
from credenda.interfaces.json_schema import FILE_FIELD
from credenda.interfaces.server.address import Address
from credenda.interfaces.server.memories import Memories
from credenda.interfaces.server.process import Extend, Plan, leave_as_is, make_application
from credenda.operation import Operation, Rest
from credenda.operations import Toolset
from credenda.runtime import Parts
from credenda.services.access import issue_token
from tests.waiting import PATIENCE_SECONDS

BASE = "http://127.0.0.1:8765"
MCP_HEADERS = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}


_NUMBERS: Final = count(1)


class Site:
    """A server and its address, for requests as one caller or another."""

    def __init__(self, client: TestClient, parts: Parts) -> None:
        self.client = client
        self.parts = parts

    def token(
        self, user: str, scopes: Iterable[str] = SCOPES, *, expires: str = "never", name: str = "", member: str = ""
    ) -> str:
        """Issue a token for the memory of a user, to a member of it; without a name it gets one that no other has."""
        name = name or f"test {next(_NUMBERS)}"
        with closing_parts(self, user) as parts:
            return issue_token(parts, name, scopes=list(scopes), allowed=SCOPES, expires=expires, member=member).token

    def send(self, method: str, path: str, token: str = "", **given: Any) -> Response:  # noqa: ANN401 - what the client takes
        headers = {**({"Authorization": f"Bearer {token}"} if token else {}), **given.pop("headers", {})}
        return self.client.request(method, path, headers=headers, **given)

    def call(self, route: Rest, operation: Operation, given: Mapping[str, Any], token: str = "") -> Response:
        """Call an operation on a route, with each input in its place."""
        inputs = dict(given)
        path = route.path.format(**{name: inputs.pop(name) for name in route.in_path})
        params = {param.name: param.kind_at("rest") for param in operation.params_at("rest")}
        inputs = {name: value for name, value in inputs.items() if name in params and name not in route.without}
        uploads = {name for name, kind in params.items() if kind == "upload" and name in inputs}
        inputs = {name: value for name, value in inputs.items() if params[name] != "download"}
        if route.method == "GET":
            return self.send("GET", path, token, params=inputs)
        if "upload" in params.values():
            sent = [Path(inputs.pop(name)) for name in uploads]
            form: list[Any] = [(name, (None, str(value))) for name, value in inputs.items()]
            form += [(FILE_FIELD, (one.name, one.read_bytes())) for one in sent]
            return self.send(route.method, path, token, files=form)
        return self.send(route.method, path, token, json=inputs)

    def tool(self, name: str, arguments: Mapping[str, Any], token: str = "") -> Response:
        """Call a tool over MCP."""
        params = {"name": name, "arguments": arguments}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        return self.send("POST", "/mcp", token, content=json.dumps(body), headers=MCP_HEADERS)

    def settle(self, user: str = "ana") -> None:
        with Credenda(self.parts.for_user(user), workers=False) as memory:
            memory.settle()


@contextmanager
def closing_parts(site: Site, user: str) -> Generator[Parts]:
    """Open the memory of a user beside the server."""
    parts = site.parts.for_user(user)
    try:
        yield parts
    finally:
        parts.release()


@contextmanager
def serving(
    db: Path,
    clock: Clock,
    *,
    tokens: bool = False,
    toolset: Toolset = "full",
    address: Address | None = None,
    settings: Mapping[str, object] | None = None,
    rate: float = 0.0,
    call_seconds: float = PATIENCE_SECONDS,
    work: bool = False,
    extend: Extend = leave_as_is,
    audit: bool | None = None,
    read_only: bool = False,
) -> Generator[Site]:
    """Serve a database to its owner ana, or with `tokens` to who has one."""
    parts = build_parts(db, user="ana", clock=clock, settings=settings, read_only=read_only)
    reached = address or Address(tokens=tokens)
    plan = Plan(address=reached, toolset=toolset, rate=rate, call_seconds=call_seconds, audit=audit, extend=extend)
    memories = Memories(parts, work=work)
    with TestClient(make_application(parts, plan, memories), base_url=BASE) as client:
        yield Site(client, parts)
