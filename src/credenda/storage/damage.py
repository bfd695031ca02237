"""Errors for rows that hold a value which no writer stores, and a checksum that finds other damage."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from functools import wraps
from typing import Any, Final, ParamSpec, TypeVar

from credenda.errors import Corrupt
from credenda.ids import IdKind

__all__ = ["IMPOSSIBLE", "SAVE_THE_REST", "compute_checksum", "guard_row", "make_damage_error"]

T = TypeVar("T")
P = ParamSpec("P")
IMPOSSIBLE: Final = (ValueError, LookupError, TypeError, AttributeError, OverflowError)
"""What decoding a row raises if one of its cells holds a value that no writer stores."""
SAVE_THE_REST: Final = "restore a backup, or save the other rows with `credenda export --skip-damaged`"


def make_damage_error(table: str, key: str) -> Corrupt:
    """Build the error for a row that cannot be decoded."""
    return Corrupt(
        f"{key} in the table {table} cannot be read",
        why="the file is damaged: a cell has a value that no version stores",
        fix=f"run `credenda doctor` to list the damaged rows; then {SAVE_THE_REST}",
        table=table,
        row=key,
    )


def guard_row(table: str, kind: IdKind) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Make a function that decodes a row, its first argument, raise `Corrupt` with the row's id if that fails."""

    def guard(decode: Callable[P, T]) -> Callable[P, T]:
        @wraps(decode)
        def decode_guarded(*args: P.args, **named: P.kwargs) -> T:
            try:
                return decode(*args, **named)
            except IMPOSSIBLE as error:
                row: Any = args[0]
                raise make_damage_error(table, f"{kind.value}{row['id']}") from error

        return decode_guarded

    return guard


def compute_checksum(*cells: object) -> int:
    """Return the CRC-32 of the cells of a row, as the column `checksum` stores it."""
    return zlib.crc32(repr(cells).encode("utf-8", "surrogatepass"))
