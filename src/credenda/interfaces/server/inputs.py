"""Read the inputs of an operation from a request: its path, its query, a JSON body, or a form with a file."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, cast

import anyio
from anyio import to_thread
from starlette.datastructures import FormData, QueryParams, UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.types import Message, Receive

from credenda import limits
from credenda.errors import Invalid
from credenda.interfaces.dispatch import ServerFile
from credenda.interfaces.json_schema import check_type
from credenda.interfaces.openapi import FILE_FIELD
from credenda.interfaces.server.json_bounds import check_bounds
from credenda.interfaces.server.problems import Problem
from credenda.operations.table import Operation, Param, Rest

_FLAGS: Final = {"true": True, "false": False}
_SUFFIXES: Final = frozenset({".jsonl", ".json", ".md", ".txt", ".html", ".gz", ".zip"})
"""Endings of an uploaded file's name that are kept, because an import may tell the format by them."""
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
    with _make_folder(bool(_FILES & set(kinds.values()))) as folder:
        body = b""
        if route.method == "GET":
            given |= _read_query(request.query_params, others)
        else:
            _refuse_query(request)
            if "upload" in kinds.values():
                given |= await _read_form(request, others, Path(folder))
            else:
                body = await read_body(request)
                given |= _check_inputs(_parse_object(request, body), others, operation)
        missing = [name for name, param in others.items() if param.required and name not in given]
        if missing:
            raise Invalid(f"{operation.name} needs {' and '.join(missing)}", why="it is missing", fix="give it")
        download = next((Path(folder) / name for name, kind in kinds.items() if kind == "download"), None)
        if download is not None:
            given[download.name] = ServerFile(download)
        yield Inputs(given, body, download)


def _make_folder(wanted: bool) -> AbstractContextManager[str]:  # noqa: FBT001 - the one argument
    """Make a folder for the files of a request, which few have."""
    if not wanted:
        return nullcontext("")
    return TemporaryDirectory(prefix="credenda-", ignore_cleanup_errors=True)


def _check_inputs(sent: Mapping[str, Any], params: Mapping[str, Param], operation: Operation) -> dict[str, object]:
    """Check names and types of the fields of a body; null counts as omitted."""
    for name in sent:
        if name not in params:
            takes = ", ".join(params) or "nothing"
            raise Invalid(f"{operation.name} takes no {name[:64]!r} here", fix=f"it takes {takes}")
    return {name: check_type(name, params[name], value, "rest") for name, value in sent.items() if value is not None}


# The query


def _refuse_query(request: Request) -> None:
    if request.query_params:
        raise Invalid("this request takes no query", fix="put its inputs in the body")


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
        return await _take_fields(form, params, folder)


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
    except HTTPException as error:
        raise Problem(400, "the form cannot be read", detail=str(error.detail)[:200]) from None
    except ClientDisconnect:
        raise Problem(400, "the request was broken off") from None


async def _take_fields(form: FormData, params: Mapping[str, Param], folder: Path) -> dict[str, object]:
    upload = next(param.name for param in params.values() if param.kind_at("rest") == "upload")
    found: dict[str, object] = {}
    for name, value in form.multi_items():
        wanted = upload if name == FILE_FIELD else name
        if wanted in found:
            raise Invalid(f"{name[:64]} is given twice", fix="give it once")
        if isinstance(value, UploadFile) != (name == FILE_FIELD) or wanted not in params:
            raise Invalid(f"there is no field {name[:64]!r}", fix=f"send the file as {FILE_FIELD!r}")
        if isinstance(value, UploadFile):
            found[upload] = ServerFile(await to_thread.run_sync(_keep_upload, value, folder))
        else:
            found[name] = _parse_word(name, params[name], value)
    return found


def _keep_upload(sent: UploadFile, folder: Path) -> Path:
    """Copy a sent file under a name that we choose, with the endings that a format is told by."""
    endings = "".join(one for one in Path(sent.filename or "").suffixes[-2:] if one.casefold() in _SUFFIXES)
    path = folder / f"sent{endings}"
    with path.open("wb") as target:
        while piece := sent.file.read(_COPY_BYTES):
            target.write(piece)
    return path
