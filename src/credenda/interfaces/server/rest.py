"""REST: a route for every operation that the table opens to HTTP."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Generator, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import Any, Final

import anyio
from anyio import to_thread
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from credenda import limits
from credenda.clock import seconds
from credenda.errors import Conflict, CredendaError, Invalid
from credenda.interfaces.authorization import authorize
from credenda.interfaces.call_note import note_operation
from credenda.interfaces.dispatch import invoke
from credenda.interfaces.openapi import may_take_key
from credenda.interfaces.serialize import to_jsonable
from credenda.interfaces.server.background_calls import is_background_wanted, start_in_background
from credenda.interfaces.server.inputs import Inputs, read_inputs
from credenda.interfaces.server.json_bounds import make_etag, make_stale_problem, read_if_match
from credenda.interfaces.server.memories import Memories
from credenda.interfaces.server.problems import Problem, make_method_problem, send_problem
from credenda.interfaces.server.replays import Answer, Replays
from credenda.model.job import ENDED, JobInfo
from credenda.operations.table import OPERATIONS, Operation, Rest
from credenda.services.expectation import expect, name_version

# The progress of a job as server-sent events.


EVENTS_PATH: Final = "/v1/jobs/{id}/events"
_OPERATION: Final = OPERATIONS["job"]
_MEDIA: Final = "text/event-stream"
_HEADERS: Final = {"X-Accel-Buffering": "no"}
"""Keeps a reverse proxy from holding events back."""
_RETRY_MS: Final = 1_000
_run_stoppable: Final = partial(to_thread.run_sync, abandon_on_cancel=True)


class JobEvents:
    """The ASGI application of the events of a job; who may read the job may read them."""

    def __init__(self, memories: Memories) -> None:
        """Serve the jobs of these memories."""
        self._memories = memories
        self._lock = Lock()
        self._open = Counter[str]()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request; every failure before the first event becomes problem+json."""
        scope["state"]["route"] = EVENTS_PATH
        try:
            await self._answer(Request(scope, receive), scope, receive, send)
        except Exception as error:
            if scope["state"]["started"]:
                raise
            await send_problem(error, scope, receive, send)

    async def _answer(self, request: Request, scope: Scope, receive: Receive, send: Send) -> None:
        if request.method != "GET":
            raise make_method_problem(request.method, ["GET"])
        note_operation(_OPERATION, "rest")
        principal = authorize(_OPERATION)
        if request.query_params:
            raise Problem(400, "this page takes no query", fix="leave it out")
        job_id = request.path_params["id"]
        known = request.headers.get("last-event-id", "")
        job = await _run_stoppable(self.read_job, job_id)
        if job.state in ENDED and name_version(job) == known:
            await Response(status_code=204)(scope, receive, send)  # tells a browser not to connect again
            return
        with self._count(principal.tenant):
            events = self._stream(job, known)
            await StreamingResponse(events, media_type=_MEDIA, headers=_HEADERS)(scope, receive, send)

    @contextmanager
    def _count(self, user: str) -> Generator[None]:
        """Count a connection; raises `Problem` beyond the bound of one user."""
        with self._lock:
            if self._open[user] >= limits.HTTP_STREAMS:
                fix = "close one, or read the job itself"
                raise Problem(
                    429, "too many streams are open", code="rate_limited", fix=fix, headers={"Retry-After": "5"}
                )
            self._open[user] += 1
        try:
            yield
        finally:
            with self._lock:
                self._open[user] -= 1
                if not self._open[user]:
                    del self._open[user]

    def read_job(self, job_id: str) -> JobInfo:
        """Return a job of the current caller."""
        with self._memories.lend() as memory:
            return invoke(memory, _OPERATION, {"id": job_id}, door="rest")

    async def _stream(self, job: JobInfo, known: str) -> AsyncGenerator[str]:
        """Yield the job whenever it has changed, until it has ended or the connection is old."""
        until = seconds() + limits.HTTP_STREAM_SECONDS
        yield f"retry: {_RETRY_MS}\n\n"
        while True:
            version = name_version(job)
            if version != known:
                known = version
                data = json.dumps(to_jsonable(job, remote=True), ensure_ascii=False)
                yield f"id: {version}\nevent: {job.state}\ndata: {data}\n\n"
            if job.state in ENDED or seconds() >= until:
                return
            await anyio.sleep(limits.HTTP_EVENT_SECONDS)
            try:
                job = await _run_stoppable(self.read_job, job.id)
            except CredendaError:
                return  # the client connects again, and is told then


_EMPTY: Final = 204
_CHUNK_BYTES: Final = 1 << 16
_KEY: Final = "idempotency_key"
"""The input of `remember` that makes a key durable."""


@dataclass(frozen=True, slots=True)
class _Call:
    """One operation on one route."""

    operation: Operation
    route: Rest
    memories: Memories
    replays: Replays

    @asynccontextmanager
    async def answer(self, request: Request) -> AsyncGenerator[Response]:
        """Call the operation, and give the answer, to be sent in the block; only who may call has the body read."""
        note_operation(self.operation, "rest")
        principal = authorize(self.operation)
        versions = read_if_match(request, self.route)
        async with read_inputs(request, self.operation, self.route) as inputs:
            if inputs.download is not None:
                await _run_stoppable(self._invoke, inputs.given)
                yield StreamingResponse(_read_pieces(inputs.download), media_type="application/octet-stream")
            elif is_background_wanted(request, self.operation):
                started = await _run_stoppable(start_in_background, self.memories, self.operation, inputs.given)
                yield _make_response(started)
            elif not (key := self._read_key(request, inputs)):
                yield _make_response(await _run_stoppable(self._run, inputs.given, versions))
            else:
                digest = sha256(f"{self.route.method} {request.url.path}\n".encode() + inputs.body).digest()
                run = partial(self._run, inputs.given, versions)
                yield await _run_stoppable(self._run_once, principal.tenant, key, digest, run)

    def _read_key(self, request: Request, inputs: Inputs) -> str:
        """Return the key of a request that must not run twice; `remember` may also have it in the body."""
        key = request.headers.get("idempotency-key", "")
        if not key or not may_take_key(self.operation, self.route):
            return ""
        if len(key) > limits.NAME_CHARACTERS:
            raise Invalid("the Idempotency-Key is too long", fix=f"give at most {limits.NAME_CHARACTERS} characters")
        has_input = any(param.name == _KEY for param in self.operation.params)
        if has_input and inputs.given.setdefault(_KEY, key) != key:
            raise Invalid("header and body have different keys", fix="give one of them")
        return key

    def _run_once(self, user: str, key: str, digest: bytes, run: Callable[[], Answer]) -> Response:
        first = self.replays.begin(user, key, digest)
        if first is not None:
            return _make_response(first, replayed=True)
        try:
            answer = run()
        except Conflict as error:
            self.replays.abandon(user, key)
            if any(param.name == _KEY for param in self.operation.params):  # the journal has it, with other content
                raise Invalid(error.what, why=error.why, fix=error.fix) from error
            raise
        except BaseException:
            self.replays.abandon(user, key)
            raise
        self.replays.finish(user, key, answer)
        return _make_response(answer)

    def _run(self, given: dict[str, object], versions: frozenset[str] | None) -> Answer:
        """Call the operation; with `versions`, on one of these versions of what the path names alone."""
        try:
            with nullcontext() if versions is None else expect(versions):
                value = self._invoke(given)
        except Conflict as error:
            raise make_stale_problem(error) or error from error
        if value is None or self.route.status == _EMPTY:
            return Answer(_EMPTY, "")
        shown = to_jsonable(value, remote=True)
        headers = make_etag(self.route, value, str(given.get("id", "")))
        return Answer(self.route.status, json.dumps(shown, ensure_ascii=False, allow_nan=False), headers)

    def _invoke(self, given: dict[str, object]) -> Any:  # noqa: ANN401 - any result
        with self.memories.lend() as memory:
            return invoke(memory, self.operation, given, door="rest")


class _Path:
    """An ASGI application for one path: finds the call by the method."""

    def __init__(self, path: str, calls: Iterable[_Call]) -> None:
        self._path = path
        self._calls: dict[str, _Call] = {call.route.method: call for call in calls}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request; every failure becomes problem+json."""
        scope["state"]["route"] = self._path
        request = Request(scope, receive)
        try:
            async with self._find(request.method).answer(request) as response:
                await response(scope, receive, send)
        except Exception as error:
            if scope["state"]["started"]:
                raise
            await send_problem(error, scope, receive, send)

    def _find(self, method: str) -> _Call:
        call = self._calls.get(method)
        if call is None:
            raise make_method_problem(method, self._calls)
        return call


def make_routes(memories: Memories, operations: Iterable[Operation] = OPERATIONS.values()) -> Iterator[Route]:
    """Make the routes of the operations that are open to HTTP, one for each path."""
    replays = Replays(memories)
    by_path: dict[str, list[_Call]] = {}
    for operation in operations:
        for route in operation.rest:
            by_path.setdefault(route.path, []).append(_Call(operation, route, memories, replays))
    for path, calls in by_path.items():
        yield Route(path, _Path(path, calls))
    yield Route(EVENTS_PATH, JobEvents(memories))


def _make_response(answer: Answer, *, replayed: bool = False) -> Response:
    headers = {**answer.headers, **({"Idempotent-Replayed": "true"} if replayed else {})}
    media = "application/json" if answer.body else None
    return Response(answer.body or None, answer.status, media_type=media, headers=headers)


async def _read_pieces(path: Path) -> AsyncGenerator[bytes]:
    async with await anyio.open_file(path, "rb") as source:
        while piece := await source.read(_CHUNK_BYTES):
            yield piece
