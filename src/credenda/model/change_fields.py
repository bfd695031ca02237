"""Fields of a memory in the change log, converted to values. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, Final, cast

from credenda.model.memory import Cardinality, Draft, Layer, MemoryType, Relation, Stance, Status

__all__ = ["DRAFT_FIELDS", "parse_fields", "to_draft"]

DRAFT_FIELDS: Final = tuple(field.name for field in fields(Draft))
_ENUMS: Final[Mapping[str, type[Any]]] = {
    "type": MemoryType,
    "cardinality": Cardinality,
    "stance": Stance,
    "layer": Layer,
    "status": Status,
    "relation": Relation,
}


def parse_fields(plain: Mapping[str, object]) -> dict[str, object]:
    """Convert the fields of a log entry to values.

    >>> parse_fields({"status": "active", "tags": ["a"]})
    {'status': <Status.ACTIVE: 'active'>, 'tags': ('a',)}
    """
    return {name: _parse_value(name, value) for name, value in plain.items()}


def _parse_value(name: str, value: object) -> object:
    if value is not None and name in _ENUMS:
        return _ENUMS[name](value)
    return tuple(cast("list[object]", value)) if isinstance(value, list) else value


def to_draft(after: Mapping[str, object]) -> Draft:
    """Build the draft from an `add` entry; an entry with redacted words gives a draft without words."""
    said: dict[str, Any] = {"text": "", "type": MemoryType.FACT}
    said.update((name, value) for name, value in parse_fields(after).items() if name in DRAFT_FIELDS)
    return Draft(**said)
