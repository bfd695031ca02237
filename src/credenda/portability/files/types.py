"""What is compared: what both sides had, what the memory holds, and what the files say. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from credenda.portability.files.parse import Parsed
from credenda.portability.files.state import State

__all__ = ["MemorySide", "Sides", "Spot", "Text", "Tier"]


class Tier(StrEnum):
    """Which part of the folder a file belongs to."""

    ARCHIVE = "archive"
    PAGES = "pages"
    CORE = "core"


class Spot(NamedTuple):
    """A block of a file."""

    path: str
    block: int


class Text(NamedTuple):
    """A file that can be read: `about` is the entity of the page, as shown."""

    path: str
    tier: Tier
    page: Parsed
    about: str = ""


class MemorySide(NamedTuple):
    """A memory or event as it stands here; `head` is what took its place, the id itself while it is held."""

    text: str
    digest: str
    held: bool
    head: str | None
    event: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Sides:
    """What is compared. `hidden` are ids in files that cannot be read, `closed` tiers of which not all could be.

    `erased` are tags of memories that were erased here; `missing` says what gone entries mean: "ask", "delete" or
    "restore".
    """

    state: State
    ours: Mapping[str, MemorySide]
    texts: Sequence[Text]
    tag: str
    hidden: Collection[str] = frozenset()
    closed: Collection[Tier] = frozenset()
    absent: Collection[Tier] = frozenset()
    erased: Collection[str] = frozenset()
    missing: str = "ask"
