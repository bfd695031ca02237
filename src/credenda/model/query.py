"""Queries and their results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from typing import Generic, Literal, TypeVar

from credenda.clock import to_datetime
from credenda.model.change import Actor, ChangeKind, ChangeRecord
from credenda.model.event import Event
from credenda.model.memory import Layer, Memory, MemoryType, Relation, Status, TypeClass, read_validity

T = TypeVar("T")
HitKind = Literal["memory", "event"]
Flag = Literal["contested", "challenged", "stale", "low_confidence", "superseded"]
Mode = Literal["facts_only", "facts_plus_rules", "full_context", "codebase"]
Profile = Literal["default", "recall", "evidence"]
Include = Literal["superseded", "low_confidence", "archived", "misses"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A search with all its conditions, validated and normalised. Times are microseconds UTC; days are in `zone`."""

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
    project: str | None = None
    """Only what was said in this project or in none, and the user's own facts; "" is outside of all projects."""
    include: frozenset[str] = frozenset()
    explain: bool = False
    record_access: bool = True
    refuse_below: float = 0.0
    """The probability of an answer below which a search returns no hits; 0 never refuses."""
    zone: tzinfo = UTC

    @property
    def asks_code(self) -> bool:
        """Whether it searches code memories, which no other search returns."""
        return self.mode == "codebase" or (self.layers is not None and Layer.CODEBASE in self.layers)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One result. Exactly one of `memory` and `event` is set, according to `kind`.

    The text of a memory is its statement, see `Memory.statement`, with days in the zone of the query; `quote` has the
    words that it was read from. `score` is in [0, 1] and comparable across queries; `terms` lists every summand if
    `explain` was set. `evidence` are
    the source events of a memory, oldest first; `flags` are warnings about its status. `newer` is the id of a hit of
    the same result that may state a newer value of the same thing; it stands before this one.
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
    newer: str | None = None

    @property
    def quote(self) -> str:
        """The words behind the text: those that a memory was read from, or those of the event."""
        return self.text if self.memory is None else self.memory.quote


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """Hits, best first; `abstained` means that nothing of the question is known, and then there are none.

    `probability`, in [0, 1], estimates whether the memory holds an answer. `nearest` are up to five near misses of a
    search that abstained. `trace` describes how the search ran. `waiting` counts messages that are not read yet, at
    most 100: search finds their words, but no memories exist for them.
    """

    hits: tuple[Hit, ...]
    abstained: bool
    took_ms: float
    trace: Mapping[str, object] = field(default_factory=dict[str, object])
    waiting: int = 0
    probability: float = 0.0
    nearest: tuple[Hit, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """A block for a prompt, fenced as data, never above its budget of `tokens`.

    `counted_by` is the token counter: "estimate", or the name of the tokenizer. `probability` is that of the search;
    hits take a part of the budget that grows with it.
    `waiting` counts messages that are not read yet, at most 100.
    """

    text: str
    hits: tuple[Hit, ...]
    tokens: int
    abstained: bool
    counted_by: str = "estimate"
    waiting: int = 0
    probability: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Page(Generic[T]):
    """One page of a list, and the cursor of the next page (None at the end)."""

    items: tuple[T, ...]
    next_cursor: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotVersion:
    """One value that a slot has had."""

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
    """Whether it denies the value."""

    @property
    def valid_from(self) -> datetime | None:
        """The time from which it was true; None if it never was."""
        return read_validity(self.valid_from_us, self.relation)

    @property
    def valid_until(self) -> datetime | None:
        """The time at which it stopped being true; None if it never was true."""
        return read_validity(self.valid_until_us, self.relation)

    @property
    def recorded_at(self) -> datetime:
        """The time of its recording."""
        return to_datetime(self.recorded_us)


@dataclass(frozen=True, slots=True, kw_only=True)
class EarnedImportance:
    """The importance that a memory has earned: nine factors in [0, 1], what each adds, and their sum.

    Computed whenever it is shown, and stored nowhere (docs/explanation/lifecycle.md).
    """

    score: float
    factors: Mapping[str, float]
    terms: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """The reasons for a memory: its evidence as (event, start, end), and every change to it, oldest first.

    Changes by which others ended for it are among them, so that it can be undone from here.

    `authors` are the members who wrote these events and made these changes, by id; in a shared memory alone.
    """

    memory: Memory
    evidence: tuple[tuple[Event, int, int], ...]
    changes: tuple[ChangeRecord, ...]
    authors: Mapping[str, str] = field(default_factory=dict[str, str])
    earned: EarnedImportance | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EventDetails:
    """An event, and the memories that rest on it."""

    event: Event
    memories: tuple[Memory, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusStep:
    """One status change of a memory; the first has no `previous`."""

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
        """The time of the change."""
        return self.at

    @property
    def at(self) -> datetime:
        """The time of the change."""
        return to_datetime(self.at_us)


# The outcome of messages: whether they were processed, the memories they support, and the questions they raise.


@dataclass(frozen=True, slots=True, kw_only=True)
class Contradiction:
    """Values of one slot that exclude each other, and the question for the user.

    `id` is that of an open contest, or of the memory that contradicts earlier ones; `resolve` takes both. `values` are
    the values, the earliest first.
    """

    id: str
    entity: str
    attribute: str
    scope: str | None
    values: tuple[str, ...]
    question: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The outcome of some messages.

    `state` is queued, running, done, or failed where a job was given up. `memories` are those that rest on the
    messages, without deleted ones; `contradictions` are the undecided ones among them.
    """

    state: str
    events: tuple[Event, ...]
    memories: tuple[Memory, ...]
    contradictions: tuple[Contradiction, ...]
