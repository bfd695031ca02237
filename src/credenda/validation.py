"""Validation of caller input, shared by all operations. Pure."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from enum import StrEnum
from typing import Any, TypeVar, cast

from credenda import limits
from credenda.errors import Invalid, LimitExceeded

E = TypeVar("E", bound=StrEnum)


def check_name(name: object, what: str) -> str | None:
    """Validate a short name; a blank name becomes None, and U+0000 becomes U+FFFD."""
    if name is None:
        return None
    if not isinstance(name, str):
        raise Invalid(f"{what} must be text", why=f"it is a {type(name).__name__}", fix="give a string")
    if not name.strip():
        return None
    encode_text(name, what)
    if len(name) > limits.NAME_CHARACTERS:
        raise LimitExceeded(f"{what} has {len(name)} characters", why=f"at most {limits.NAME_CHARACTERS} are allowed")
    return replace_zeros(name)


def replace_zeros(text: str) -> str:
    r"""Replace U+0000, which no text of Postgres holds, by the sign for a character that cannot be shown.

    >>> replace_zeros("a\x00b") == "a\ufffdb"
    True
    """
    return text.replace("\x00", "\ufffd")


def check_identity(name: object, what: str) -> str | None:
    """Validate the name of a user as `check_name` does, but raise `Invalid` for U+0000."""
    if isinstance(name, str):
        refuse_zeros(name, what)
    return check_name(name, what)


def refuse_zeros(name: str, what: str) -> None:
    """Raise `Invalid` for U+0000 in a name that tells things apart, which a replaced one would not."""
    if "\x00" in name:
        raise Invalid(f"{what} has a zero character", why="databases cannot store it", fix="take it out")


def check_condition(name: object, what: str) -> str | None:
    """Validate a name that limits a deletion. None means any; a blank name is an error, because it would match all."""
    found = check_name(name, what)
    if name is not None and found is None:
        raise Invalid(f"{what} is blank", why="it would match everything", fix="leave it out, or give a value")
    return found


def check_text(text: object, what: str) -> str:
    """Validate an optional text; None becomes an empty text, and U+0000 becomes U+FFFD."""
    if text is None:
        return ""
    if not isinstance(text, str):
        raise Invalid(f"{what} must be text", why=f"it is a {type(text).__name__}", fix="give a string")
    encode_text(text, what)
    return replace_zeros(text)


def check_words(values: object, what: str) -> tuple[str, ...]:
    """Validate a list of words; a single text becomes a list of one, and U+0000 becomes U+FFFD."""
    if isinstance(values, str):
        return (replace_zeros(values),)
    kind = type(values).__name__
    if isinstance(values, bytes | Mapping) or not isinstance(values, Collection):
        raise Invalid(f"{what} must be a list of words", why=f"it is a {kind}", fix='give ["one", …]')
    words = tuple(cast("Collection[object]", values))
    for word in words:
        if not isinstance(word, str):
            raise Invalid(f"{what} must hold words", why=f"one is a {type(word).__name__}", fix='give ["one", …]')
    return tuple(map(replace_zeros, cast("tuple[str, ...]", words)))


def check_member(kind: type[E], value: object, what: str) -> E:
    """Return the enumeration member with this value; raises `Invalid` with the choices for any other value."""
    if not isinstance(value, str):
        raise Invalid(
            f"a {what} must be a word", why=f"it is a {type(value).__name__}", fix=f"choose one of {', '.join(kind)}"
        )
    try:
        return kind(value)
    except ValueError as error:
        raise Invalid(f"{value!r} is not a {what}", fix=f"choose one of {', '.join(kind)}") from error


def check_fraction(value: float, what: str) -> float:
    """Validate a number in [0, 1]."""
    if not isinstance(value, int | float):  # pyright: ignore[reportUnnecessaryIsInstance] - callers may be untyped
        raise Invalid(f"{what} must be a number", why=f"it is a {type(value).__name__}", fix="give a number like 0.4")
    if not 0 <= value <= 1:
        raise Invalid(f"{what} cannot be {value!r}", why="it must lie between 0 and 1", fix="give a number like 0.4")
    return float(value)


def encode_text(text: str, what: str) -> bytes:
    """Return the UTF-8 bytes of a text; raises `Invalid` for an unpaired surrogate."""
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        why = f"there is an unpaired surrogate at character {error.start}"
        raise Invalid(f"{what} is not valid Unicode", why=why, fix="decode the text properly first") from error


def check_metadata(metadata: Mapping[str, object] | None) -> Mapping[str, object]:
    """Validate a table of JSON values and return a copy; None becomes an empty table."""
    if metadata is None:
        return {}
    if not isinstance(metadata, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance] - callers may be untyped
        kind = type(metadata).__name__
        raise Invalid("metadata must be a table", why=f"it is a {kind}", fix='give {"name": value}')
    try:
        body = json.dumps(dict(metadata), ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        why = str(error)
        raise Invalid("metadata is not plain JSON", why=why, fix="use text, numbers, lists and tables") from error
    size = len(encode_text(body, "metadata"))
    if size > limits.METADATA_BYTES:
        raise LimitExceeded(f"metadata of {size} bytes", why=f"at most {limits.METADATA_BYTES} are allowed")
    return dict(json.loads(body))


def read_table(told: object) -> dict[str, Any]:
    """Return a JSON object, given as such or as text; an empty one for anything else."""
    if isinstance(told, str | bytes):
        try:
            told = json.loads(told)
        except (ValueError, RecursionError):
            return {}
    return cast("dict[str, Any]", told) if isinstance(told, dict) else {}
