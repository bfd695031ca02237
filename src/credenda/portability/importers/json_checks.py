"""Checked access to foreign JSON; errors describe the malformed part and never repeat its text."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final, cast

from credenda.clock import parse_time, to_datetime
from credenda.errors import Invalid
from credenda.portability.json_stream import Element

__all__ = [
    "MalformedError",
    "describe_item",
    "list_of",
    "make_showable",
    "parse_table",
    "parse_tables",
    "read_moment",
    "read_moment_or_none",
    "read_text",
    "require_item",
    "require_table",
]

_BOM: Final = b"\xef\xbb\xbf"
_ID_CHARACTERS: Final = 200
_DAMAGED_OBJECTS: Final = 2
_SECOND_US: Final = 1_000_000


class MalformedError(ValueError):
    """An item does not match the format; the message never contains text of the file."""


def parse_table(data: bytes) -> Mapping[str, Any]:
    """Parse one JSON object."""
    try:
        text = data.removeprefix(_BOM).decode()
    except UnicodeDecodeError as error:
        raise MalformedError(f"byte {error.start + 1} is not UTF-8; save the file as UTF-8") from error
    try:
        value: object = json.loads(text)
    except json.JSONDecodeError as error:
        raise MalformedError(f"not JSON at character {error.pos + 1}") from error
    except RecursionError as error:
        raise MalformedError("nested too deeply") from error
    except ValueError as error:
        raise MalformedError("a number in it has too many digits") from error
    return require_table(value)


def parse_tables(data: bytes) -> list[Mapping[str, Any]]:
    """Parse a line that should be one JSON object; two that were written at once stand on one line, and both count.

    >>> parse_tables(b'{"a": 1}{"a": 2}, ')
    [{'a': 1}, {'a': 2}]
    """
    try:
        return [parse_table(data)]
    except MalformedError:
        found = _split_objects(data)
        if len(found) < _DAMAGED_OBJECTS:
            raise
        return found


def _split_objects(data: bytes) -> list[Mapping[str, Any]]:
    """Return the objects of a line; empty if anything else stands between them."""
    text = data.removeprefix(_BOM).decode("utf-8", "replace")
    decoder, found, at = json.JSONDecoder(), list[Mapping[str, Any]](), 0
    while (at := len(text) - len(text[at:].lstrip(" \t\r\n,"))) < len(text):
        try:
            value, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            return []
        if not isinstance(value, dict):
            return []
        found.append(cast("Mapping[str, Any]", value))
    return found


def require_item(element: Element) -> Mapping[str, Any]:
    """Return an item of a list as a table."""
    if element.wrong:
        raise MalformedError(element.wrong)
    return parse_table(element.data)


def require_table(value: object) -> Mapping[str, Any]:
    """Return a value that must be a table."""
    if not isinstance(value, dict):
        raise MalformedError("it is not a table")
    return cast("Mapping[str, Any]", value)


def list_of(table: Mapping[str, Any], name: str) -> Sequence[object]:
    """Return a list that must be present."""
    value = table.get(name)
    if not isinstance(value, list):
        raise MalformedError(f"it has no list of {name}")
    return cast("Sequence[object]", value)


def read_text(table: Mapping[str, Any], *names: str) -> str:
    """Return the first of some fields that has a text; "" if none has."""
    found = (table.get(name) for name in names)
    return next((value for value in found if isinstance(value, str) and value.strip()), "")


def read_moment(value: object) -> datetime | None:
    """Parse a time: RFC 3339, in UTC unless it has a zone, or seconds since 1970; None if there is none."""
    if value is None or value == "":
        return None
    try:
        if isinstance(value, str):
            return to_datetime(parse_time(value, UTC))
        if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
            return to_datetime(round(value * _SECOND_US))
    except (Invalid, OverflowError):
        pass
    raise MalformedError("its time cannot be read")


def read_moment_or_none(value: object) -> datetime | None:
    """Parse a time that has a fallback; None for an invalid time."""
    try:
        return read_moment(value)
    except MalformedError:
        return None


def describe_item(item: object, number: int, *names: str) -> str:
    """Identify an item in a message: by its id, or by its position."""
    table = cast("dict[str, object]", item) if isinstance(item, dict) else {}
    return make_showable(str(next((table[name] for name in names if isinstance(table.get(name), str | int)), number)))


def make_showable(name: str) -> str:
    """Make a foreign id or file name safe to print: short, without control characters."""
    return "".join(sign if sign.isprintable() else "\ufffd" for sign in name[:_ID_CHARACTERS])
