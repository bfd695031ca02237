"""Errors for rows that hold a value which no writer stores, and a checksum that finds other damage."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from credenda.errors import IMPOSSIBLE, make_damage_error
from credenda.ids import IdKind
from credenda.storage.records import count_vector_bytes, unpack_code

T = TypeVar("T")
P = ParamSpec("P")


def name_document(code: int) -> str:
    """Return the id of the memory or event of a document, without the tenant's tag."""
    if not isinstance(code, int) or code < 0:  # pyright: ignore[reportUnnecessaryIsInstance]
        return "a document"
    memory, number, _ = unpack_code(code)
    return f"{(IdKind.MEMORY if memory else IdKind.EVENT).value}{number}"


def guard_row(table: str, kind: IdKind | None = None) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Make a function that decodes a row, its first argument, raise `Corrupt` with the row's id if that fails."""

    def guard(decode: Callable[P, T]) -> Callable[P, T]:
        @wraps(decode)
        def decode_guarded(*args: P.args, **named: P.kwargs) -> T:
            try:
                return decode(*args, **named)
            except IMPOSSIBLE as error:
                raise make_damage_error(table, _name_row(kind, args[0])) from error

        return decode_guarded

    return guard


def _name_row(kind: IdKind | None, row: Any) -> str:  # noqa: ANN401 - a row of the driver
    try:
        return "a row" if kind is None else f"{kind.value}{row['id']}"
    except LookupError:  # the schema is damaged
        return "a row"


def compute_checksum(*cells: object) -> int:
    """Return the CRC-32 of the cells of a row, as the column `checksum` stores it; bytes come last."""
    short = [cell for cell in cells if not isinstance(cell, bytes)]
    checksum = zlib.crc32(repr(short).encode("utf-8", "surrogatepass"))
    for cell in cells:
        if isinstance(cell, bytes):
            checksum = zlib.crc32(cell, checksum)
    return checksum


def is_sound_vector(*cells: Any) -> bool:  # noqa: ANN401 - cells of a damaged row may have any type
    """Return whether a vector (the fields of `Vector` and the checksum) has its length and matches its checksum."""
    *fields, checksum = cells
    _, _, dims, bits, _, data = fields
    try:
        whole = len(data) == count_vector_bytes(dims, bits)
        return whole and (checksum is None or checksum == compute_checksum(*fields))
    except IMPOSSIBLE:
        return False
