"""Check a model's arguments to a tool, and map them to an operation and its inputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Any, Final, cast

from credenda.errors import Invalid
from credenda.interfaces.mcp.tool_specs import Input, Route, ToolSpec
from credenda.operations.table import Operation

__all__ = ["read_arguments"]

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
}


def read_arguments(offer: ToolSpec, arguments: Mapping[str, object]) -> tuple[Operation, dict[str, Any]]:
    """Choose the operation that a call means, and return it with its inputs; null counts as omitted.

    Raises `Invalid` for an argument that is unknown, missing, of the wrong type, or of another operation of the tool.
    """
    known = offer.inputs
    for name in arguments:
        if name not in known:
            raise _make_unknown_error(offer, name)
    given = {name: value for name, value in arguments.items() if value is not None}
    route = _choose_route(offer, given)
    inputs = {one.name: one for one in route.inputs}
    if missing := [name for name in route.required if name not in given]:
        raise Invalid(f"{offer.name} needs {' and '.join(missing)}", why="it is missing", fix="give it")
    for name in [name for name in given if name not in inputs]:
        if given.pop(name) != known[name].param.default:
            what = f"{offer.name} takes no {name!r} together with {' and '.join(route.required)}"
            raise Invalid(what, why="they mean different things", fix="leave one of them out")
    read = {inputs[name].param.name: _check_type(inputs[name], value) for name, value in given.items()}
    return route.operation, {**route.always, **read}


def _make_unknown_error(offer: ToolSpec, name: str) -> Invalid:
    near = get_close_matches(name, offer.inputs, n=1)
    hint = f"did you mean {near[0]!r}?" if near else "leave it out"
    takes = ", ".join(offer.inputs) or "nothing"
    return Invalid(f"{offer.name} takes no {name[:64]!r}", why=f"it takes {takes}", fix=hint)


def _choose_route(offer: ToolSpec, given: Mapping[str, object]) -> Route:
    """Choose the operation with the most required inputs that are all given, else the first."""
    met = [route for route in offer.routes if all(name in given for name in route.required)]
    return met[-1] if met else offer.routes[0]


def _check_type(one: Input, value: Any) -> object:  # noqa: ANN401 - what a client sent
    """Check the type of a value against the JSON types."""
    kind = one.param.kind
    if _FITS.get(kind, _is_text)(value):
        return value
    if kind == "integer" and isinstance(value, float) and value.is_integer():
        return int(value)
    wanted = _WANTED.get(kind, "text")
    found = _KINDS.get(type(cast("object", value)), "something else")
    inner = "a table" if kind == "tables" else "text"
    why = f"it is {found}" if not wanted.startswith(found) else f"an item of it is not {inner}"
    raise Invalid(f"{one.name} must be {wanted}", why=why, fix=f"give {wanted}")


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_FITS: Final[Mapping[str, Callable[[Any], bool]]] = {
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": _is_number,
    "flag": lambda value: isinstance(value, bool),
    "names": lambda value: isinstance(value, list) and all(map(_is_text, cast("list[object]", value))),
    "table": lambda value: isinstance(value, dict) and all(map(_is_text, cast("Any", value).values())),
    "tables": lambda value: (
        isinstance(value, list) and all(isinstance(one, dict) for one in cast("list[object]", value))
    ),
}
