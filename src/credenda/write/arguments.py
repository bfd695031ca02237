"""Checks of what callers hand in, the same for every operation. Pure."""

from __future__ import annotations

from enum import StrEnum
from typing import TypeVar

from credenda import limits
from credenda.errors import Invalid, LimitExceeded

__all__ = ["checked_fraction", "checked_member", "checked_name", "encoded"]

E = TypeVar("E", bound=StrEnum)


def checked_name(name: object, what: str) -> str | None:
    """Check a short name; a blank one means none."""
    if name is None:
        return None
    if not isinstance(name, str):
        raise Invalid(f"{what} must be text", why=f"it is a {type(name).__name__}", fix="give a string")
    if not name.strip():
        return None
    encoded(name, what)
    if len(name) > limits.NAME_CHARACTERS:
        raise LimitExceeded(f"{what} has {len(name)} characters", why=f"at most {limits.NAME_CHARACTERS} are kept")
    return name


def checked_member(kind: type[E], value: str, what: str) -> E:
    """Read one of an enumeration's words; raises `Invalid` with the choices for any other."""
    try:
        return kind(value)
    except ValueError as error:
        raise Invalid(f"{value!r} is not a {what}", fix=f"choose one of {', '.join(kind)}") from error


def checked_fraction(value: float, what: str) -> float:
    """Check a number in [0, 1]."""
    if not isinstance(value, int | float) or not 0 <= value <= 1:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise Invalid(f"{what} cannot be {value!r}", why="it lies in 0 to 1", fix="give a number like 0.4")
    return float(value)


def encoded(text: str, what: str) -> bytes:
    """Give the UTF-8 bytes of a text; raises `Invalid` where it holds half of a surrogate pair."""
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        why = f"half of a surrogate pair stands at character {error.start}"
        raise Invalid(f"{what} is not valid Unicode", why=why, fix="decode the text properly first") from error
