"""Names of pages: which are taken, and which could lead outside or stand for another. Pure."""

from __future__ import annotations

import unicodedata
from typing import Final

from credenda import limits

__all__ = ["KEPT", "ROOT", "Refused", "fold", "is_kept", "split_path"]

ROOT: Final = "/memories"
KEPT: Final = frozenset({"archive", "consolidated", "memory.md", "index.md", "persona.md", "user.md"})
"""What `credenda files sync` writes, and what persons write of themselves, folded: a model reads them."""
_SLASHES: Final = frozenset("/\\\u2044\u2215\u29f5\u29f8\u29f9\ufe68\uff0f\uff3c")
"""What is a slash, or is taken for one by a reader or a system."""
_ENCODED: Final = ("%2e", "%2f", "%5c", "%00", "%25")
_LEAST_PRINTABLE: Final = " "


class Refused(Exception):  # noqa: N818 - named for what happened, as the errors of the contract are
    """A command was not carried out; the message is what the model is told."""


def split_path(path: object) -> tuple[str, ...]:
    """Return the names on the way to a page, () for the root; raises `Refused` for a path that is not taken.

    >>> parts_of("/memories/trips/notes.md")
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
    """Refuse a name that leads elsewhere, is hidden, or reads as another one somewhere."""
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
    """Say whether a letter is a control, formatting, private or broken one, or a separator other than a blank."""
    return letter != _LEAST_PRINTABLE and unicodedata.category(letter)[0] in "CZ"


def fold(name: str) -> str:
    """Give the form under which names are the same on any system: case, width and composition folded."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())


def is_kept(names: tuple[str, ...]) -> bool:
    """Say whether a path is one that a model may read, and not write."""
    return bool(names) and fold(names[0]) in KEPT
