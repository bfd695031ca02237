"""Mapping of table rows to dataclass instances."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import fields
from functools import lru_cache
from operator import itemgetter
from types import MappingProxyType
from typing import Any, Final, Generic, TypeVar

from credenda.ids import IdKind, format_id
from credenda.model.fast_dataclass import compile_unpacker, list_field_names
from credenda.storage.damage import IMPOSSIBLE, make_damage_error

__all__ = ["SHORT", "RowMapper", "compile_type_check", "expand_fields", "shorten_fields"]

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
        self,
        kind: type[T],
        table: str = "",
        *,
        ids: Mapping[str, IdKind],
        converted: Mapping[str, Callable[[Any], object]],
        unstored: Mapping[str, object] = MappingProxyType({}),
    ) -> None:
        """Take `ids`, the fields that store a number and show an id, and `converted`, other fields' converters.

        `unstored` are the values of fields that have no column.
        """
        stored = (name for name in list_field_names(kind) if name not in unstored)
        self.columns: Final = tuple(_COLUMN_NAMES.get(name, name) for name in stored)
        expressions = {name: f"convert_{name}({name})" for name in converted}
        expressions |= {name: f"public_id(kind_of_{name}, {name}, tag_) if {name} else None" for name in ids}
        expressions |= {name: repr(value) for name, value in unstored.items()}
        space: dict[str, object] = {f"convert_{name}": convert for name, convert in converted.items()}
        space |= {f"kind_of_{name}": one for name, one in ids.items()} | {"public_id": format_id}
        checks = _write_type_checks(kind, ids=ids, converted=converted)
        self._of: Final[Callable[[Sequence[Any], str], T]] = compile_unpacker(
            kind, "cells_, tag_", expressions, space, checks=checks, made=unstored.keys()
        )
        self._table = table
        key, self._kind = next(iter(ids.items()))
        self._place = self.columns.index(_COLUMN_NAMES.get(key, key))

    def of(self, cells: Sequence[Any], tag: str) -> T:
        """Build an instance from the cells of `columns` and the tenant's tag; raises `Corrupt` for a damaged row."""
        return self._build([cells], tag)[0]

    def _build(self, rows: Iterable[Sequence[Any]], tag: str) -> list[T]:
        done: list[T] = []
        cells: Sequence[Any] = ()
        of = self._of
        try:
            for cells in rows:
                done.append(of(cells, tag))
        except IMPOSSIBLE as error:
            raise make_damage_error(self._table, f"{self._kind.value}{cells[self._place]}") from error
        return done

    def to_values(self, columns: Sequence[str], rows: Sequence[Sequence[Any]], tag: str) -> list[T]:
        """Build an instance from each row with these columns; columns that the dataclass lacks are ignored."""
        if not rows:
            return []
        given = tuple(columns)
        if given == self.columns:
            return self._build(rows, tag)
        try:
            pick = _make_picker(given, self.columns)
        except ValueError as error:  # the text of the schema is damaged
            raise make_damage_error(self._table, "a column") from error
        return self._build(map(pick, rows), tag)


def compile_type_check(kind: type[T]) -> Callable[[T], T]:
    """Compile a function that returns its argument, or raises `TypeError` for a field with another type than declared.

    Only fields of texts, bytes, integers and floats are checked.
    """
    space: dict[str, Any] = {}
    exec("\n ".join(["def check(one):", *_write_type_checks(kind, prefix="one."), "return one"]), space)  # noqa: S102 - names of our own fields
    return space["check"]


def _write_type_checks(
    kind: type[object], *, ids: Collection[str] = (), converted: Collection[str] = (), prefix: str = ""
) -> list[str]:
    """Return lines of code that raise `TypeError` for a damaged cell; one operation checks all cells of a type.

    `ids` are integers yet, and `converted` are not checked.
    """
    empty: Final = {"str": "''", "int": "0", "float": "0.0", "bytes": "b''"}
    terms: dict[str, list[str]] = {name: [one] for name, one in empty.items()}
    for one in fields(kind):  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        declared, _, none = str(one.type).partition(" | ")
        name = "int" if one.name in ids else declared
        if name in terms and one.name not in converted:
            terms[name].append(f"({prefix}{one.name} or {empty[name]})" if none else f"{prefix}{one.name}")
    joins = [f"{empty[name]}.join(({', '.join(terms[name])},))" for name in ("str", "bytes")]
    return [*joins, " | ".join(terms["int"]), " + ".join(terms["float"])]


@lru_cache(maxsize=64)
def _make_picker(columns: tuple[str, ...], wanted: tuple[str, ...]) -> Callable[[Sequence[Any]], Sequence[Any]]:
    return itemgetter(*(columns.index(name) for name in wanted))


SHORT: Final[Mapping[str, str]] = {
    "attribute": "a",
    "cardinality": "c",
    "confidence": "o",
    "contested": "d",
    "entity": "e",
    "expires_us": "x",
    "importance": "i",
    "layer": "l",
    "metadata": "m",
    "relation": "r",
    "scope": "b",
    "source_session": "n",
    "speaker": "w",
    "stance": "h",
    "status": "s",
    "superseded_by": "y",
    "text": "t",
    "topic": "p",
    "trust": "q",
    "type": "k",
    "valid_from_us": "f",
    "valid_until_us": "u",
    "value": "v",
}
"""Field → letter. A letter never changes its meaning, because the log is never rewritten."""
_LONG: Final = {letter: name for name, letter in SHORT.items()}


def shorten_fields(part: Mapping[str, object]) -> dict[str, object]:
    """Replace the field names of one side of a change by their letters."""
    return {SHORT.get(name, name): value for name, value in part.items()}


def expand_fields(part: Mapping[str, object]) -> dict[str, object]:
    """Replace the letters of one side of a change by the field names.

    >>> expand_fields(shorten_fields({"text": "tea", "linked": []}))
    {'text': 'tea', 'linked': []}
    """
    return {_LONG.get(name, name): value for name, value in part.items()}
