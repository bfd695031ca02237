"""What is asked, and what comes back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from typing import Generic, Literal, TypeVar

from credenda.clock import to_datetime
from credenda.model.change import Actor, ChangeKind, ChangeRecord
from credenda.model.event import Event
from credenda.model.memory import Layer, Memory, MemoryType, Relation, Status, TypeClass

__all__ = [
    "Context",
    "EventDetails",
    "Explanation",
    "Flag",
    "Hit",
    "HitKind",
    "Include",
    "Mode",
    "Page",
    "Profile",
    "Query",
    "SearchResult",
    "SlotVersion",
    "StatusStep",
]

T = TypeVar("T")
HitKind = Literal["memory", "event"]
Flag = Literal["contested", "challenged", "stale", "low_confidence", "superseded"]
Mode = Literal["facts_only", "facts_plus_rules", "full_context", "codebase"]
Profile = Literal["default", "recall", "evidence"]
Include = Literal["superseded", "low_confidence", "archived", "misses"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A search with all its conditions, checked and in normal form. Times are microseconds UTC; days are `zone`'s."""

    text: str
    limit: int = 20
    topic: str | None = None
    kinds: frozenset[HitKind] = frozenset({"memory", "event"})
    types: frozenset[MemoryType] | None = None
    layers: frozenset[Layer] | None = None
    mode: Mode = "full_context"
    min_confidence: float = 0.4
    as_of_us: int | None = None
    known_at_us: int | None = None
    recency_weight: float = 0.3
    profile: Profile = "default"
    tags: frozenset[str] | None = None
    metadata: Mapping[str, object] | None = None
    session: str | None = None
    exclude_session: str | None = None
    include: frozenset[str] = frozenset()
    explain: bool = False
    record_access: bool = True
    zone: tzinfo = UTC

    @property
    def asks_code(self) -> bool:
        """Whether it asks for what scans kept of code, which answers no other search."""
        return self.mode == "codebase" or (self.layers is not None and Layer.CODEBASE in self.layers)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One result. Exactly one of `memory` and `event` is set, as `kind` says.

    `score` lies in [0, 1] and means the same across queries; `terms` names every summand when `explain` was asked.
    `evidence` are the events that a memory rests on, oldest first; `flags` warn about its standing.
    """

    kind: HitKind
    id: str
    text: str
    score: float
    memory: Memory | None = None
    event: Event | None = None
    evidence: tuple[Event, ...] = ()
    flags: frozenset[Flag] = frozenset()
    terms: Mapping[str, float] = field(default_factory=dict[str, float])


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """Hits, best first. `abstained` means that nothing relevant is known; `trace` says how it was searched.

    `waiting` counts messages that were filed and not read yet: their words are found, what follows from them is not.
    """

    hits: tuple[Hit, ...]
    abstained: bool
    took_ms: float
    trace: Mapping[str, object] = field(default_factory=dict[str, object])
    waiting: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """A block for a prompt, fenced as data, never over its budget of `tokens`.

    `counted_by` says what counted them: "estimate", or the name of the tokenizer. `waiting` counts messages that were
    filed and not read yet.
    """

    text: str
    hits: tuple[Hit, ...]
    tokens: int
    abstained: bool
    counted_by: str = "estimate"
    waiting: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Page(Generic[T]):
    """Some items of a list, and the cursor of the next page (None at the end)."""

    items: tuple[T, ...]
    next_cursor: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotVersion:
    """One value that a slot held."""

    memory_id: str
    text: str
    value: str | None
    scope: str | None
    status: Status
    relation: Relation | None
    superseded_by: str | None
    reason: str
    valid_from_us: int | None
    valid_until_us: int | None
    recorded_us: int
    entity: str | None = None
    attribute: str | None = None
    speaker: str = "user"
    kind: TypeClass = TypeClass.BELIEF
    contested: bool = False
    denied: bool = False
    """Whether it holds that the value is not so."""

    @property
    def valid_from(self) -> datetime | None:
        """When it became true."""
        return None if self.valid_from_us is None else to_datetime(self.valid_from_us)

    @property
    def valid_until(self) -> datetime | None:
        """When it stopped being true."""
        return None if self.valid_until_us is None else to_datetime(self.valid_until_us)

    @property
    def recorded_at(self) -> datetime:
        """When this was recorded."""
        return to_datetime(self.recorded_us)


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Why a memory is held: the words it rests on as (event, start, end), and every change to it, oldest first."""

    memory: Memory
    evidence: tuple[tuple[Event, int, int], ...]
    changes: tuple[ChangeRecord, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EventDetails:
    """An event, and the memories that rest on it."""

    event: Event
    memories: tuple[Memory, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusStep:
    """One step of a memory from status to status; the first has no `previous`."""

    status: Status
    previous: Status | None
    kind: ChangeKind
    actor: Actor
    reason: str
    at_us: int
    change_id: str

    @property
    def old(self) -> Status | None:
        """The status before, by engram's name (E-022)."""
        return self.previous

    @property
    def new(self) -> Status:
        """The status after it."""
        return self.status

    @property
    def changed_at(self) -> datetime:
        """When it took the step."""
        return self.at

    @property
    def at(self) -> datetime:
        """When it took the step."""
        return to_datetime(self.at_us)
