"""Check the types of inputs that arrive as JSON, for every door that takes JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, cast

from credenda.errors import Invalid
from credenda.operations.table import Door, Param

__all__ = ["check_type"]

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


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _are_tables(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(one, dict) for one in cast("list[object]", value))


_FITS: Final[Mapping[str, Callable[[Any], bool]]] = {
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": _is_number,
    "flag": lambda value: isinstance(value, bool),
    "names": lambda value: isinstance(value, list) and all(map(_is_text, cast("list[object]", value))),
    "table": lambda value: isinstance(value, dict) and all(map(_is_text, cast("Any", value).values())),
    "tables": _are_tables,
    "messages": lambda value: _is_text(value) or _are_tables(value),
}
