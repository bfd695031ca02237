"""The OpenAPI 3.1 document of the HTTP interface, made from the table of operations."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from typing import Any, Final

from credenda.errors import CredendaError, Forbidden, Invalid, Unauthenticated
from credenda.interfaces.json_schema import Definitions, describe_input
from credenda.model.job import JobInfo
from credenda.operations.table import OPERATIONS, Operation, Param, Rest

Part = dict[str, Any]
FILE_FIELD: Final = "file"
"""The field of a form that carries an upload."""
_BYTES: Final[Mapping[str, str]] = {"type": "string", "contentMediaType": "application/octet-stream"}
_PROBLEM: Final[Mapping[str, Any]] = {
    "type": "object",
    "description": "An error (RFC 9457): what happened, why, and what to do.",
    "properties": {
        "type": {"type": "string", "format": "uri-reference", "default": "about:blank"},
        "title": {"type": "string", "description": "What happened."},
        "status": {"type": "integer", "description": "The HTTP status."},
        "detail": {"type": "string", "description": "Why it happened."},
        "code": {"type": "string", "description": "The kind of error, for programs."},
        "retryable": {"type": "boolean", "description": "Whether the same request may succeed later."},
        "fix": {"type": "string", "description": "What to do."},
        "ids": {"type": "object", "additionalProperties": {"type": "string"}},
    },
    "required": ["title", "status", "code", "retryable"],
}
_IDEMPOTENCY_KEY: Final[Mapping[str, Any]] = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "A repeated request with this key is answered as the first one was, and nothing is done twice.",
    "schema": {"type": "string", "maxLength": 256},
}
_IF_MATCH: Final[Mapping[str, Any]] = {
    "name": "If-Match",
    "in": "header",
    "required": False,
    "description": "The ETag of an answer: nothing is changed if what the path names has changed since (412).",
    "schema": {"type": "string"},
}
_PREFER: Final[Mapping[str, Any]] = {
    "name": "Prefer",
    "in": "header",
    "required": False,
    "description": "With `respond-async` the answer is a job at once (202), and the work follows.",
    "schema": {"type": "string", "examples": ["respond-async"]},
}
_ETAG: Final[Mapping[str, Any]] = {
    "description": "The version of what the path names; send it back as If-Match.",
    "schema": {"type": "string"},
}
_EVENTS: Final = "/v1/jobs/{id}/events"
_EVENT: Final[Mapping[str, Any]] = {
    "type": "object",
    "description": "One event of the stream.",
    "properties": {
        "id": {"type": "string", "description": "The version of the job."},
        "event": {"type": "string", "description": "The state of the job."},
        "data": {"type": "string", "description": "The whole job, as JSON."},
    },
}
_LAST_EVENT: Final[Mapping[str, Any]] = {
    "name": "Last-Event-ID",
    "in": "header",
    "required": False,
    "description": "The id of the last event that arrived; the next one follows it.",
    "schema": {"type": "string"},
}
_TOKEN: Final[Mapping[str, str]] = {
    "type": "http",
    "scheme": "bearer",
    "description": "Made by `credenda token create`.",
}


def build_openapi(operations: Iterable[Operation] = OPERATIONS.values(), *, version: str) -> Part:
    """Describe every operation that is open to HTTP: routes, inputs, results, permissions and errors."""
    known = Definitions("#/components/schemas/", remote=True)
    paths: dict[str, Part] = {}
    listed = list(operations)
    for operation in listed:
        for number, route in enumerate(operation.rest):
            name = operation.name if number == 0 else f"{operation.name}-{number + 1}"
            method = route.method.lower()
            paths.setdefault(route.path, {})[method] = _describe_operation(operation, route, name, known)
    if "job" in {operation.name for operation in listed}:
        paths[_EVENTS] = {"get": _describe_events(known)}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Credenda", "version": version, "summary": "The memory of one user, named by the token."},
        "paths": paths,
        "components": {
            "schemas": {"Problem": dict(_PROBLEM), **known.schemas},
            "parameters": {
                "IdempotencyKey": dict(_IDEMPOTENCY_KEY),
                "IfMatch": dict(_IF_MATCH),
                "Prefer": dict(_PREFER),
            },
            "headers": {"ETag": dict(_ETAG)},
            "responses": _describe_errors(),
            "securitySchemes": {"token": dict(_TOKEN)},
        },
    }


def _describe_operation(operation: Operation, route: Rest, name: str, known: Definitions) -> Part:
    inputs = [param for param in operation.params_at("rest") if param.name not in route.without]
    in_path = [param for param in inputs if param.name in route.in_path]
    others = [param for param in inputs if param.name not in route.in_path and param.kind_at("rest") != "download"]
    part: Part = {
        "operationId": name,
        "summary": operation.summary,
        "tags": [route.path.split("/")[2]],
        "security": [{"token": [operation.scope]}],
    }
    parameters = [_describe_parameter(param, "path") for param in in_path]
    if route.method == "GET":
        parameters += [_describe_parameter(param, "query") for param in others]
    elif others:
        part["requestBody"] = _describe_body(others)
    parameters += _list_headers(operation, route)
    if parameters:
        part["parameters"] = parameters
    part["responses"] = {
        str(route.status): _describe_success(operation, route, known),
        **_list_failures(operation),
    }
    if may_take_version(route):
        part["responses"]["412"] = {"$ref": "#/components/responses/PreconditionFailed"}
    if operation.long:
        # Describe the answer to a call that goes on in the background.
        content = {"application/json": {"schema": known.schema_of(JobInfo)}}
        location = {"description": "Where the job is found.", "schema": {"type": "string"}}
        described = "It is queued: the job says how far it is."
        part["responses"]["202"] = {"description": described, "headers": {"Location": location}, "content": content}
    return part


def _describe_events(known: Definitions) -> Part:
    """Describe the stream of a job: it is no operation of its own."""
    job = OPERATIONS["job"]
    known.schema_of(JobInfo)
    return {
        "operationId": "job-events",
        "summary": "Follow a job: server-sent events, each with the whole job, until it has ended.",
        "tags": ["jobs"],
        "security": [{"token": [job.scope]}],
        "parameters": [*(_describe_parameter(param, "path") for param in job.params), dict(_LAST_EVENT)],
        "responses": {
            "200": {"description": "The events.", "content": {"text/event-stream": {"schema": dict(_EVENT)}}},
            "204": {"description": "The job has ended, and that event has arrived."},
            **_list_failures(job),
        },
    }


def _describe_parameter(param: Param, place: str) -> Part:
    schema = describe_input(param)
    shown: Part = {"name": param.name, "in": place, "description": schema.pop("description"), "schema": schema}
    if place == "path":
        return {**shown, "required": True}
    if param.kind == "table":
        shown |= {"style": "deepObject", "explode": True}
    return {**shown, "required": param.required}


def _describe_body(params: list[Param]) -> Part:
    """Describe a body: JSON, or a form where a file is sent."""
    uploads = {param.name for param in params if param.kind_at("rest") == "upload"}
    properties = {
        FILE_FIELD if param.name in uploads else param.name: (
            {**_BYTES, "description": param.help}
            if param.name in uploads
            else _describe_field(param, form=bool(uploads))
        )
        for param in params
    }
    required = [FILE_FIELD if param.name in uploads else param.name for param in params if param.required]
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    media = "multipart/form-data" if uploads else "application/json"
    content = {media: {"schema": {**schema, "required": required} if required else schema}}
    return {"required": bool(required), "content": content}


def _describe_field(param: Param, *, form: bool) -> Part:
    """Describe a field of a body; in JSON an input that may be left out may also be null."""
    schema = describe_input(param, "rest")
    if form or param.required:
        return schema
    if "enum" in schema:
        schema["enum"] = [*schema["enum"], None]
    return {**schema, "type": [schema["type"], "null"]}


def _list_headers(operation: Operation, route: Rest) -> list[Part]:
    names = ["IdempotencyKey"] if may_take_key(operation, route) else []
    names += ["IfMatch"] if may_take_version(route) else []
    names += ["Prefer"] if operation.long else []
    return [{"$ref": f"#/components/parameters/{name}"} for name in names]


def may_take_key(operation: Operation, route: Rest) -> bool:
    """Say whether repeating a request would do more than the first one did, so that a key is of use."""
    return operation.writes and not operation.idempotent and route.method in {"POST", "PATCH"}


def may_take_version(route: Rest) -> bool:
    """Say whether a route changes something that has versions."""
    return route.versioned and route.method != "GET"


def _describe_success(operation: Operation, route: Rest, known: Definitions) -> Part:
    described: Part = {"description": "Done." if operation.writes else "The answer."}
    if any(param.kind_at("rest") == "download" for param in operation.params):
        return {**described, "content": {"application/octet-stream": {"schema": dict(_BYTES)}}}
    if operation.output is None or route.status == 204:  # noqa: PLR2004 - the status of an empty answer
        return described
    if route.versioned:
        described["headers"] = {"ETag": {"$ref": "#/components/headers/ETag"}}
    return {**described, "content": {"application/json": {"schema": known.schema_of(operation.output)}}}


def _list_failures(operation: Operation) -> Part:
    """Refer to the errors of an operation; `default` stands for those of every request, such as a full queue."""
    errors = {*operation.errors, Invalid, Unauthenticated, Forbidden}
    found = {str(error.http_status): error.__name__ for error in sorted(errors, key=lambda error: error.http_status)}
    found["default"] = CredendaError.__name__
    return {status: {"$ref": f"#/components/responses/{name}"} for status, name in found.items()}


def _describe_errors() -> Part:
    """Describe an answer for each class of the table of errors."""
    kinds: list[type[CredendaError]] = [
        *[kind for kind in CredendaError.__subclasses__() if not kind.__name__.startswith("_")],
        CredendaError,
    ]
    found = {kind.__name__: _describe_problem(inspect.cleandoc(kind.__doc__ or ""), kind.code) for kind in kinds}
    found["PreconditionFailed"] = _describe_problem(
        "What the path names has another version than If-Match says; `ids` has both.", "precondition_failed"
    )
    found[CredendaError.__name__] = _describe_problem("Any other error: its status and code say which.", "")
    return found


def _describe_problem(description: str, code: str) -> Part:
    schema: Part = {"$ref": "#/components/schemas/Problem"}
    if code:
        schema = {"allOf": [schema, {"properties": {"code": {"const": code}}}]}
    return {"description": description, "content": {"application/problem+json": {"schema": schema}}}
