"""The virtual directory of a memory: its pages, entries and matches."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

__all__ = ["DirectoryEntry", "DirectoryMatch", "DirectoryPage", "hash_page"]


@dataclass(frozen=True, slots=True)
class DirectoryPage:
    """A page: `version` is the SHA-256 of its text in hex, `writable` tells whether it can be changed."""

    path: str
    text: str
    version: str
    writable: bool = True


@dataclass(frozen=True, slots=True)
class DirectoryEntry:
    """A page or folder in a listing; `size` counts the bytes of a page, or of all pages of a folder."""

    path: str
    folder: bool
    size: int


@dataclass(frozen=True, slots=True)
class DirectoryMatch:
    """A line that matches; lines are numbered from 1."""

    path: str
    line: int
    text: str


def hash_page(text: str) -> str:
    """Return the version of a page with this text."""
    return hashlib.sha256(text.encode()).hexdigest()
