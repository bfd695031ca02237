"""REST: a route for every operation that the table opens to HTTP."""

from __future__ import annotations

import json
import re
from collections import Counter, OrderedDict
from collections.abc import AsyncGenerator, Callable, Generator, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, nullcontext
from copy import copy
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from threading import Lock
from typing import Any, Final, cast

import anyio
from anyio import to_thread
from starlette.datastructures import FormData, QueryParams, UploadFile
from starlette.formparsers import MultiPartException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from credenda import limits
from credenda.clock import seconds
from credenda.errors import Conflict, CredendaError, Invalid
from credenda.interfaces.authorization import ServerFile, authorize, invoke, note_operation
from credenda.interfaces.json_schema import EVENTS_PATH, FILE_FIELD, check_type, may_take_key
from credenda.interfaces.serialize import to_jsonable
from credenda.interfaces.server.memories import Memories, StoreMark
from credenda.interfaces.server.problems import Problem, make_method_problem
from credenda.model.change import ContestCase
from credenda.model.job import ENDED, JobInfo
from credenda.model.memory import Memory
from credenda.operation import Operation, Param, Rest
from credenda.operations import OPERATIONS
from credenda.services.browse import expect, name_version

# Answers by Idempotency-Key, so that a repeated request does nothing twice and gets the first answer.


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer that went well: its status and body; None for a body that was too long to keep."""

    status: int
    body: str | None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(slots=True)
class _Entry:
    digest: bytes
    mark: StoreMark
    at: float
    answer: Answer | None = None


class Replays:
    """The keyed requests of all users. All methods may be called from any thread."""

    def __init__(self, memories: Memories) -> None:
        self._memories = memories
        self._lock = Lock()
        self._entries: OrderedDict[tuple[str, str], _Entry] = OrderedDict()

    def begin(self, user: str, key: str, digest: bytes) -> Answer | None:
        """Return the first answer of a request, or None for a new one, which `finish` or `abandon` must follow.

        Raises `Conflict` while the first one runs or where its answer is gone, `Invalid` for another request.
        """
        mark = self._memories.mark(user)
        with self._lock:
            self._drop_old()
            entry = self._entries.get((user, key))
            if entry is None:
                self._entries[user, key] = _Entry(digest, mark, seconds())
                return None
        if entry.digest != digest:
            why = "an earlier request with other content has it"
            raise Invalid("this Idempotency-Key is in use", why=why, fix="use a new key for each request")
        answer = entry.answer
        if answer is None:
            raise Conflict("the first request with this key is under way", fix="wait for its answer")
        why = "its answer was too long to keep"
        if answer.body is not None:
            if not answer.body or not self._memories.has_deleted_since(user, entry.mark):
                return answer
            why = "something was deleted since, which the first answer may contain"
        raise Conflict("this request was done already", why=why, fix="read the present state")

    def finish(self, user: str, key: str, answer: Answer) -> None:
        """Keep the answer of a request that went well."""
        with self._lock:
            entry = self._entries.get((user, key))
            if entry is not None:
                fits = answer.body is not None and len(answer.body) <= limits.HTTP_REPLAY_CHARACTERS
                entry.answer = answer if fits else Answer(answer.status, None)

    def abandon(self, user: str, key: str) -> None:
        """Forget a request that failed, so that it may be repeated."""
        with self._lock:
            self._entries.pop((user, key), None)

    def _drop_old(self) -> None:
        """Drop the entries that are too old or too many, the oldest first, but none that is under way."""
        until = seconds() - limits.HTTP_REPLAY_SECONDS
        for name, entry in list(self._entries.items()):
            if entry.at > until and len(self._entries) < limits.HTTP_REPLAYS:
                return
            if entry.answer is not None:
                del self._entries[name]


# Calls that a caller wants in the background: the answer is a job (RFC 7240, `Prefer: respond-async`).


_PREFERENCE: Final = "respond-async"


def is_background_wanted(request: Request, operation: Operation) -> bool:
    """Return whether an operation takes long and its caller prefers not to wait."""
    if not operation.long:
        return False
    preferred = ",".join(request.headers.getlist("prefer")).split(",")
    return any(one.partition(";")[0].strip().casefold() == _PREFERENCE for one in preferred)


def start_in_background(memories: Memories, operation: Operation, given: Mapping[str, object]) -> Answer:
    """Queue a call, and answer with its job and where that is found."""
    note_operation(operation, "rest", given)
    with memories.lend() as memory:
        job = memory.jobs.start(operation.name, given)
    memories.wake_caller()
    headers = {
        "Location": f"/v1/jobs/{job.id}",
        "Preference-Applied": _PREFERENCE,
        "ETag": f'"{name_version(job)}"',
    }
    return Answer(202, json.dumps(to_jsonable(job, remote=True), ensure_ascii=False), headers)


# Bounds on the form of a JSON body: how deep it is nested, and how many items one level has.


def check_bounds(parsed: object) -> None:
    """Raise `Problem` for a document that is nested too deep, or has a list or object with too many items."""
    level: list[object] = [parsed]
    for _ in range(limits.HTTP_DEPTH + 1):
        level = [inner for one in level for inner in _list_items(one)]
        if not level:
            return
    raise _make_problem(f"the body is nested deeper than {limits.HTTP_DEPTH} levels")


def _list_items(value: object) -> list[object]:
    """Return what is inside a list or an object."""
    if not isinstance(value, list | dict):
        return []
    items = cast("Any", value)
    if len(items) > limits.HTTP_BATCH:
        raise _make_problem(f"a list or object in the body has more than {limits.HTTP_BATCH:,} items")
    return list(items.values() if isinstance(value, dict) else items)


def _make_problem(title: str) -> Problem:
    return Problem(413, title, code="limit_exceeded", fix="send less at a time")


# Versions of resources over HTTP: ETag in answers, If-Match in requests (RFC 9110).


_TAGS: Final = re.compile(r'\s*(W/)?"([\x21\x23-\x7e]{1,128})"\s*(?:,|$)')
_ANY: Final = "*"
_EXPECTED: Final = "expected"


def make_etag(route: Rest, value: object, named: str) -> Mapping[str, str]:
    """Return the header ETag of an answer that shows what the path names; no header for any other answer."""
    if not route.versioned or not isinstance(value, Memory | JobInfo | ContestCase):
        return {}
    is_named = route.method == "GET" or value.id == named
    return {"ETag": f'"{name_version(value)}"'} if is_named else {}


def read_if_match(request: Request, route: Rest) -> frozenset[str] | None:
    """Return the versions of which a request may change one; None where it names none.

    A weak tag matches nothing, because If-Match compares strictly. Raises `Problem` for a header that cannot be read,
    and on a route whose resource has no versions.
    """
    header = request.headers.get("if-match")
    if header is None:
        return None
    if not route.versioned or route.method == "GET":
        raise Problem(400, "If-Match has no meaning here", fix="leave it out")
    if header.strip() == _ANY:
        return frozenset({_ANY})
    found: list[str] = []
    at = 0
    while at < len(header):
        tag = _TAGS.match(header, at)
        if tag is None:
            raise Problem(400, "If-Match cannot be read", fix="send the ETag of an answer, with its quotes")
        found += [] if tag[1] else [tag[2]]
        at = tag.end()
    return frozenset(found)


def make_stale_problem(error: Conflict) -> Problem | None:
    """Return the answer to a request that names another version than the present one; None for another conflict."""
    if _EXPECTED not in error.ids:
        return None
    etag = {"ETag": f'"{error.ids["version"]}"'}
    problem = Problem(412, error.what, code="precondition_failed", detail=error.why, fix=error.fix, headers=etag)
    problem.body["ids"] = dict(error.ids)
    return problem


# Read the inputs of an operation from a request: its path, its query, a JSON body, or a form with a file.


_FLAGS: Final = {"true": True, "false": False}
_UNSAFE: Final = re.compile(r"[^\w .()+,&@-]+")
_NAME_CHARACTERS: Final = 60
_FILES: Final = frozenset({"upload", "download"})
_COPY_BYTES: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Inputs:
    """The inputs of a call by their names in the table, the bytes of the body, and the file to send back, if any."""

    given: dict[str, object]
    body: bytes
    download: Path | None


@asynccontextmanager
async def read_inputs(request: Request, operation: Operation, route: Rest) -> AsyncGenerator[Inputs]:
    """Read the inputs of a call; files of the request exist until the block ends.

    Raises `Problem` for a request that cannot be read, `Invalid` for an input of the wrong name or type.
    """
    params = {param.name: param for param in operation.params_at("rest") if param.name not in route.without}
    kinds = {name: param.kind_at("rest") for name, param in params.items()}
    given: dict[str, object] = {name: request.path_params[name] for name in route.in_path}
    others = {name: param for name, param in params.items() if name not in given and kinds[name] != "download"}
    with make_folder(wanted=bool(_FILES & set(kinds.values()))) as folder:
        body = b""
        if route.method == "GET":
            given |= _read_query(request.query_params, others)
        else:
            if request.query_params:
                raise Invalid("this request takes no query", fix="put its inputs in the body")
            if "upload" in kinds.values():
                given |= await _read_form(request, others, folder)
            else:
                body = await read_body(request)
                given |= _check_inputs(_parse_object(request, body), others, operation)
        missing = [name for name, param in others.items() if param.required and name not in given]
        if missing:
            raise Invalid(f"{operation.name} needs {' and '.join(missing)}", why="it is missing", fix="give it")
        download = next((folder / name for name, kind in kinds.items() if kind == "download"), None)
        if download is not None:
            given[download.name] = ServerFile(download)
        with _name_uploads(given.values()):
            yield Inputs(given, body, download)


@contextmanager
def _name_uploads(given: Iterable[object]) -> Generator[None]:
    """Name an uploaded file in an error as its caller does, not as the server keeps it."""
    try:
        yield
    except CredendaError as error:
        named = copy(error)
        for one in given:
            if isinstance(one, ServerFile) and one.name:
                named.what = named.what.replace(one.path.name, one.name)
        raise named from error


@contextmanager
def make_folder(*, wanted: bool) -> Generator[Path]:
    """Make a folder for the files of a request, which few have; it is removed at the end of the block."""
    with TemporaryDirectory(prefix="credenda-", ignore_cleanup_errors=True) if wanted else nullcontext("") as folder:
        yield Path(folder)


def _check_inputs(sent: Mapping[str, Any], params: Mapping[str, Param], operation: Operation) -> dict[str, object]:
    """Check names and types of the fields of a body; null counts as omitted."""
    for name in sent:
        if name not in params:
            takes = ", ".join(params) or "nothing"
            raise Invalid(f"{operation.name} takes no {name[:64]!r} here", fix=f"it takes {takes}")
    return {name: check_type(name, params[name], value, "rest") for name, value in sent.items() if value is not None}


# The query


def _read_query(query: QueryParams, params: Mapping[str, Param]) -> dict[str, object]:
    found: dict[str, object] = {}
    for key in dict.fromkeys(query.keys()):
        name, bracket, rest = key.partition("[")
        param = params.get(name)
        if param is None or bool(bracket) != (param.kind == "table") or (bracket and not rest.endswith("]")):
            raise Invalid(f"there is no input {key[:64]!r}", fix=f"it takes {', '.join(params) or 'nothing'}")
        values = query.getlist(key)
        if param.kind == "names":
            found[name] = values
        elif len(values) > 1:
            raise Invalid(f"{key[:64]} is given twice", fix="give it once")
        elif bracket:
            cast("dict[str, str]", found.setdefault(name, {}))[rest[:-1]] = values[0]
        else:
            found[name] = _parse_word(name, param, values[0])
    return found


def _parse_word(name: str, param: Param, word: str) -> object:
    """Read a value of a query, in which everything is text."""
    try:
        match param.kind:
            case "flag":
                return _FLAGS[word.casefold()]
            case "integer":
                return int(word)
            case "number":
                return check_type(name, param, float(word))
            case _:
                return check_type(name, param, word)
    except (KeyError, ValueError):
        wanted = {"flag": "true or false", "integer": "a whole number"}.get(param.kind, "a number")
        raise Invalid(f"{name} must be {wanted}", fix=f"give {wanted}") from None


# The body


async def read_body(request: Request, bound: int = limits.HTTP_BODY_BYTES) -> bytes:
    """Read a body within the bounds of size and time."""
    _check_length(request, bound)
    try:
        with anyio.fail_after(limits.HTTP_READ_SECONDS):
            return await Request(request.scope, _bound(request.receive, bound)).body()
    except TimeoutError:
        raise Problem(408, "the request came too slowly", code="unavailable", fix="send it faster") from None
    except ClientDisconnect:
        raise Problem(400, "the request was broken off") from None


def replay_body(body: bytes, receive: Receive) -> Receive:
    """Give a body that was read once more, and after it what the connection says."""
    waiting = [body]

    async def receive_again() -> Message:
        if waiting:
            return {"type": "http.request", "body": waiting.pop(), "more_body": False}
        return await receive()

    return receive_again


def _check_length(request: Request, bound: int) -> None:
    length = request.headers.get("content-length", "")
    if length.isdecimal() and int(length) > bound:
        raise _make_size_problem(bound)


def _bound(receive: Receive, bound: int) -> Receive:
    """Count what is received, and refuse more than the bound, whatever length was announced."""
    count = 0

    async def receive_within_bound() -> Message:
        nonlocal count
        message = await receive()
        count += len(message.get("body", b""))
        if count > bound:
            raise _make_size_problem(bound)
        return message

    return receive_within_bound


def _make_size_problem(bound: int) -> Problem:
    fix = "send less at a time"
    return Problem(413, f"the body is longer than {bound:,} bytes", code="limit_exceeded", fix=fix)


def _parse_object(request: Request, body: bytes) -> Mapping[str, Any]:
    """Parse a body as one JSON object; an empty body has no inputs."""
    if not body:
        return {}
    media = request.headers.get("content-type", "").partition(";")[0].strip().casefold()
    if media != "application/json":
        fix = "send application/json"
        raise Problem(415, "the body has another media type", detail=f"it is {media[:64] or 'not named'}", fix=fix)
    try:
        parsed: object = json.loads(body.decode("utf-8"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise Problem(400, "the body is not JSON", fix="send one JSON object in UTF-8") from None
    if not isinstance(parsed, dict):
        raise Problem(400, "the body is not a JSON object", fix='send an object, such as {"content": "…"}')
    check_bounds(cast("object", parsed))
    return cast("dict[str, Any]", parsed)


def _refuse_constant(name: str) -> object:
    raise ValueError(name)


# A form with a file


async def _read_form(request: Request, params: Mapping[str, Param], folder: Path) -> dict[str, object]:
    """Read a form: every field is text, and the file is copied to a path of our choice."""
    if not request.headers.get("content-type", "").casefold().startswith("multipart/form-data"):
        if not await read_body(request):
            return {}
        raise Problem(415, "the body has another media type", fix=f"send multipart/form-data with {FILE_FIELD!r}")
    async with _open_form(request, len(params) + 1) as form:
        upload = next(param.name for param in params.values() if param.kind_at("rest") == "upload")
        found: dict[str, object] = {}
        for name, value in form.multi_items():
            wanted = upload if name == FILE_FIELD else name
            if wanted in found:
                raise Invalid(f"{name[:64]} is given twice", fix="give it once")
            if isinstance(value, UploadFile) != (name == FILE_FIELD) or wanted not in params:
                raise Invalid(f"there is no field {name[:64]!r}", fix=f"send the file as {FILE_FIELD!r}")
            if isinstance(value, UploadFile):
                found[upload] = ServerFile(
                    await to_thread.run_sync(_keep_upload, value, folder), Path(value.filename or "").name
                )
            else:
                found[name] = _parse_word(name, params[name], value)
        return found


async def read_upload(request: Request, folder: Path, *, fields_max: int) -> tuple[list[tuple[str, str]], Path | None]:
    """Read a form of text fields and a file, and copy the file into a folder under a name of ours.

    Returns the fields in their order, and the path of the file; None without one.
    """
    fields: list[tuple[str, str]] = []
    path: Path | None = None
    async with _open_form(request, fields_max) as form:
        for name, value in form.multi_items():
            if isinstance(value, str):
                fields.append((name, value))
            elif value.filename:
                path = await to_thread.run_sync(_keep_upload, value, folder)
    return fields, path


@asynccontextmanager
async def _open_form(request: Request, fields_max: int) -> AsyncGenerator[FormData]:
    """Read a multipart form within the bounds; its files exist until the block ends."""
    _check_length(request, limits.HTTP_UPLOAD_BYTES)
    form_request = Request(request.scope, _bound(request.receive, limits.HTTP_UPLOAD_BYTES))
    try:
        async with form_request.form(max_files=1, max_fields=fields_max) as form:
            yield form
    except MultiPartException as error:
        raise Problem(400, "the form cannot be read", detail=error.message[:200]) from None
    except ClientDisconnect:
        raise Problem(400, "the request was broken off") from None


def _keep_upload(sent: UploadFile, folder: Path) -> Path:
    """Copy a sent file under its name, as far as that is harmless; of a long one the end, which tells the format."""
    given = PurePosixPath((sent.filename or "").replace("\\", "/")).name
    path = folder / (_UNSAFE.sub(" ", given)[-_NAME_CHARACTERS:].strip(" .") or "sent")
    with path.open("wb") as target:
        while piece := sent.file.read(_COPY_BYTES):
            target.write(piece)
    return path


# The progress of a job as server-sent events.


_OPERATION: Final = OPERATIONS["job"]
_MEDIA: Final = "text/event-stream"
_HEADERS: Final = {"X-Accel-Buffering": "no"}
"""Keeps a reverse proxy from holding events back."""
_RETRY_MS: Final = 1_000
_run_stoppable: Final = partial(to_thread.run_sync, abandon_on_cancel=True)


class JobEvents:
    """The ASGI application of the events of a job; who may read the job may read them."""

    def __init__(self, memories: Memories) -> None:
        self._memories = memories
        self._lock = Lock()
        self._open = Counter[str]()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        scope["state"]["route"] = EVENTS_PATH
        request = Request(scope, receive)
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
        """Answer a request."""
        scope["state"]["route"] = self._path
        call = self._calls.get(scope["method"])
        if call is None:
            raise make_method_problem(scope["method"], self._calls)
        async with call.answer(Request(scope, receive)) as response:
            await response(scope, receive, send)


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
