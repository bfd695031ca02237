"""Results of browsing: memories with their facets, sessions, and the use of one memory."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Literal

from credenda.clock import to_datetime
from credenda.model.evaluation import FeedbackCounts
from credenda.model.event import Event
from credenda.model.memory import Memory


@dataclass(frozen=True, slots=True, kw_only=True)
class Browse:
    """Memories that match conditions, newest first, and how many of them have each value of a facet.

    `facets` maps the name of a facet to its values and their counts, the most frequent first. `counted` memories match
    in all; `has_more` says that some follow these. `said` is the time of the message that has the words of a memory, by
    its id; a memory without a message has none.
    """

    items: tuple[Memory, ...]
    counted: int
    has_more: bool
    facets: Mapping[str, Mapping[str, int]]
    never_used: int = 0
    """How many of them are believed and were never returned by a search, though they are older than a week."""
    said: Mapping[str, datetime] = field(default_factory=dict[str, datetime])


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSummary:
    """A session: when it was, how many messages it has, and how many memories rest on them."""

    session: str
    first_us: int
    last_us: int
    messages: int
    memories: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnedMemory:
    """A memory, and the events of a session on which it rests."""

    memory: Memory
    event_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionDetails:
    """The messages of a session, oldest first, and the memories that rest on them.

    `has_more` says that the session has more messages than are shown.
    """

    session: str
    events: tuple[Event, ...]
    learned: tuple[LearnedMemory, ...]
    has_more: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryUse:
    """A session that got a memory on a day: how often, and 1 or −1 with feedback."""

    session: str
    at_us: int
    shown: int
    useful: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryUses:
    """The sessions that got a memory, the latest first, and all feedback on it."""

    id: str
    uses: tuple[MemoryUse, ...]
    feedback: FeedbackCounts = field(default_factory=FeedbackCounts)


# The people and things that memories are about, and how they are related.


@dataclass(frozen=True, slots=True, kw_only=True)
class EntitySummary:
    """An entity: its name as most memories write it, how many believed memories it has, and the time of the newest.

    `attributes` are the names of its slots, in alphabetical order. A thing that is only the value of others has none.
    """

    name: str
    memories: int
    attributes: tuple[str, ...]
    latest_us: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityRelation:
    """A believed memory whose value is a name: `source` has `attribute` `target`."""

    source: str
    attribute: str
    target: str
    memory_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityMap:
    """Entities, those with the most memories first, and the relations between them.

    `counted` believed memories were looked at, the newest; `has_more` says that there are others.
    """

    entities: tuple[EntitySummary, ...]
    relations: tuple[EntityRelation, ...]
    counted: int
    has_more: bool = False


# The virtual directory of a memory: its pages, entries and matches.


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


# The differences in belief between two times.


Axis = Literal["known", "valid"]


class DifferenceKind(StrEnum):
    """The kind of a difference: `changed` and `corrected` beliefs have a successor, `ended` ones have none."""

    CHANGED = "changed"
    CORRECTED = "corrected"
    MERGED = "merged"
    ADDED = "added"
    RESTORED = "restored"
    ENDED = "ended"
    DELETED = "deleted"
    CONTESTED = "contested"
    RESOLVED = "resolved"
    DOUBTED = "doubted"
    CONFIRMED = "confirmed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One belief that differs: `memory` at the later time, `previous` its predecessor.

    A deleted memory has no words. `confirmations` counts repeated statements between the two times, `reason` and `at`
    belong to the deciding change, and `changes` are the ids of all changes to it.
    """

    kind: DifferenceKind
    memory: Memory
    previous: Memory | None = None
    confirmations: int = 0
    reason: str = ""
    at_us: int
    changes: tuple[str, ...] = ()

    @property
    def at(self) -> datetime:
        """The time of the difference: of its recording, or on the axis `valid` the start of its validity."""
        return to_datetime(self.at_us)


@dataclass(frozen=True, slots=True, kw_only=True)
class Diff:
    """The differences in belief between two times, in chronological order.

    The axis `known` compares the beliefs held at the two times, `valid` the values true at them as known now. `counts`
    has the number of each kind.
    """

    axis: Axis
    since_us: int
    until_us: int
    differences: tuple[Difference, ...]
    counts: Mapping[str, int]

    @property
    def since(self) -> datetime:
        """The earlier time."""
        return to_datetime(self.since_us)

    @property
    def until(self) -> datetime:
        """The later time."""
        return to_datetime(self.until_us)
