"""The inputs of the comparison: the common state, the memory, and the files. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

from credenda.portability.files.layout import CORE_TITLE
from credenda.portability.files.parse import Parsed
from credenda.portability.files.state import Lines, State

__all__ = ["Added", "MemorySide", "Sides", "Spot", "Text", "Tier", "is_closed"]


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
    """A readable file: `about` is the entity of the page, as shown; `zeros` tells whether it has zero bytes.

    A page that is not `own` has no mark of code: it is read, and never written. A page of another program may have
    entries: then its lines are still `theirs`.
    """

    path: str
    tier: Tier
    page: Parsed
    about: str = ""
    zeros: bool = False
    own: bool = True

    @property
    def theirs(self) -> bool:
        """Whether the lines outside the entries belong to another program or a person, and stay byte for byte."""
        whole = self.tier is Tier.ARCHIVE or "credenda" in self.page.front
        return not (self.own and (whole or (self.tier is Tier.CORE and self.page.title == CORE_TITLE)))


class Added(NamedTuple):
    """A text to store.

    `name` is its id in the file if it has one, and `table` the content of its comment; `restored` tells that the
    existing entry stays unchanged beside it.
    """

    text: str
    spot: Spot
    tier: Tier
    about: str = ""
    name: str = ""
    restored: bool = False
    table: Mapping[str, Any] = {}
    line: bool = False
    """Whether it is a line that a person wrote, not the text of an entry."""
    said: str = ""
    """The day or time that its page gives it."""


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
    erased here; `missing` tells how to treat missing entries: "ask", "delete" or "restore". `closed` are unread files
    and folders, `dates` the days of lines in pages that are not ours.
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
    closed: Collection[str] = frozenset()
    dates: Mapping[Spot, str] = field(default_factory=dict[Spot, str])

    @property
    def lines(self) -> Lines:
        """The lines that were read and stay in their pages."""
        return self.state.lines


def is_closed(path: str, closed: Collection[str]) -> bool:
    """Return whether a file was not read: it is one of these, or in one of these folders."""
    return any(path == one or path.startswith(f"{one}/") for one in closed)
