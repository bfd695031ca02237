"""Checks of page names: reject names that lead outside or are ambiguous on some system. Pure."""

from __future__ import annotations

import unicodedata
from typing import Final

from credenda import limits

__all__ = ["KEPT", "ROOT", "Refused", "fold", "is_kept", "split_path"]

ROOT: Final = "/memories"
KEPT: Final = frozenset({"archive", "consolidated", "memory.md", "index.md", "persona.md", "user.md"})
"""Case-folded names of files that `credenda files sync` or people write: read-only for a model."""
_SLASHES: Final = frozenset("/\\\u2044\u2215\u29f5\u29f8\u29f9\ufe68\uff0f\uff3c")
"""Slashes, and characters that look like slashes."""
_ENCODED: Final = ("%2e", "%2f", "%5c", "%00", "%25")
_LEAST_PRINTABLE: Final = " "


class Refused(Exception):  # noqa: N818 - named for what happened, as the errors of the contract are
    """A command was refused; the message goes to the model."""


def split_path(path: object) -> tuple[str, ...]:
    """Return the names of a path, () for the root; raise `Refused` for an invalid path.

    >>> split_path("/memories/trips/notes.md")
    ('trips', 'notes.md')
    """
    if not isinstance(path, str) or not (path == ROOT or path.startswith(f"{ROOT}/")):
        raise Refused(f"Path must start with {ROOT}, got: {path}")
    if len(path) > limits.PAGE_PATH_CHARACTERS:
        raise Refused(f"Path must have at most {limits.PAGE_PATH_CHARACTERS} characters, got {len(path)}")
    names = tuple(name for name in path[len(ROOT) :].split("/") if name not in {"", "."})
    for name in names:
        _check(name, path)
    if len(names) > limits.PAGE_DEPTH:
        raise Refused(f"Path {path} is nested more than {limits.PAGE_DEPTH} levels deep")
    return names


def _check(name: str, path: str) -> None:
    """Refuse a name that leads elsewhere, is hidden, or equals another name on some system."""
    plain = unicodedata.normalize("NFKC", name)
    folded = plain.casefold()
    if ".." in {name, plain} or not _SLASHES.isdisjoint(name + plain) or any(code in folded for code in _ENCODED):
        raise Refused(f"Path {path} would escape {ROOT} directory")
    if plain.startswith("."):
        raise Refused(f"Path {path} is hidden")
    if any(_is_invisible(letter) for letter in name) or name != name.strip() or name.endswith(".") or ":" in plain:
        raise Refused(f"Path {path!r} holds characters that a name cannot have")
    if len(name.encode("utf-8", "replace")) > limits.PAGE_NAME_BYTES:
        raise Refused(f"Path {path} holds a name of more than {limits.PAGE_NAME_BYTES} bytes")


def _is_invisible(letter: str) -> bool:
    """Return whether a character is a control, format, private or unassigned one, or a separator except space."""
    return letter != _LEAST_PRINTABLE and unicodedata.category(letter)[0] in "CZ"


def fold(name: str) -> str:
    """Return the form in which equal names on any system are equal: case, width and composition folded."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())


def is_kept(names: tuple[str, ...]) -> bool:
    """Return whether a model may read this path but not write it."""
    return bool(names) and fold(names[0]) in KEPT
