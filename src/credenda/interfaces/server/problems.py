"""Errors as HTTP answers: problem+json (RFC 9457), with the headers that the status asks for."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from credenda.errors import CredendaError, Forbidden, Unauthenticated, Unavailable
from credenda.interfaces.remedies import name_routes
from credenda.private import cut_tagged

READING: Final = ("GET", "HEAD")
"""The methods that change nothing."""
_MEDIA: Final = "application/problem+json"
_RETRY_SECONDS: Final = 1
_INTERNAL: Final = 500


class Problem(Exception):  # noqa: N818 - RFC 9457 calls it that
    """A request that HTTP itself refuses, before or beside any operation."""

    def __init__(
        self,
        status: int,
        title: str,
        *,
        code: str = "invalid",
        detail: str = "",
        fix: str = "",
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """Keep the parts, without private text; a problem with the header Retry-After is one that may pass."""
        title, detail, fix = cut_tagged(title), cut_tagged(detail), cut_tagged(fix)
        super().__init__(title)
        self.status = status
        self.headers = dict(headers or {})
        self.body: dict[str, Any] = {"title": title, "status": status, "code": code}
        self.body |= {"retryable": "Retry-After" in self.headers}
        self.body |= {name: text for name, text in (("detail", detail), ("fix", fix)) if text}


def make_problem(error: Exception) -> Problem:
    """Describe any error; of one that is not ours, nothing but that it happened."""
    if isinstance(error, Problem):
        return error
    if not isinstance(error, CredendaError):
        return Problem(_INTERNAL, "the server met an internal error", code="internal", fix="report the request id")
    problem = Problem(error.http_status, error.what, code=error.code, detail=error.why, fix=error.fix)
    problem.headers = _list_headers(error)
    problem.body |= {"retryable": error.retryable}
    if error.ids:
        problem.body["ids"] = dict(error.ids)
    return problem


def _list_headers(error: CredendaError) -> dict[str, str]:
    """Return the challenge of a refused call, or when to try once more."""
    match error:
        case Unauthenticated():
            reason = f', error="{error.ids["error"]}"' if "error" in error.ids else ""
            return {"WWW-Authenticate": f'Bearer realm="credenda"{reason}'}
        case Forbidden() if "scope" in error.ids:
            return {"WWW-Authenticate": f'Bearer error="insufficient_scope", scope="{error.ids["scope"]}"'}
        case Unavailable():
            return {"Retry-After": str(_RETRY_SECONDS)}
        case _:
            return {}


def make_problem_response(error: Exception) -> Response:
    """Make the answer to a request that failed; its advice names routes."""
    problem = make_problem(name_routes(error) if isinstance(error, CredendaError) else error)
    body = json.dumps(problem.body, ensure_ascii=False)
    return Response(body, problem.status, media_type=_MEDIA, headers=problem.headers)


async def send_problem(error: Exception, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer a request that failed, and note the failure for the log.

    The state of a request may say how a problem is shown: the pages of a person do that.
    """
    scope["state"]["failure"] = error
    show = scope["state"].get("show_problem")
    response = make_problem_response(error) if show is None else show(make_problem(error), scope)
    await response(scope, receive, send)


def make_method_problem(method: str, allowed: Iterable[str]) -> Problem:
    """Make the error of a method that a path does not offer."""
    offered = ", ".join(sorted(allowed))
    return Problem(405, f"{method[:16]} is not offered here", fix=f"use {offered}", headers={"Allow": offered})


Handler = Callable[[Request], Awaitable[Response]]


class Endpoint:
    """An ASGI application for one path: a function for each method. Its errors are answered around all routes."""

    def __init__(
        self,
        path: str,
        handlers: Mapping[str, Handler],
        *,
        door: str = "",
        check: Callable[[Scope], None] = lambda _: None,
    ) -> None:
        """Take the functions by method; `door` is for the record of a call, and `check` may refuse a request."""
        self._path = path
        self._handlers = handlers
        self._door = door
        self._check = check

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        scope["state"]["route"] = self._path
        if self._door:
            note = scope["state"]["note"]
            note.door, note.operation = self._door, self._path.rpartition("/")[2]
        handler = self._handlers.get(scope["method"])
        if handler is None:
            raise make_method_problem(scope["method"], self._handlers)
        self._check(scope)
        response = await handler(Request(scope, receive))
        await response(scope, receive, send)


def make_read_route(path: str, show: Handler) -> Route:
    """Make the route of a page that is only read."""
    return Route(path, Endpoint(path, dict.fromkeys(READING, show)))
