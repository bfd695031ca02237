"""Checks of page names: reject names that lead outside or are ambiguous on some system. Pure."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from credenda import limits
from credenda.errors import Invalid

AS_OF: Final = "@"
"""The first letter of a folder that shows the pages of beliefs as they were at a time."""
_RESERVED: Final = frozenset({"archive", "consolidated", "memory.md", "index.md", "persona.md", "user.md"})
"""Case-folded names that belong to the pages of beliefs, or to people: no program creates a page there."""
_SLASHES: Final = frozenset("/\\\u2044\u2215\u29f5\u29f8\u29f9\ufe68\uff0f\uff3c")
"""Slashes, and characters that look like slashes."""
_ENCODED: Final = ("%2e", "%2f", "%5c", "%00", "%25")
_LEAST_PRINTABLE: Final = " "


def split_page_path(path: object) -> tuple[str, ...]:
    """Return the names of a path, () for the root; raise `Invalid` for an invalid path.

    >>> split_page_path("/trips/notes.md")
    ('trips', 'notes.md')
    """
    if not isinstance(path, str):
        raise Invalid("a path must be text", why=f"it is a {type(path).__name__}", fix='give a path like "notes/a.md"')
    if len(path) > limits.PAGE_PATH_CHARACTERS:
        raise Invalid(
            "a path is too long",
            why=f"it has {len(path)} characters, at most {limits.PAGE_PATH_CHARACTERS} are allowed",
            fix="shorten it",
        )
    names = tuple(name for name in path.split("/") if name not in {"", "."})
    for name in names:
        # Refuse a name that leads elsewhere, is hidden, or equals another name on some system.
        normal = unicodedata.normalize("NFKC", name)
        folded = normal.casefold()
        if ".." in {name, normal} or not _SLASHES.isdisjoint(name + normal) or any(code in folded for code in _ENCODED):
            raise _refuse(path, "it would lead out of the directory")
        if normal.startswith("."):
            raise _refuse(path, "it is hidden")
        if (
            any(letter != _LEAST_PRINTABLE and unicodedata.category(letter)[0] in "CZ" for letter in name)
            or name != name.strip()
            or name.endswith(".")
            or ":" in normal
        ):
            raise _refuse(path, "it holds characters that a name cannot have")
        if len(name.encode("utf-8", "replace")) > limits.PAGE_NAME_BYTES:
            raise _refuse(path, f"it holds a name of more than {limits.PAGE_NAME_BYTES} bytes")
    if len(names) > limits.PAGE_DEPTH:
        raise Invalid(f"{path} is nested too deeply", why=f"at most {limits.PAGE_DEPTH} levels are allowed")
    return names


def _refuse(path: str, why: str) -> Invalid:
    return Invalid(f"{path!r} cannot be a path", why=why, fix="use letters, digits, -, _ and .")


def fold_page_name(name: str) -> str:
    """Return the form in which equal names on any system are equal: case, width and composition folded."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())


def is_reserved(names: tuple[str, ...]) -> bool:
    """Return whether a path belongs to the pages of beliefs, or to people."""
    return bool(names) and (fold_page_name(names[0]) in _RESERVED or names[0].startswith(AS_OF))


# The lines of a page: which of them state something, and the form in which the store keeps them. Pure.


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
