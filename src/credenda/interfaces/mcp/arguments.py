"""Check a model's arguments to a tool, and map them to an operation and its inputs."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from credenda.errors import Invalid
from credenda.interfaces.input_types import check_type
from credenda.interfaces.mcp.tool_specs import Route, ToolSpec
from credenda.operations.table import Operation

__all__ = ["read_arguments"]


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
    read = {inputs[name].param.name: check_type(name, inputs[name].param, value) for name, value in given.items()}
    return route.operation, {**route.always, **read}


def _make_unknown_error(offer: ToolSpec, name: str) -> Invalid:
    near = get_close_matches(name, offer.inputs, n=1)
    hint = f"did you mean {near[0]!r}?" if near else "leave it out"
    takes = ", ".join(offer.inputs) or "nothing"
    return Invalid(f"{offer.name} takes no {name[:64]!r}", why=f"it takes {takes}", fix=hint)


def _choose_route(offer: ToolSpec, given: Mapping[str, object]) -> Route:
    """Choose the operation with the most required inputs that are all given, else the first; by the kind of an id."""
    met = [route for route in offer.routes if all(name in given for name in route.required)]
    fitting = [route for route in met if route.kind is None or _has_kind(route, given)]
    return fitting[-1] if fitting else offer.routes[0]


def _has_kind(route: Route, given: Mapping[str, object]) -> bool:
    """Return whether the given id begins as those of the route's kind do."""
    return all(str(given[name]).strip().startswith(route.kind or "") for name in route.required)
