"""Rows of a table become values: which columns, and what is made of their cells."""

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
"""Columns that are not called like their fields."""


class RowMapper(Generic[T]):
    """How rows of one table become values: which columns, in the order of the fields, and what is made of them."""

    def __init__(
        self, kind: type[T], *, ids: Mapping[str, IdKind], converted: Mapping[str, Callable[[Any], object]]
    ) -> None:
        """`ids` names the fields that hold a number and show an id, `converted` what other fields are made with."""
        self.columns: Final = tuple(_COLUMN_NAMES.get(name, name) for name in list_field_names(kind))
        expressions = {name: f"convert_{name}({name})" for name in converted}
        expressions |= {name: f"public_id(kind_of_{name}, {name}, tag_) if {name} else None" for name in ids}
        space: dict[str, object] = {f"convert_{name}": convert for name, convert in converted.items()}
        space |= {f"kind_of_{name}": one for name, one in ids.items()} | {"public_id": format_id}
        self.of: Final[Callable[[Sequence[Any], str], T]] = compile_unpacker(kind, "cells_, tag_", expressions, space)
        """Makes a value of the cells of `columns` and the tenant's tag."""

    def to_values(self, columns: Sequence[str], rows: Sequence[Sequence[Any]], tag: str) -> list[T]:
        """Make a value of each plain row whose cells are those of `columns`, of which some may be of no use here."""
        if not rows:
            return []
        given = tuple(columns)
        picked = rows if given == self.columns else map(_make_picker(given, self.columns), rows)
        return [self.of(row, tag) for row in picked]


@lru_cache(maxsize=64)
def _make_picker(columns: tuple[str, ...], wanted: tuple[str, ...]) -> Callable[[Sequence[Any]], Sequence[Any]]:
    return itemgetter(*(columns.index(name) for name in wanted))
