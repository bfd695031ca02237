"""The inputs of the comparison: the common state, the memory, and the files. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from credenda.portability.files.parse import Parsed
from credenda.portability.files.state import State

__all__ = ["MemorySide", "Sides", "Spot", "Text", "Tier"]


class Tier(StrEnum):
    """The part of the folder that a file belongs to."""

    ARCHIVE = "archive"
    PAGES = "pages"
    CORE = "core"


class Spot(NamedTuple):
    """A block of a file."""

    path: str
    block: int


class Text(NamedTuple):
    """A readable file: `about` is the entity of the page, as shown; `zeros` tells whether it has zero bytes."""

    path: str
    tier: Tier
    page: Parsed
    about: str = ""
    zeros: bool = False


class MemorySide(NamedTuple):
    """A memory or event of this memory; `head` is its current replacement, or its own id."""

    text: str
    digest: str
    held: bool
    head: str | None
    event: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Sides:
    """The three sides. `hidden` are ids in unread files, and `unread` tells whether there are any such files.

    `removed` are ids of entries that a memory sharing the folder deleted. `erased` are tags of memories that were
    erased here; `missing` tells how to treat missing entries: "ask", "delete" or "restore".
    """

    state: State
    ours: Mapping[str, MemorySide]
    texts: Sequence[Text]
    tag: str
    hidden: Collection[str] = frozenset()
    unread: bool = False
    removed: Collection[str] = frozenset()
    erased: Collection[str] = frozenset()
    missing: str = "ask"
