"""One process that serves a database: its routes and the layers around them, a socket, and a graceful end."""

from __future__ import annotations

import asyncio
import json
import logging
import signal
import socket
import sys
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import cache
from threading import current_thread, main_thread
from typing import Any, Final

import uvicorn
from anyio import to_thread
from mcp.server.lowlevel import Server
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from credenda import __version__, limits
from credenda.errors import Forbidden, NotFound
from credenda.interfaces.a2a.endpoint import make_a2a_routes
from credenda.interfaces.authorization import Principal, get_principal, make_local_principal
from credenda.interfaces.json_schema import build_openapi
from credenda.interfaces.mcp.server import build_server
from credenda.interfaces.server import oauth
from credenda.interfaces.server.address import Address, check_address, listen
from credenda.interfaces.server.credentials import LastCalls, TokenCheck
from credenda.interfaces.server.guard import (
    PUBLIC,
    AddressCheck,
    Attempts,
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
from credenda.interfaces.server.problems import make_problem_response, make_read_route
from credenda.interfaces.server.resource import Resource
from credenda.interfaces.server.rest import make_routes
from credenda.interfaces.web.routes import Logins, Sessions, Web
from credenda.operations import OPERATIONS, Toolset
from credenda.runtime import Parts

# The application: routes, the MCP and A2A endpoints, pages for machines, and the layers around them.


Extend = Callable[[Server[Any]], None]
"""Adds handlers of a program's own to the MCP server, before the first request."""

_METRICS_MEDIA: Final = "text/plain; version=0.0.4; charset=utf-8"
_LIBRARIES: Final = ("mcp", "a2a", "uvicorn", "sse_starlette", "psycopg")
_LONG_SCOPES: Final = frozenset({"memory:admin", "memory:erase"})
_FILES: Final = frozenset({"upload", "download"})
_WAITING_SHARE: Final = 0.6
_BURST_SECONDS: Final = 2.0
"""So many seconds' worth of requests may come at once."""


def leave_as_is(_: Server[Any]) -> None:
    """Add nothing to an MCP server."""


def make_application(parts: Parts, plan: Plan, memories: Memories, *, port: int | None = None) -> ASGIApp:
    """Make the application of a plan, whose lifespan closes `memories`.

    `port` is where it listens, if that is not the port of the plan. Raises `Invalid` if a text for a model gives
    orders, so that such a server does not start.
    """
    address, tokens = plan.address, plan.address.needs_tokens
    access = _make_access(parts, memories.last_calls, address, address.port if port is None else port)
    web, metrics = Web(memories, access.sessions), Metrics()
    tools = build_server(memories.lend, toolset=plan.toolset, read_only=parts.read_only)
    plan.extend(tools)
    endpoint = McpEndpoint(tools)
    pages = _Pages(memories, metrics)
    routes = [
        *make_routes(memories),
        Route("/mcp", endpoint),
        *make_a2a_routes(
            memories,
            url=address.url,
            tokens=tokens,
            wait_seconds=min(limits.AGENT_WAIT_SECONDS, plan.call_seconds * _WAITING_SHARE),
        ),
        make_read_route("/livez", pages.show_life),
        make_read_route("/readyz", pages.show_readiness),
        make_read_route("/metrics", pages.show_metrics),
        make_read_route("/openapi.json", pages.show_openapi),
        *access.routes,
        *web.assets,
        *web.routes,
    ]
    open_paths = PUBLIC | {route.path for route in (*access.routes, *web.assets)}
    audit = memories.open_audit() if plan.has_audit and not parts.read_only else None
    inner = Router(routes, redirect_slashes=False, default=_refuse, lifespan=lambda _: _run(memories, endpoint))
    app: ASGIApp = CallTimeout(
        inner, memories.active_calls, call_seconds=plan.call_seconds, longer=_list_longer_calls(web)
    )
    # Make the bounds for each caller, and for all callers of a user together.
    rate = plan.rate if tokens else 0.0
    together = rate * limits.HTTP_TENANT_RATE
    by_caller = RateLimit(rate, max(1.0, rate * _BURST_SECONDS))
    rates = by_caller, RateLimit(together, max(1.0, together * _BURST_SECONDS))
    app = Bounds(app, rates, is_full=lambda: audit is not None and audit.is_full, open_paths=open_paths)

    async def identify(scope: Scope) -> Principal:
        """Find out who calls: on a page also by the session of a login."""
        return await (access.sessions.identify if web.owns(scope) else access.identify)(scope)

    app = CallerCheck(app, identify, open_paths=open_paths, resource=access.resource)
    app = AddressCheck(app, hosts=address.hosts, url=address.url, refuse_proxies=not tokens)
    app = RequestLog(
        web.show_problems(app), metrics, clock=memories.clock, audit=audit.add if audit is not None else None
    )
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


def _list_longer_calls(web: Web) -> dict[str, float]:
    """Return the time for each path whose calls may take longer: maintenance, erasure, and files."""
    return dict.fromkeys(web.slow_paths, limits.HTTP_MAINTENANCE_SECONDS) | {
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


async def _refuse(scope: Scope, _: Receive, __: Send) -> None:
    if scope["type"] == "http":
        raise NotFound("there is no such page", fix="check the address; /openapi.json lists those for programs")


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

    async def show_metrics(self, request: Request) -> Response:
        """Show counts for Prometheus to who may administer."""
        request.scope["state"]["note"].operation = "metrics"
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


# Connections with bounds: on their number, on the time of a request's head, and on readers that do not read.


_BODY: Final = b'{"title":"the server has too many connections","status":503,"code":"unavailable","retryable":true}'
_REFUSAL: Final = (
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/problem+json\r\nRetry-After: 1\r\n"
    b"Cache-Control: no-store\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s" % (len(_BODY), _BODY)
)


class BoundedConnection(H11Protocol):
    """A connection that is closed where its client is too slow; the base class waits for ever.

    A head has so many seconds from the first moment of a new connection, or from its first byte on a kept one. Where
    the client does not take what was written, the connection is cut, and with it what the server holds for it. A
    connection beyond the bound is answered with 503 and Retry-After when its request comes.
    """

    def __init__(self, *args: Any, **given: Any) -> None:  # noqa: ANN401 - those of the base class
        super().__init__(*args, **given)
        self._head_timer: asyncio.TimerHandle | None = None
        self._write_timer: asyncio.TimerHandle | None = None
        self._is_refused = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._is_refused = len(self.connections) > limits.HTTP_CONNECTIONS
        self._watch_head()

    def data_received(self, data: bytes) -> None:
        """Take bytes of a request."""
        if self._is_refused:
            self.transport.write(_REFUSAL)
            self.transport.close()
            return
        super().data_received(data)
        self._watch_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the timers."""
        for timer in (self._head_timer, self._write_timer):
            if timer is not None:
                timer.cancel()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Wait a bounded time for a client that does not read."""
        super().pause_writing()
        if self._write_timer is None:
            self._write_timer = self.loop.call_later(limits.HTTP_SEND_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """Go on: the client has read."""
        if self._write_timer is not None:
            self._write_timer.cancel()
            self._write_timer = None
        super().resume_writing()

    def timeout_keep_alive_handler(self) -> None:
        """Close an idle connection, and cut it where the last answer is never read."""
        super().timeout_keep_alive_handler()
        self._write_timer = self._write_timer or self.loop.call_later(limits.HTTP_SEND_SECONDS, self.transport.abort)

    def _watch_head(self) -> None:
        """Keep a timer for as long as the head of a request is awaited."""
        is_waiting = self.cycle is None or self.cycle.response_complete  # pyright: ignore[reportUnnecessaryComparison]
        if is_waiting and self._head_timer is None:
            self._head_timer = self.loop.call_later(limits.HTTP_HEAD_SECONDS, self.transport.abort)
        elif not is_waiting and self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None


_SWITCH_SECONDS: Final = 0.000_5
_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What to serve, and how."""

    address: Address
    toolset: Toolset = "default"
    workers: bool = True
    rate: float = limits.HTTP_REQUESTS_A_SECOND
    """Requests a second for a caller with a token; 0 bounds none."""
    call_seconds: float = limits.HTTP_CALL_SECONDS
    audit: bool | None = None
    """Whether each call is recorded; None records those of a server with tokens."""
    extend: Extend = leave_as_is

    @property
    def has_audit(self) -> bool:
        """Whether each call is recorded, if the database can be written."""
        return self.address.needs_tokens if self.audit is None else self.audit


def serve(parts: Parts, plan: Plan, *, ready: Callable[[str], None]) -> None:
    """Serve a database until a signal ends it; then answer the calls under way, and close everything.

    Takes over `parts`. `ready` is called with the server's URL once it answers. Raises `Invalid` for an address that
    would expose the memory, `Unavailable` for one in use.
    """
    try:
        check_address(plan.address)
        opened = listen(plan.address)
    except BaseException:
        parts.release()
        raise
    memories = Memories(parts, work=plan.workers)
    try:
        memories.start_probe()
        port = opened.getsockname()[1]
        app = make_application(parts, plan, memories, port=port)
        server = _make_server(app, plan, lambda: ready(plan.address.base_url(port)))
        with _switch_often():
            server.run([opened])
    finally:
        opened.close()
        memories.close()


@contextmanager
def _switch_often() -> Generator[None]:
    """Let threads take turns more often, so that the loop does not wait 5 ms for each thread that computes.

    With 50 clients on two shared cores the 99th percentile of stores fell from 3.4 to 0.8 times that of the library.
    """
    before = sys.getswitchinterval()
    sys.setswitchinterval(_SWITCH_SECONDS)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def _make_server(app: ASGIApp, plan: Plan, ready: Callable[[], None]) -> _Server:
    config = uvicorn.Config(
        app,
        http=BoundedConnection,
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        ws="none",
        timeout_graceful_shutdown=limits.HTTP_DRAIN_SECONDS,
        ssl_certfile=plan.address.tls_cert,
        ssl_keyfile=plan.address.tls_key,
    )
    return _Server(config, ready)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Access:
    """How callers are found out, and how they get tokens."""

    identify: Identify
    sessions: Sessions
    resource: Resource | None = None
    routes: tuple[Route, ...] = ()


def _make_access(parts: Parts, last_calls: LastCalls, address: Address, port: int) -> _Access:
    """Choose how callers are found out: by their tokens, or each is the owner of the memory."""
    if not address.needs_tokens:
        owner = make_local_principal(parts.user_id)

        async def identify_owner(_: Scope) -> Principal:
            return owner

        return _Access(identify=identify_owner, sessions=Sessions(identify_owner))
    resource, attempts = Resource(address.list_bases(port)), Attempts(trust_proxy=address.trust_proxy)
    routes = oauth.routes.make_resource_routes(resource, attempts, address.oidc_issuer)
    external = None
    if address.oidc_issuer:
        external = oauth.oidc.make_check(
            parts.store, parts.clock, resource, issuer=address.oidc_issuer, audiences=address.audiences
        )
        if address.oidc_client and not parts.read_only:
            routes += oauth.oidc.make_login_routes(
                parts.store, parts.clock, resource, attempts, issuer=address.oidc_issuer, client=address.oidc_client
            )
    elif not parts.read_only:
        routes += oauth.routes.make_authorization_routes(parts.store, parts.clock, resource, attempts)
    check = TokenCheck(parts.store, parts.clock, attempts, resource, last_calls=last_calls, external=external)
    sessions = Sessions(check.identify, Logins(parts.store, parts.clock, resource, address.oidc_issuer))
    if parts.read_only and external is None:  # nothing can be granted here
        return _Access(identify=check.identify, sessions=sessions)
    return _Access(identify=check.identify, sessions=sessions, resource=resource, routes=tuple(routes))


class _Server(uvicorn.Server):
    """A server that says when it answers, and whose process goes on after a signal has ended it."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and then say so."""
        await super().startup(sockets)
        if self.started:
            self._ready()

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """End at the first signal, and sooner at the second; the base class would raise the signal once more."""
        if current_thread() is not main_thread():
            yield
            return
        before = {number: signal.signal(number, self.handle_exit) for number in _SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
