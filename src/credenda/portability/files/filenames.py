"""File names of pages: valid on every system, deterministic, and never outside the folder. Pure."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Collection
from typing import Final

__all__ = ["NAME_BYTES", "choose_page_name", "fold_name"]

NAME_BYTES: Final = 80
"""Longest name of a page without its suffix, in UTF-8: far below the limit of any file system."""
_RESERVED: Final = frozenset(
    {"con", "prn", "aux", "nul", *(f"{port}{number}" for port in ("com", "lpt") for number in range(10))}
)
_KEPT: Final = frozenset(" _-'")


def choose_page_name(shown: str, key: str, taken: Collection[str]) -> str:
    """Return the file name of a page; `taken` are the folded names of others, `key` makes an ambiguous name unique.

    >>> choose_page_name("../etc/passwd", "x", ())
    'etc-passwd'
    >>> choose_page_name("CON", "con", ()), choose_page_name("ana", "ana", {"ana"})
    ('CON_', 'ana-2149fb')
    """
    letters = (letter if _is_kept(letter) else "-" for letter in unicodedata.normalize("NFC", shown))
    name = "-".join(part for part in "".join(letters).split("-") if part.strip()).strip(" -_'")
    name = " ".join(name.split())
    while len(name.encode()) > NAME_BYTES:
        name = name[:-1].rstrip()
    name = name or "page"
    if name.casefold() in _RESERVED:
        name += "_"
    if fold_name(name) in taken:
        name = f"{name}-{hashlib.blake2b(key.encode(), digest_size=3).hexdigest()}"
    return name


def _is_kept(letter: str) -> bool:
    return letter in _KEPT or unicodedata.category(letter)[0] in "LMN"


def fold_name(name: str) -> str:
    """Return the form in which names are equal on a file system that ignores case and composition."""
    return unicodedata.normalize("NFC", name.casefold())
