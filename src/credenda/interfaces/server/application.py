"""The application: routes, the MCP and A2A endpoints, pages for machines, and the layers around them."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

from anyio import to_thread
from mcp.server.lowlevel import Server
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from credenda import __version__, limits
from credenda.errors import Forbidden, NotFound
from credenda.interfaces.a2a.endpoint import make_a2a_routes
from credenda.interfaces.authorization import Principal, get_principal
from credenda.interfaces.json_schema import build_openapi
from credenda.interfaces.mcp.server import build_server
from credenda.interfaces.server.address import LOOPBACK_NAMES
from credenda.interfaces.server.guard import (
    PUBLIC,
    AddressCheck,
    Bounds,
    CallerCheck,
    CallTimeout,
    Identify,
    RateLimit,
    RequestLog,
)
from credenda.interfaces.server.mcp_endpoint import McpEndpoint
from credenda.interfaces.server.memories import Memories
from credenda.interfaces.server.metrics import Metrics
from credenda.interfaces.server.problems import ReadPage, make_problem_response, send_problem
from credenda.interfaces.server.resource import Resource
from credenda.interfaces.server.rest import make_routes
from credenda.interfaces.web.routes import Web
from credenda.operations import OPERATIONS, Toolset

Extend = Callable[[Server[Any]], None]
"""Adds handlers of a program's own to the MCP server, before the first request."""

_METRICS_MEDIA: Final = "text/plain; version=0.0.4; charset=utf-8"
_LIBRARIES: Final = ("mcp", "a2a", "uvicorn", "sse_starlette")
_LONG_SCOPES: Final = frozenset({"memory:admin", "memory:erase"})
_FILES: Final = frozenset({"upload", "download"})
_WAITING_SHARE: Final = 0.6
_BURST_SECONDS: Final = 2.0
"""So many seconds' worth of requests may come at once."""


def leave_as_is(_: Server[Any]) -> None:
    """Add nothing to an MCP server."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What the application is to serve, and to whom."""

    identify: Identify
    hosts: Iterable[str] = LOOPBACK_NAMES
    refuse_proxies: bool = True
    toolset: Toolset = "default"
    read_only: bool = False
    rate: float = 0.0
    """Requests a second and caller; 0 bounds none."""
    call_seconds: float = limits.HTTP_CALL_SECONDS
    audit: bool = False
    """Whether every call is recorded."""
    url: str = ""
    """The address that clients use; without one, each request tells it."""
    tokens: bool = False
    """Whether callers need a token."""
    metrics: Metrics = field(default_factory=Metrics)
    extend: Extend = leave_as_is
    resource: Resource | None = None
    """Where a client without a token finds out how to get one."""
    open_routes: tuple[Route, ...] = ()
    """Pages that need no token: those with which a token is got."""
    web: Web | None = None
    """The pages for persons."""


def build_application(memories: Memories, options: Options) -> ASGIApp:
    """Make the application; its lifespan closes `memories`.

    Raises `Invalid` if a text for a model gives orders, so that such a server does not start.
    """
    tools = build_server(memories.lend, toolset=options.toolset, read_only=options.read_only)
    options.extend(tools)
    endpoint = McpEndpoint(tools)
    pages = _Pages(memories, options.metrics)
    routes = [
        *make_routes(memories),
        Route("/mcp", endpoint),
        *make_a2a_routes(
            memories,
            url=options.url,
            tokens=options.tokens,
            wait_seconds=min(limits.AGENT_WAIT_SECONDS, options.call_seconds * _WAITING_SHARE),
        ),
        Route("/livez", ReadPage(pages.show_life)),
        Route("/readyz", ReadPage(pages.show_readiness)),
        Route("/metrics", ReadPage(pages.show_metrics)),
        Route("/openapi.json", ReadPage(pages.show_openapi)),
        *options.open_routes,
    ]
    free = options.open_routes
    if options.web is not None:
        free = (*free, *options.web.assets)
        routes += [*options.web.assets, *options.web.routes]
    open_paths = PUBLIC | {route.path for route in free}
    audit = memories.open_audit() if options.audit else None
    inner = Starlette(routes=routes, lifespan=lambda _: _run(memories, endpoint))
    inner.router.redirect_slashes = False
    inner.router.default = _answer_unknown
    app: ASGIApp = CallTimeout(
        inner, memories.active_calls, call_seconds=options.call_seconds, longer=_list_longer_calls(options.web)
    )
    # Make the bounds for each caller, and for all callers of a user together.
    rate = options.rate
    together = rate * limits.HTTP_TENANT_RATE
    by_caller = RateLimit(rate, max(1.0, rate * _BURST_SECONDS))
    rates = by_caller, RateLimit(together, max(1.0, together * _BURST_SECONDS))
    app = Bounds(app, rates, is_full=lambda: audit is not None and audit.is_full, open_paths=open_paths)
    identify = _choose_identify(options.identify, options.web)
    app = CallerCheck(app, identify, open_paths=open_paths, resource=options.resource)
    app = AddressCheck(app, hosts=options.hosts, url=options.url, refuse_proxies=options.refuse_proxies)
    app = app if options.web is None else options.web.show_problems(app)
    app = RequestLog(app, options.metrics, clock=memories.clock, audit=audit.add if audit else None)
    return _serve_requests(app, inner)


def _serve_requests(layers: ASGIApp, inner: ASGIApp) -> ASGIApp:
    """Make an application whose requests pass through the layers; the start and end of the server go to `inner` alone.

    A path with a slash at its end is the path without it: clients append one to the addresses that they are given, and
    a redirection would lose the body of a POST.
    """

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await inner(scope, receive, send)
            return
        if len(scope["path"]) > 1 and scope["path"].endswith("/"):
            scope["path"] = scope["path"].removesuffix("/")
            scope["raw_path"] = scope.get("raw_path", b"").removesuffix(b"/")
        await layers(scope, receive, send)

    return serve


def _choose_identify(identify: Identify, web: Web | None) -> Identify:
    """Return how callers are found out: on a page also by the session of a login."""
    if web is None:
        return identify
    by_session = web.sessions.identify

    async def choose(scope: Scope) -> Principal:
        return await (by_session if web.owns(scope) else identify)(scope)

    return choose


def _list_longer_calls(web: Web | None) -> dict[str, float]:
    """Return the time for each path whose calls may take longer: maintenance, erasure, and files."""
    pages = [] if web is None else web.slow_paths
    return dict.fromkeys(pages, limits.HTTP_MAINTENANCE_SECONDS) | {
        route.path: limits.HTTP_MAINTENANCE_SECONDS
        for operation in OPERATIONS.values()
        for route in operation.rest
        if operation.scope in _LONG_SCOPES or any(param.kind_at("rest") in _FILES for param in operation.params)
    }


@asynccontextmanager
async def _run(memories: Memories, endpoint: McpEndpoint) -> AsyncGenerator[None]:
    """Run from the first request to the last, and close the memories after it."""
    for name in _LIBRARIES:  # their logs may quote messages
        logging.getLogger(name).addHandler(logging.NullHandler())
        logging.getLogger(name).propagate = False
    to_thread.current_default_thread_limiter().total_tokens = limits.HTTP_CALLS
    try:
        async with endpoint.run():
            yield
    finally:
        await to_thread.run_sync(memories.close)


async def _answer_unknown(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "http":
        await send_problem(NotFound("there is no such page", fix="see /openapi.json"), scope, receive, send)


@cache
def _write_openapi() -> str:
    return json.dumps(build_openapi(version=__version__), ensure_ascii=False)


class _Pages:
    """The pages for machines that watch or describe the server."""

    def __init__(self, memories: Memories, metrics: Metrics) -> None:
        self._memories = memories
        self._metrics = metrics

    async def show_life(self, _: Request) -> Response:
        """Say that the process answers; touches no database."""
        return JSONResponse({"status": "ok"})

    async def show_readiness(self, _: Request) -> Response:
        """Say whether the database can be read and the worker runs."""
        reason = await to_thread.run_sync(self._memories.check)
        return JSONResponse({"status": "unavailable" if reason else "ok"}, 503 if reason else 200)

    async def show_openapi(self, _: Request) -> Response:
        """Describe the HTTP interface."""
        return Response(await to_thread.run_sync(_write_openapi), media_type="application/json")

    async def show_metrics(self, _: Request) -> Response:
        """Show counts for Prometheus to who may administer."""
        if "memory:admin" not in get_principal().scopes:
            why = "it lacks the scope memory:admin"
            return make_problem_response(Forbidden("the token does not permit metrics", why=why, scope="memory:admin"))
        queue = to_thread.current_default_thread_limiter().statistics()
        gauges = await to_thread.run_sync(self._memories.list_gauges)
        gauges |= {
            "credenda_calls_running": ("Calls that worker threads carry out.", queue.borrowed_tokens),
            "credenda_calls_waiting": ("Calls that wait for a worker thread.", queue.tasks_waiting),
        }
        return PlainTextResponse(self._metrics.write(gauges), media_type=_METRICS_MEDIA)
