"""The lines of a page: which of them state something, and the form in which the store keeps them. Pure.

A line with a statement is kept as an item of its own, which the deletion of its memory takes along. The page itself
keeps other lines, and the places of the statements.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

__all__ = ["Line", "hash_statement", "join_lines", "split_lines"]

_MARK: Final = re.compile(r"^\s*(?:[-*+]|\d{1,9}[.)])?\s*(?:\[[ xX]\]\s+)?")
_SAYS: Final = re.compile(r"[^\W\d_]{2}")
_MARKUP: Final = ("#", "<!--", "```", "~~~", "---", "|")
_FENCES: Final = ("```", "~~~")


class Line(NamedTuple):
    """A line of a page; `statement` is "" for headings, tables, code, comments and lines without words."""

    text: str
    statement: str


def split_lines(text: str) -> list[Line]:
    """Split a page into its lines, each with its statement."""
    found: list[Line] = []
    code = False
    for line in text.split("\n"):
        bare = line.strip()
        fence = bare.startswith(_FENCES)
        code = code != fence
        said = "" if code or fence or bare.startswith(_MARKUP) else _MARK.sub("", line).strip()
        found.append(Line(line, said if _SAYS.search(said) else ""))
    return found


def hash_statement(statement: str) -> str:
    """Return the key of a statement among the lines of its page."""
    return hashlib.sha256(statement.encode("utf-8", "replace")).hexdigest()[:32]


def join_lines(places: Sequence[object], statements: Mapping[str, str]) -> str:
    """Put a page together; a line whose statement is gone is left out."""
    lines: list[str] = []
    for place in places:
        if isinstance(place, str):
            lines.append(place)
        elif isinstance(place, list):
            before, key, after = (str(part) for part in place)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType] - as written
            if key in statements:
                lines.append(f"{before}{statements[key]}{after}")
    return "\n".join(lines)
