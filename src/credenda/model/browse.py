"""Results of browsing: memories with their facets, sessions, and the use of one memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from credenda.model.event import Event
from credenda.model.feedback import FeedbackCounts
from credenda.model.memory import Memory

__all__ = ["Browse", "LearnedMemory", "MemoryUse", "MemoryUses", "SessionDetails", "SessionSummary"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Browse:
    """Memories that match conditions, newest first, and how many of them have each value of a facet.

    `facets` maps the name of a facet to its values and their counts, the most frequent first. `counted` memories match
    in all; `has_more` says that some follow these. `said` is the time of the last message that states a memory, by its
    id; a memory without a message has none.
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
