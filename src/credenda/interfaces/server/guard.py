"""The layers around every route, from the outside in: the log, the addresses, the caller, the bounds, and the time.

Each is an ASGI application around the next. The identity found inside reaches the log through the state of the request,
because a context variable that an inner layer sets is not visible outside of it.
"""

from __future__ import annotations

import json
import logging
import math
import re
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from threading import Lock
from typing import Any, Final, cast
from urllib.parse import urlsplit

import anyio
from anyio import to_thread
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from credenda import limits
from credenda.clock import Clock, seconds
from credenda.current_call import ModelUse, limit_duration, measure_model_use
from credenda.errors import Corrupt, CredendaError, Unavailable
from credenda.ids import draw_request_id
from credenda.interfaces.authorization import CallNote, Principal, current_note, use_principal
from credenda.interfaces.server.metrics import Metrics
from credenda.interfaces.server.problems import READING, Problem, make_problem, send_problem
from credenda.interfaces.server.resource import Resource
from credenda.model.server import AuditDraft
from credenda.runtime import ActiveCalls
from credenda.telemetry import record_request

# Bounds on how often a caller may call: a bucket of permits for each, which fills again at a steady rate.


_CALLERS: Final = 10_000
"""Buckets that are kept; the least recently used is dropped, which gives its caller a full one."""


@dataclass(slots=True)
class _Bucket:
    permits: float
    at: float


class RateLimit:
    """At most `rate` calls a second for each caller on average, and at most `burst` at once; a rate of 0 bounds none.

    All methods may be called from any thread. `now` reads a monotonic clock in seconds.
    """

    def __init__(self, rate: float, burst: float, *, now: Callable[[], float] = seconds) -> None:
        self._rate = rate
        self._burst = burst
        self._now = now
        self._lock = Lock()
        self._buckets: OrderedDict[str, _Bucket] = OrderedDict()

    def take(self, caller: str) -> float:
        """Take a permit: return 0, or the seconds after which there will be one."""
        if self._rate <= 0:
            return 0.0
        with self._lock:
            bucket = self._buckets.pop(caller, None) or _Bucket(self._burst, self._now())
            bucket.permits, bucket.at = self._count(bucket), self._now()
            self._buckets[caller] = bucket
            while len(self._buckets) > _CALLERS:
                self._buckets.popitem(last=False)
            if bucket.permits >= 1:
                bucket.permits -= 1
                return 0.0
            return (1 - bucket.permits) / self._rate

    def wait_seconds(self, caller: str) -> float:
        """Return the seconds after which a caller has a permit, 0 for one who has; takes none."""
        if self._rate <= 0:
            return 0.0
        with self._lock:
            bucket = self._buckets.get(caller)
            permits = self._burst if bucket is None else self._count(bucket)
            return max(0.0, (1 - permits) / self._rate)

    def _count(self, bucket: _Bucket) -> float:
        return min(self._burst, bucket.permits + (self._now() - bucket.at) * self._rate)


# Slow down addresses that send wrong secrets, or many requests without a token.


class Attempts:
    """Counts the wrong secrets that each address has sent, and its requests to pages that need no token."""

    def __init__(self, *, trust_proxy: bool) -> None:
        """Begin without any; `trust_proxy` takes the address of a caller from what the proxy says."""
        self._trust_proxy = trust_proxy
        self._failures = RateLimit(limits.HTTP_FAILED_TOKENS_RATE, limits.HTTP_FAILED_TOKENS)
        self._requests = RateLimit(limits.OAUTH_REQUESTS_RATE, limits.OAUTH_REQUESTS)

    def find_address(self, scope: Scope) -> str:
        """Return the address of the caller; behind a proxy, the one that the proxy itself has added."""
        if self._trust_proxy and (forwarded := Headers(scope=scope).get("x-forwarded-for")):
            return forwarded.rpartition(",")[2].strip()[: limits.NAME_CHARACTERS]
        client = cast("tuple[str, int] | None", scope.get("client"))
        return client[0] if client else ""

    def check(self, address: str) -> None:
        """Raise `Problem` (429) for an address that has sent too many."""
        _check_wait(self._failures.wait_seconds(address), "too many wrong tokens")

    def take_request(self, scope: Scope) -> None:
        """Count a request without a token; raise `Problem` (429) for an address that sends too many."""
        _check_wait(self._requests.take(self.find_address(scope)), "there are too many requests")

    def count(self, address: str) -> None:
        """Count one more."""
        self._failures.take(address)


def _check_wait(wait_seconds: float, title: str) -> None:
    if wait_seconds:
        headers = {"Retry-After": str(math.ceil(wait_seconds))}
        raise Problem(429, title, code="rate_limited", fix="wait", headers=headers)


# Refuse what a page of another origin sends: a browser names that page's origin, and how far it is from this one.


_OWN: Final = frozenset({"same-origin", "none"})
"""What a browser says of a request by a page of the same origin, and of one by the person alone."""
_PORTS: Final = {"http": 80, "https": 443}


def check_sender(scope: Scope, url: str) -> None:
    """Raise `Problem` for the request of another origin's page; one that leads a person here by a link is none.

    The origin of this server is that of `url`, or where that is empty the address that the request was sent to, whose
    host the caller has checked. Programs send neither header.
    """
    headers = Headers(scope=scope)
    own = _read_origin(url or f"{scope['scheme']}://{headers.get('host', '')}")
    if any(_read_origin(one) != own for one in headers.getlist("origin")):
        detail = "it comes from a page of another origin: scheme, host and port are compared"
        raise Problem(403, "this origin may not call", code="forbidden", detail=detail)
    is_link = scope["method"] in READING and headers.get("sec-fetch-mode") == "navigate"
    if headers.get("sec-fetch-site", "none") not in _OWN and not is_link:
        detail = "the browser says that a page of another origin sent it"
        raise Problem(403, "this request is refused", code="forbidden", detail=detail)


def is_from_own_page(headers: Headers) -> bool:
    """Return whether a browser says that a page of this server sent a request; those of other pages came not so far."""
    return "origin" in headers or headers.get("sec-fetch-site") == "same-origin"


def _read_origin(address: str) -> tuple[str, str, int | None] | None:
    """Return scheme, host and port of an address; None for one without a host, such as the origin `null`."""
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:
        return None
    return (parts.scheme, parts.hostname, port or _PORTS.get(parts.scheme)) if parts.hostname else None


PUBLIC: Final = frozenset({"/livez", "/readyz", "/openapi.json", "/.well-known/agent-card.json"})
"""Paths that need no token and leave no audit record: they tell nothing about any user."""
Identify = Callable[[Scope], Awaitable[Principal]]
"""Returns the caller of a request, or raises `Unauthenticated`, or `Problem` for one that fails too often."""

_log: Final = logging.getLogger("credenda.server.requests")
_failures: Final = logging.getLogger("credenda.server.failures")
"""Failures of the store, which the operator sees also without a log of requests."""
_REQUEST_ID: Final = re.compile(r"[A-Za-z0-9._-]{1,64}")
_PROXIED: Final = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via")
_ANSWER_SECONDS: Final = 0.25
"""How much later than the answer the work of a call ends, so that the answer is about the time."""
_WELL_KNOWN: Final = "/.well-known/"
_CHALLENGED: Final = frozenset({401, 403})
_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class RequestLog:
    """Counts every request and logs it as one line of JSON, without its path, query and body; catches every failure.

    It gives each answer a request id, and headers that keep it out of caches and of guesses about its type.
    """

    def __init__(
        self, app: ASGIApp, metrics: Metrics, *, clock: Clock, audit: Callable[[AuditDraft], None] | None
    ) -> None:
        """Wrap an application; `audit` takes a record of each call that may reach a memory."""
        self._app = app
        self._metrics = metrics
        self._audit = audit
        self._clock = clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request."""
        given = Headers(scope=scope).get("x-request-id", "")
        request_id = given if _REQUEST_ID.fullmatch(given) else draw_request_id()
        state: dict[str, Any] = {"route": "other", "started": False, "request_id": request_id}
        scope["state"] = state
        status, begun = 0, seconds()
        state["note"] = note = CallNote()
        current_note.set(note)

        async def send_with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status, state["started"] = message["status"], True
                headers = MutableHeaders(scope=message)
                headers["X-Request-ID"] = request_id
                headers["Cache-Control"] = state.get("cache", "no-store")
                headers["X-Content-Type-Options"] = "nosniff"
            await send(message)

        try:
            with (
                record_request(scope["method"], Headers(scope=scope)) as report,
                measure_model_use() as state["model_use"],
            ):
                await self._app(scope, receive, send_with_headers)
                report(state["route"], status)
        except Exception as error:
            if state["started"]:
                state["failure"] = error
                raise
            await send_problem(error, scope, receive, send_with_headers)
        finally:
            self._record(scope, status, seconds() - begun)

    def _record(self, scope: Scope, status: int, duration_seconds: float) -> None:
        state: Mapping[str, Any] = scope["state"]
        method = scope["method"] if scope["method"] in _METHODS else "other"
        self._metrics.count_request(method, state["route"], status, duration_seconds)
        line = {"request_id": state["request_id"], "method": method, "route": state["route"], "status": status}
        line |= {"ms": round(duration_seconds * 1_000, 1)}
        if principal := state.get("principal"):
            line["caller"] = principal.credential
        failure = state.get("failure")
        if failure is not None and not isinstance(failure, CredendaError | Problem):
            line["failure"] = type(failure).__name__
        _log.info(json.dumps(line))
        if isinstance(failure, Corrupt | Unavailable):
            _failures.warning(json.dumps({"request_id": state["request_id"], "failure": str(failure)}))
        if self._audit is not None and scope["path"] not in PUBLIC and "is_asset" not in state:
            self._audit(_draft_record(scope, self._clock.now_us(), status, duration_seconds))


def _draft_record(scope: Scope, now_us: int, status: int, duration_seconds: float) -> AuditDraft:
    """Put together what the layers have found out about a call."""
    state: Mapping[str, Any] = scope["state"]
    principal: Principal | None = state.get("principal")
    note: CallNote = state["note"]
    use: ModelUse = state["model_use"]
    failure = state.get("failure")
    code = note.code or ("" if failure is None else str(make_problem(failure).body["code"]))
    return AuditDraft(
        at_us=now_us,
        request_id=state["request_id"],
        user="" if principal is None else principal.tenant,
        issuer="" if principal is None else principal.issuer,
        subject="" if principal is None else principal.subject,
        credential="" if principal is None else principal.credential,
        member="" if principal is None else principal.member,
        client=("" if principal is None else principal.client)
        or Headers(scope=scope).get("user-agent", "").strip().partition(" ")[0],
        actor=note.actor,
        door=note.door,
        operation=note.operation,
        scope=note.scope,
        ids=note.ids,
        more_ids=note.more_ids,
        status=status,
        code=code,
        duration_ms=round(duration_seconds * 1_000, 1),
        tokens_in=use.tokens_in,
        tokens_out=use.tokens_out,
        cost_usd=use.cost_usd,
        inputs=note.inputs,
    )


class AddressCheck:
    """Refuses a request for another host, from the page of another origin, or through a proxy that is not trusted.

    A page of another site can point a name of its own at this machine (DNS rebinding); its requests then carry that
    name. Where no token is needed, a proxy would open the memory to everyone who reaches the proxy.
    """

    def __init__(self, app: ASGIApp, *, hosts: Iterable[str], url: str, refuse_proxies: bool) -> None:
        """Serve requests for these hosts, names without ports; `url` is the public address, "" if there is none."""
        self._app = app
        self._hosts = frozenset(host.casefold() for host in hosts)
        self._url = url
        self._refuse_proxies = refuse_proxies

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request."""
        self._check(Headers(scope=scope))
        check_sender(scope, self._url)
        await self._app(scope, receive, send)

    def _check(self, headers: Headers) -> None:
        if _read_host(headers.get("host", "")) not in self._hosts:
            fix = "use the address that `credenda serve` prints, or name yours with --url"
            raise Problem(421, "this server does not serve that host", code="forbidden", fix=fix)
        if self._refuse_proxies and any(name in headers for name in _PROXIED):
            detail = "it came through a proxy, and this server needs no token"
            fix = "start it with --trust-proxy and --url, which makes tokens necessary"
            raise Problem(403, "this request is refused", code="forbidden", detail=detail, fix=fix)


def _read_host(host: str) -> str:
    """Return the name in a Host header, without its port."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


class CallerCheck:
    """Finds out who calls, and makes that principal the caller of everything inside."""

    def __init__(
        self, app: ASGIApp, identify: Identify, *, open_paths: frozenset[str], resource: Resource | None
    ) -> None:
        """Wrap an application; `open_paths` need no caller, and `resource` is where a client can get a token."""
        self._app = app
        self._identify = identify
        self._open_paths = open_paths
        self._resource = resource

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request of a known caller; an error inside becomes the answer."""
        if _is_open(scope["path"], self._open_paths):
            await self._app(scope, receive, send)
            return
        if self._resource is not None:
            send = _add_to_challenges(send, partial(self._resource.make_challenge, scope))
        try:
            scope["state"]["principal"] = principal = await self._identify(scope)
            with use_principal(principal):
                await self._app(scope, receive, send)
        except Exception as error:
            if scope["state"]["started"]:
                raise
            await send_problem(error, scope, receive, send)


def _is_open(path: str, open_paths: frozenset[str]) -> bool:
    """Return whether a path needs no token: clients look for several well-known pages, and must see which exist."""
    return path in open_paths or path.startswith(_WELL_KNOWN)


def _add_to_challenges(send: Send, make_more: Callable[[int], str]) -> Send:
    """Add to the challenge of a refusal where a client finds out how to get a token (RFC 9728)."""

    async def send_with_challenge(message: Message) -> None:
        if message["type"] == "http.response.start" and message["status"] in _CHALLENGED:
            headers = MutableHeaders(scope=message)
            if challenge := headers.get("www-authenticate"):
                headers["WWW-Authenticate"] = f"{challenge}, {make_more(message['status'])}"
        await send(message)

    return send_with_challenge


class Bounds:
    """Refuses calls that come too often, and calls for which no worker thread will be free soon."""

    def __init__(
        self,
        app: ASGIApp,
        rates: tuple[RateLimit, RateLimit],
        *,
        is_full: Callable[[], bool],
        open_paths: frozenset[str],
    ) -> None:
        """Wrap an application; the rates are those of a caller and of a user, `is_full` says that no call may begin."""
        self._app = app
        self._by_caller, self._by_user = rates
        self._is_full = is_full
        self._open_paths = open_paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request if there is room."""
        if scope["path"] not in PUBLIC:
            is_open = _is_open(scope["path"], self._open_paths)
            self._check(None if is_open else scope["state"]["principal"])
        await self._app(scope, receive, send)

    def _check(self, principal: Principal | None) -> None:
        if principal is not None:
            caller = f"{principal.tenant}\n{principal.credential}"
            wait = self._by_caller.take(caller) or self._by_user.take(principal.tenant)
            _check_wait(wait, "there are too many requests")
        waiting = to_thread.current_default_thread_limiter().statistics().tasks_waiting
        if waiting >= limits.HTTP_WAITING or self._is_full():
            raise Problem(503, "the server is busy", code="unavailable", fix="try again", headers={"Retry-After": "1"})


class CallTimeout:
    """Answers 504 to a call that takes too long, and gives its work a deadline, at which that stops (R-196).

    A call counts as active from its first byte to its last, so that background work yields to all of it.
    """

    def __init__(
        self, app: ASGIApp, active_calls: ActiveCalls, *, call_seconds: float, longer: Mapping[str, float]
    ) -> None:
        """Allow each call `call_seconds`, and those to some paths as long as `longer` says."""
        self._app = app
        self._active_calls = active_calls
        self._call_seconds = call_seconds
        self._longer = longer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request within its time."""
        duration = self._longer.get(scope["path"], self._call_seconds)

        async def send_whole(message: Message) -> None:
            timer.deadline = math.inf  # an answer that has begun is sent to its end
            await send(message)

        limit = limit_duration(duration + _ANSWER_SECONDS)
        with anyio.move_on_after(duration) as timer, limit, self._active_calls:
            await self._app(scope, receive, send_whole)
        if timer.cancelled_caught and not scope["state"]["started"]:
            problem = Problem(
                504,
                f"the call took longer than {duration:g} seconds",
                code="TOOL_TIMEOUT",
                detail="its work stops at the next statement; a transaction under way is completed",
                fix="ask for less, or repeat it with the same Idempotency-Key",
            )
            problem.body["retryable"] = True
            raise problem
