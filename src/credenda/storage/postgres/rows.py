"""Rows by place and by name, as `sqlite3.Row` gives them, and the types of Python values."""

from __future__ import annotations

from decimal import Decimal
from functools import lru_cache
from typing import Any, ClassVar

import psycopg
from psycopg import adapt
from psycopg.abc import Buffer
from psycopg.types.numeric import Int8Dumper


class Row(tuple[Any, ...]):
    """A row of a query: its cells by place, or by the name of their column."""

    __slots__ = ()
    places: ClassVar[dict[str, int]]

    def __getitem__(self, key: Any, /) -> Any:
        """Return the cell at a place, or of a column."""
        return super().__getitem__(self.places[key] if type(key) is str else key)

    def keys(self) -> list[str]:
        """Return the names of the columns."""
        return list(self.places)


@lru_cache(maxsize=512)
def _make_row_class(names: tuple[str, ...]) -> type[Row]:
    return type("Row", (Row,), {"__slots__": (), "places": {name: place for place, name in enumerate(names)}})


def make_rows(cursor: psycopg.Cursor[Any]) -> type[Row]:
    """Return what makes the rows of a cursor; a row factory of psycopg."""
    return _make_row_class(tuple(column.name for column in cursor.description or ()))


class _FlagDumper(adapt.Dumper):
    """Sends True and False as 1 and 0, which the columns of flags hold; the server decides the type."""

    oid = 0

    def dump(self, obj: bool) -> Buffer:  # noqa: FBT001 - the signature is psycopg's
        return b"1" if obj else b"0"


class _SumLoader(adapt.Loader):
    """Reads a `numeric`, which only sums have here, as an integer where it is one."""

    def load(self, data: Buffer) -> int | float:
        number = Decimal(bytes(data).decode())
        return int(number) if number == number.to_integral_value() else float(number)


def register_types(connection: psycopg.Connection[Any]) -> None:
    """Let a connection send every integer as eight bytes, so that one statement has one form."""
    connection.adapters.register_dumper(int, Int8Dumper)
    connection.adapters.register_dumper(bool, _FlagDumper)
    connection.adapters.register_loader("numeric", _SumLoader)
