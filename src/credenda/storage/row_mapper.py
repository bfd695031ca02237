"""Mapping of table rows to dataclass instances."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Any, Final, Generic, TypeVar

from credenda.ids import IdKind, format_id
from credenda.model.fast_dataclass import compile_unpacker, list_field_names

__all__ = ["RowMapper"]

T = TypeVar("T")
_COLUMN_NAMES: Final = {
    "session": "session_id",
    "agent": "agent_id",
    "occurred_us": "occurred_at",
    "recorded_us": "recorded_at",
    "created_us": "created_at",
    "expired_us": "expired_at",
    "expires_us": "expires_at",
    "redacted_us": "redacted_at",
    "valid_from_us": "valid_from",
    "valid_until_us": "valid_until",
    "last_accessed_us": "last_accessed",
}
"""Columns whose names differ from their fields' names."""


class RowMapper(Generic[T]):
    """Maps rows of one table to instances of a dataclass: columns in the order of the fields, and their converters."""

    def __init__(
        self, kind: type[T], *, ids: Mapping[str, IdKind], converted: Mapping[str, Callable[[Any], object]]
    ) -> None:
        """Take `ids`, the fields that store a number and show an id, and `converted`, other fields' converters."""
        self.columns: Final = tuple(_COLUMN_NAMES.get(name, name) for name in list_field_names(kind))
        expressions = {name: f"convert_{name}({name})" for name in converted}
        expressions |= {name: f"public_id(kind_of_{name}, {name}, tag_) if {name} else None" for name in ids}
        space: dict[str, object] = {f"convert_{name}": convert for name, convert in converted.items()}
        space |= {f"kind_of_{name}": one for name, one in ids.items()} | {"public_id": format_id}
        self.of: Final[Callable[[Sequence[Any], str], T]] = compile_unpacker(kind, "cells_, tag_", expressions, space)
        """Build an instance from the cells of `columns` and the tenant's tag."""

    def to_values(self, columns: Sequence[str], rows: Sequence[Sequence[Any]], tag: str) -> list[T]:
        """Build an instance from each row with these columns; columns that the dataclass lacks are ignored."""
        if not rows:
            return []
        given = tuple(columns)
        picked = rows if given == self.columns else map(_make_picker(given, self.columns), rows)
        return [self.of(row, tag) for row in picked]


@lru_cache(maxsize=64)
def _make_picker(columns: tuple[str, ...], wanted: tuple[str, ...]) -> Callable[[Sequence[Any]], Sequence[Any]]:
    return itemgetter(*(columns.index(name) for name in wanted))
