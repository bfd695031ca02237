"""JSON Schema of the inputs of operations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from credenda.interfaces.serialize import to_jsonable
from credenda.operations.table import Door, Param, ParamKind

__all__ = ["describe_input"]

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
