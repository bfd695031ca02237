"""The progress of a job as server-sent events.

An event holds the whole job, and its id names that state. A client that connects again and sends it back as
Last-Event-ID gets the job as it is now, unless it is as the client knows it: nothing is missed, whatever the connection
did. A connection is ended after some time; browsers connect again by themselves.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import AsyncGenerator, Generator
from contextlib import contextmanager
from functools import partial
from threading import Lock
from typing import Final

import anyio
from anyio import to_thread
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from credenda import limits
from credenda.clock import seconds
from credenda.errors import CredendaError
from credenda.interfaces.authorization import authorize
from credenda.interfaces.call_note import note_operation
from credenda.interfaces.dispatch import invoke
from credenda.interfaces.serialize import to_jsonable
from credenda.interfaces.server.memories import Memories
from credenda.interfaces.server.problems import Problem, make_method_problem, send_problem
from credenda.model.job import ENDED, JobInfo
from credenda.operations.table import OPERATIONS
from credenda.services.expectation import name_version

__all__ = ["EVENTS_PATH", "JobEvents"]

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
