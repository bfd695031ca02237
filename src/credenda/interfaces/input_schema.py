"""JSON Schema of the inputs of operations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from credenda.interfaces.serialize import to_jsonable
from credenda.operations.table import Param, ParamKind

__all__ = ["describe_input"]

_TEXT: Final[Mapping[str, Any]] = {"type": "string"}
_TYPES: Final[Mapping[ParamKind, Mapping[str, Any]]] = {
    "integer": {"type": "integer"},
    "number": {"type": "number"},
    "flag": {"type": "boolean"},
    "table": {"type": "object", "additionalProperties": _TEXT},
    "tables": {"type": "array", "items": {"type": "object", "additionalProperties": _TEXT}},
}


def describe_input(param: Param) -> dict[str, Any]:
    """Describe an input as JSON Schema, with the words that it takes, its default and its meaning."""
    words = {**_TEXT, "enum": list(param.choices)} if param.choices else dict(_TEXT)
    known = dict(_TYPES.get(param.kind, words))
    schema = {"type": "array", "items": words} if param.kind == "names" else known
    if param.default not in {None, "", ()}:
        schema["default"] = to_jsonable(param.default)
    return schema | {"description": param.help + (" RFC 3339." if param.kind == "time" else "")}
