"""JSON Schema of the types that results and inputs are made of, as `plain` writes their values.

It knows dataclasses, named tuples, `TypedDict`s, enumerations, `Literal`s, unions, sequences, sets, mappings, times and
numbers. Descriptions come from docstrings: of a class, and of the string below a field.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import is_dataclass
from datetime import datetime
from enum import Enum
from functools import cache
from itertools import pairwise
from textwrap import dedent
from types import NoneType, UnionType
from typing import (
    Any,
    Final,
    Literal,
    NotRequired,
    TypeGuard,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from credenda.errors import CredendaError, Forbidden, Invalid, Unauthenticated
from credenda.interfaces.serialize import get_json_name, get_shown_type, get_type, list_public_fields, to_jsonable
from credenda.model.job import JobInfo
from credenda.operation import Door, Operation, Param, ParamKind, Rest
from credenda.operations import OPERATIONS

Schema = dict[str, Any]
_TIME: Final[Mapping[str, str]] = {"type": "string", "format": "date-time"}
_SCALARS: Final[Mapping[object, Mapping[str, object]]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    bytes: {"type": "array", "items": {"type": "integer"}},
    datetime: _TIME,
    None: {"type": "null"},
    NoneType: {"type": "null"},
    object: {},
    Any: {},
}
_ARRAYS: Final = frozenset({list, Sequence, Collection, frozenset, AbstractSet})
_TABLES: Final = frozenset({dict, Mapping})


class Definitions:
    """Schemas of named types; each is described once, under its name, and referred to from everywhere else."""

    def __init__(self, place: str = "#/$defs/", *, remote: bool = False) -> None:
        """Begin with none; `place` is where the definitions stand in the document.

        With `remote` the fields that hold paths of this machine are left out, as in `to_jsonable`.
        """
        self._remote = remote
        self.schemas: dict[str, Schema] = {}
        self._place = place
        self._names: dict[object, str] = {}

    def schema_of(self, kind: Any, *, time: bool = False) -> Schema:  # noqa: ANN401 - any annotation
        """Return the schema of a type; `time` says that its integers are microseconds, which JSON shows as times."""
        if time and kind is int:
            return dict(_TIME)
        origin, inner = get_origin(kind), get_args(kind)
        if origin is None:
            return (
                self._index_pair(kind)
                if (_is_dataclass(kind) or is_typeddict(kind) or hasattr(kind, "_fields") or _is_enumeration(kind))
                else dict(_SCALARS[kind])
            )
        if origin is NotRequired:
            return self.schema_of(inner[0])
        if origin in {Union, UnionType}:
            return {"anyOf": [self.schema_of(one, time=time) for one in inner]}
        if _is_dataclass(origin):
            return self._index_pair(kind)
        return self._generic(kind, origin, inner)

    def _generic(self, kind: object, origin: Any, inner: tuple[Any, ...]) -> Schema:  # noqa: ANN401 - as above
        if origin is Literal:
            return {"type": "string", "enum": list(inner)}
        if origin is tuple:
            return self._tuple(inner)
        if origin in _TABLES:
            values = self.schema_of(inner[1])
            return {"type": "object", **({"additionalProperties": values} if values else {})}
        if origin not in _ARRAYS:
            raise TypeError(f"there is no schema of {kind}")
        return {"type": "array", "items": self.schema_of(inner[0])}

    def _tuple(self, inner: tuple[Any, ...]) -> Schema:
        if inner[-1] is ...:
            return {"type": "array", "items": self.schema_of(inner[0])}
        places = [self.schema_of(one) for one in inner]
        return {"type": "array", "prefixItems": places, "minItems": len(places), "maxItems": len(places)}

    def _index_pair(self, kind: Any) -> Schema:  # noqa: ANN401 - as above
        if kind not in self._names:
            origin, inner = get_origin(kind) or kind, get_args(kind)
            name = "".join(one.__name__ for one in (*inner, origin))
            if name in self.schemas:  # a second class of the same name carries the name of its module
                name = origin.__module__.rpartition(".")[2].capitalize() + name
            self._names[kind] = name
            self.schemas[name] = {}  # it may hold itself
            self.schemas[name] = self.object_of(kind)
        return {"$ref": self._place + self._names[kind]}

    def object_of(self, kind: Any) -> Schema:  # noqa: ANN401 - as above
        """Return the schema of an object itself, where `schema_of` may refer to its definition."""
        origin = get_origin(kind) or kind
        about = {"description": inspect.cleandoc(origin.__doc__)} if origin.__doc__ else {}
        if _is_enumeration(origin):
            return {"type": "string", "enum": [one.value for one in origin], **about}
        if _is_dataclass(origin):
            shown = get_shown_type(origin)
            return {**(self._dataclass(origin, kind) if shown is origin else self._table(shown)), **about}
        if is_typeddict(origin):
            return {**self._table(origin), **about}
        return {**self._tuple(tuple(get_type_hints(origin).values())), **about}

    def _dataclass(self, kind: type, whole: object) -> Schema:
        variables: tuple[object, ...] = getattr(kind, "__parameters__", ())
        filled = dict(zip(variables, get_args(whole), strict=True))
        docs = _read_field_docs(kind)
        properties: dict[str, Schema] = {}
        for name, attribute in list_public_fields(kind, remote=self._remote):
            annotation = _fill(get_type(kind, attribute), filled)
            about = docs.get(attribute)
            schema = self.schema_of(annotation, time=attribute.endswith("_us"))
            properties[name] = {**schema, "description": about} if about else schema
        return {"type": "object", "properties": properties, "required": list(properties)}

    def _table(self, kind: type) -> Schema:
        hints = get_type_hints(kind, include_extras=True)
        properties = {name: self.schema_of(one) for name, one in hints.items()}
        return {
            "type": "object",
            "properties": properties,
            "required": [name for name, one in hints.items() if get_origin(one) is not NotRequired],
        }


def _is_dataclass(kind: object) -> TypeGuard[type]:
    return isinstance(kind, type) and is_dataclass(kind)


def _is_enumeration(kind: object) -> TypeGuard[type[Enum]]:
    return isinstance(kind, type) and issubclass(kind, Enum)


def _fill(annotation: Any, filled: Mapping[object, object]) -> Any:  # noqa: ANN401 - any annotation
    """Put types in the place of the variables of a generic class."""
    if isinstance(annotation, TypeVar):
        return filled[annotation]
    inner = get_args(annotation)
    if not filled or not inner:
        return annotation
    return _put_inside(annotation, tuple(_fill(one, filled) for one in inner))


def _put_inside(annotation: Any, inner: tuple[Any, ...]) -> Any:  # noqa: ANN401 - any annotation
    origin: Any = get_origin(annotation)
    return Union[inner] if origin is UnionType else origin[inner]  # noqa: UP007 - the types are known at run time alone


@cache
def _read_field_docs(kind: type) -> Mapping[str, str]:
    """Return what the strings below the fields of a class say, and the docstrings of times, by attribute."""
    found: dict[str, str] = {}
    for owner in reversed(kind.__mro__):
        if _is_dataclass(owner):
            found |= _find_strings_below_fields(owner)
    for _, attribute in list_public_fields(kind):
        bare = getattr(kind, get_json_name(attribute), None)
        if isinstance(bare, property) and bare.__doc__:
            found.setdefault(attribute, inspect.cleandoc(bare.__doc__))
    return found


def _find_strings_below_fields(kind: type) -> dict[str, str]:
    try:
        tree = ast.parse(dedent(inspect.getsource(kind)))
    except (OSError, TypeError):  # a distribution without sources says less, and so does a class made at run time
        return {}
    body = tree.body[0].body if isinstance(tree.body[0], ast.ClassDef) else []
    found: dict[str, str] = {}
    for field, below in pairwise(body):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and isinstance(below, ast.Expr):
            text = below.value.value if isinstance(below.value, ast.Constant) else None
            found |= {field.target.id: inspect.cleandoc(text)} if isinstance(text, str) else {}
    return found


# JSON Schema of the inputs of operations.


_TEXT: Final[Mapping[str, Any]] = {"type": "string"}
_MESSAGE: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {
        "role": {**_TEXT, "description": "user, assistant, system, tool, document or person.", "default": "user"},
        "content": {**_TEXT, "description": "What was said."},
        "name": {**_TEXT, "description": "Who said it; a person needs one."},
        "timestamp": {**_TEXT, "description": "When it was said. RFC 3339."},
        "id": {**_TEXT, "description": "The id that it has elsewhere."},
    },
    "required": ["content"],
}
_TYPES: Final[Mapping[ParamKind, Mapping[str, Any]]] = {
    "integer": {"type": "integer"},
    "number": {"type": "number"},
    "flag": {"type": "boolean"},
    "table": {"type": "object", "additionalProperties": _TEXT},
    "tables": {"type": "array", "items": {"type": "object", "additionalProperties": _TEXT}},
    "messages": {"anyOf": [_TEXT, {"type": "array", "minItems": 1, "items": _MESSAGE}]},
}


def describe_input(param: Param, door: Door = "mcp") -> dict[str, Any]:
    """Describe an input of a door as JSON Schema, with the words that it takes, its default and its meaning."""
    words = {**_TEXT, "enum": list(param.choices)} if param.choices else dict(_TEXT)
    known = dict(_TYPES.get(param.kind_at(door) or param.kind, words))
    schema = {"type": "array", "items": words} if param.kind == "names" else known
    if param.default not in {None, "", ()}:
        schema["default"] = to_jsonable(param.default)
    return schema | {"description": param.help + (" RFC 3339." if param.kind == "time" else "")}


# Check the types of inputs that arrive as JSON, for every door that takes JSON.


_KINDS: Final[Mapping[type, str]] = {
    type(None): "null",
    bool: "true or false",
    int: "a number",
    float: "a number",
    str: "text",
    list: "a list",
    dict: "a table",
}
_WANTED: Final[Mapping[str, str]] = {
    "integer": "a whole number",
    "number": "a number",
    "flag": "true or false",
    "names": "a list of words",
    "table": "a table of words",
    "tables": "a list of tables",
    "messages": "text, or a list of messages",
}


def check_type(name: str, param: Param, value: Any, door: Door = "mcp") -> object:  # noqa: ANN401 - what a client sent
    """Return a value if it has the JSON type of an input; raises `Invalid`, with the name that the caller used."""
    kind = param.kind_at(door) or param.kind
    if value == "" and param.choices:
        raise Invalid(f"{name} is empty", why="it would choose nothing", fix=f"give one of {', '.join(param.choices)}")
    if _FITS.get(kind, _is_text)(value):
        return value
    if kind == "integer" and isinstance(value, float) and value.is_integer():
        return int(value)
    wanted = _WANTED.get(kind, "text")
    found = _KINDS.get(type(cast("object", value)), "something else")
    inner = "a table" if kind in {"tables", "messages"} else "text"
    why = f"it is {found}" if not wanted.startswith(found) else f"an item of it is not {inner}"
    raise Invalid(f"{name} must be {wanted}", why=why, fix=f"give {wanted}")


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _are_tables(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(one, dict) for one in cast("list[object]", value))


_FITS: Final[Mapping[str, Callable[[Any], bool]]] = {
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "flag": lambda value: isinstance(value, bool),
    "names": lambda value: isinstance(value, list) and all(map(_is_text, cast("list[object]", value))),
    "table": lambda value: isinstance(value, dict) and all(map(_is_text, cast("Any", value).values())),
    "tables": _are_tables,
    "messages": lambda value: _is_text(value) or _are_tables(value),
}


# The OpenAPI 3.1 document of the HTTP interface, made from the table of operations.


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


def _describe_header(name: str, description: str, **bounds: object) -> Part:
    schema = {"type": "string", **bounds}
    return {"name": name, "in": "header", "required": False, "description": description, "schema": schema}


_KEY_TEXT: Final = "A repeated request with this key is answered as the first one was, and nothing is done twice."
_MATCH_TEXT: Final = "The ETag of an answer: nothing is changed if what the path names has changed since (412)."
_PREFER_TEXT: Final = "With `respond-async` the answer is a job at once (202), and the work follows."
_LAST_EVENT_TEXT: Final = "The id of the last event that arrived; the next one follows it."
_ETAG: Final[Mapping[str, Any]] = {
    "description": "The version of what the path names; send it back as If-Match.",
    "schema": {"type": "string"},
}
EVENTS_PATH: Final = "/v1/jobs/{id}/events"
_EVENT: Final[Mapping[str, Any]] = {
    "type": "object",
    "description": "One event of the stream.",
    "properties": {
        "id": {"type": "string", "description": "The version of the job."},
        "event": {"type": "string", "description": "The state of the job."},
        "data": {"type": "string", "description": "The whole job, as JSON."},
    },
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
        # Describe the stream of a job: it is no operation of its own.
        job = OPERATIONS["job"]
        known.schema_of(JobInfo)
        paths[EVENTS_PATH] = {
            "get": {
                "operationId": "job-events",
                "summary": "Follow a job: server-sent events, each with the whole job, until it has ended.",
                "tags": ["jobs"],
                "security": [{"token": [job.scope]}],
                "parameters": [
                    *(_describe_parameter(param, "path") for param in job.params),
                    _describe_header("Last-Event-ID", _LAST_EVENT_TEXT),
                ],
                "responses": {
                    "200": {"description": "The events.", "content": {"text/event-stream": {"schema": dict(_EVENT)}}},
                    "204": {"description": "The job has ended, and that event has arrived."},
                    **_list_failures(job),
                },
            }
        }
    kinds: list[type[CredendaError]] = [
        *[kind for kind in CredendaError.__subclasses__() if not kind.__name__.startswith("_")],
        CredendaError,
    ]
    found = {kind.__name__: _describe_problem(inspect.cleandoc(kind.__doc__ or ""), kind.code) for kind in kinds}
    found["PreconditionFailed"] = _describe_problem(
        "What the path names has another version than If-Match says; `ids` has both.", "precondition_failed"
    )
    found[CredendaError.__name__] = _describe_problem("Any other error: its status and code say which.", "")
    return {
        "openapi": "3.1.0",
        "info": {"title": "Credenda", "version": version, "summary": "The memory of one user, named by the token."},
        "paths": paths,
        "components": {
            "schemas": {"Problem": dict(_PROBLEM), **known.schemas},
            "parameters": {
                "IdempotencyKey": _describe_header("Idempotency-Key", _KEY_TEXT, maxLength=256),
                "IfMatch": _describe_header("If-Match", _MATCH_TEXT),
                "Prefer": _describe_header("Prefer", _PREFER_TEXT, examples=["respond-async"]),
            },
            "headers": {"ETag": dict(_ETAG)},
            "responses": found,
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
        # JSON, or a form where a file is sent.
        uploads = {param.name for param in others if param.kind_at("rest") == "upload"}
        properties = {
            FILE_FIELD if param.name in uploads else param.name: (
                {**_BYTES, "description": param.help}
                if param.name in uploads
                else _describe_field(param, form=bool(uploads))
            )
            for param in others
        }
        required = [FILE_FIELD if param.name in uploads else param.name for param in others if param.required]
        schema = {"type": "object", "properties": properties, "additionalProperties": False}
        media = "multipart/form-data" if uploads else "application/json"
        content = {media: {"schema": {**schema, "required": required} if required else schema}}
        part["requestBody"] = {"required": bool(required), "content": content}
    names = ["IdempotencyKey"] if may_take_key(operation, route) else []
    names += ["IfMatch"] if may_take_version(route) else []
    names += ["Prefer"] if operation.long else []
    parameters += [{"$ref": f"#/components/parameters/{name}"} for name in names]
    if parameters:
        part["parameters"] = parameters
    answer: Part = {"description": "Done." if operation.writes else "The answer."}
    if any(param.kind_at("rest") == "download" for param in operation.params):
        success = {**answer, "content": {"application/octet-stream": {"schema": dict(_BYTES)}}}
    elif operation.output is None or route.status == 204:  # noqa: PLR2004 - the status of an empty answer
        success = answer
    else:
        if route.versioned:
            answer["headers"] = {"ETag": {"$ref": "#/components/headers/ETag"}}
        success = {**answer, "content": {"application/json": {"schema": known.schema_of(operation.output)}}}
    part["responses"] = {
        str(route.status): success,
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


def _describe_parameter(param: Param, place: str) -> Part:
    schema = describe_input(param)
    shown: Part = {"name": param.name, "in": place, "description": schema.pop("description"), "schema": schema}
    if place == "path":
        return {**shown, "required": True}
    if param.kind == "table":
        shown |= {"style": "deepObject", "explode": True}
    return {**shown, "required": param.required}


def _describe_field(param: Param, *, form: bool) -> Part:
    """Describe a field of a body; in JSON an input that may be left out may also be null."""
    schema = describe_input(param, "rest")
    if form or param.required:
        return schema
    if "enum" in schema:
        schema["enum"] = [*schema["enum"], None]
    return {**schema, "type": [schema["type"], "null"]}


def may_take_key(operation: Operation, route: Rest) -> bool:
    """Say whether repeating a request would do more than the first one did, so that a key is of use."""
    return operation.writes and not operation.idempotent and route.method in {"POST", "PATCH"}


def may_take_version(route: Rest) -> bool:
    """Say whether a route changes something that has versions."""
    return route.versioned and route.method != "GET"


def _list_failures(operation: Operation) -> Part:
    """Refer to the errors of an operation; `default` stands for those of every request, such as a full queue."""
    errors = {*operation.errors, Invalid, Unauthenticated, Forbidden}
    found = {str(error.http_status): error.__name__ for error in sorted(errors, key=lambda error: error.http_status)}
    found["default"] = CredendaError.__name__
    return {status: {"$ref": f"#/components/responses/{name}"} for status, name in found.items()}


def _describe_problem(description: str, code: str) -> Part:
    schema: Part = {"$ref": "#/components/schemas/Problem"}
    if code:
        schema = {"allOf": [schema, {"properties": {"code": {"const": code}}}]}
    return {"description": description, "content": {"application/problem+json": {"schema": schema}}}
