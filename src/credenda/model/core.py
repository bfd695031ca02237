"""The core, the few memories that every prompt should have, and the changes of its last rewrite."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final, NamedTuple

from credenda.clock import to_datetime
from credenda.model.memory import Memory


class Section(StrEnum):
    """The reason why a memory is in the core; a memory has one section, the first that it qualifies for."""

    INSTRUCTION = "instruction"
    """A standing instruction of the person."""
    PINNED = "pinned"
    """Pinned by the person."""
    IDENTITY = "identity"
    """Identity of the person: name, residence, work and the like."""
    RECALLED = "recalled"
    """Recalled often, according to the recall log."""


INSTRUCTIONS_PART: Final = 3
"""Instructions take at most one part in this many of a budget, so that facts keep room."""
HEADINGS: Final = {
    Section.INSTRUCTION: "Always:",
    Section.PINNED: "Always:",
    Section.IDENTITY: "About the user:",
    Section.RECALLED: "Often needed:",
}


class CoreMemory(NamedTuple):
    """A memory and its reason to be in the core."""

    section: Section
    memory: Memory
    told_us: tuple[int, ...] = ()
    """When the message that it came from was told, as far as it is known."""


class RecallCounts(NamedTuple):
    """The recalls of a memory within a window: number of days and sessions, and the last time.

    `useful` is the balance of callers' feedback.
    """

    memory_id: str
    days: int
    sessions: int
    useful: int
    last_us: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CoreLine:
    """One line of the core: its memory and version, and its section.

    `text` is the whole line of the prompt; "" if the line was removed and its words were deleted since.
    """

    section: Section
    memory_id: str
    version: int
    text: str
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CoreDiff:
    """The changes of a rewrite against the one before: lines added, removed, and reworded as (before, after)."""

    added: tuple[CoreLine, ...] = ()
    removed: tuple[CoreLine, ...] = ()
    reworded: tuple[tuple[CoreLine, CoreLine], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.reworded)


@dataclass(frozen=True, slots=True, kw_only=True)
class Core:
    """The current core: never more than `tokens_max` tokens, nor `lines_max` lines.

    `text` is the block for the prompt, fenced as data; "" if no memory qualifies. `left_out` lists instructions, pins
    and identity that did not fit. `diff` compares the last rewrite with the one before: `rewritten` tells whether this
    call made it; `rewrites` counts the stored rewrites.
    """

    text: str
    lines: tuple[CoreLine, ...]
    tokens: int
    tokens_max: int
    lines_max: int
    left_out: tuple[str, ...]
    diff: CoreDiff
    rewritten: bool
    rewrites: int
    rewritten_us: int
    previous_us: int | None
    counted_by: str = "estimate"
    """The token counter: "estimate", or the name of the tokenizer."""

    @property
    def rewritten_at(self) -> datetime:
        """The time of the last rewrite; a core that was never stored is as of now."""
        return to_datetime(self.rewritten_us)

    @property
    def previous_at(self) -> datetime | None:
        """The time of the rewrite that `diff` compares with; None for the first one."""
        return None if self.previous_us is None else to_datetime(self.previous_us)


# Items: values that a program keeps beside the beliefs, under a space and a key.


ANY_VERSION: Final = -1
"""The expected version of a write that replaces any version, or none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A value under a key of a space.

    `value` is JSON. `source` is the id of the event or memory that has the words of the item; None for an item without
    words. `key` "" asks for the next number of the space, as twelve digits. `version` counts the writes of the key from
    1; when the item is filed, it is the expected one: 0 for none, `ANY_VERSION` for any. Times are microseconds UTC.
    """

    space: str
    key: str
    value: str
    source: str | None = None
    version: int = ANY_VERSION
    created_us: int = 0
    updated_us: int
    expires_us: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemRemoval:
    """The removal of an item, or with `key` None of every item of its space; `version` is the expected one."""

    space: str
    key: str | None = None
    version: int = ANY_VERSION


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemFilter:
    """The items to return: `space` is the whole name, or with `below` its beginning.

    `sources` are ids of events or memories. They come in order of space and key, or with `newest` in the reverse order.
    Items that have expired at `now_us` are left out, or with `expired` the others.
    """

    space: str
    below: bool = False
    key: str | None = None
    key_begins: str = ""
    sources: tuple[str, ...] = ()
    now_us: int = 0
    newest: bool = False
    expired: bool = False
    limit: int = -1
