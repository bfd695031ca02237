"""Memories, their drafts, and the slots that they compete for. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Final, NamedTuple, cast

from credenda.clock import to_datetime
from credenda.errors import Conflict
from credenda.model.statement import is_lasting_plan, write_statement


class MemoryType(StrEnum):
    """The kind of belief (R-014); a narrative comes only from an import or `store`."""

    PREFERENCE = "preference"
    FACT = "fact"
    DECISION = "decision"
    PROCEDURE = "procedure"
    NARRATIVE = "narrative"


class TypeClass(StrEnum):
    """The types that share slots: facts and preferences do, decisions and procedures have their own."""

    BELIEF = "belief"
    DECISION = "decision"
    PROCEDURE = "procedure"


class Layer(StrEnum):
    """The expected lifetime of a memory (E-001…E-005)."""

    WORKING = "working"
    EPISODIC = "episodic"
    SEMANTIC = "semantic"
    PROCEDURAL = "procedural"
    CODEBASE = "codebase"


class Status(StrEnum):
    """The status of a memory (E-015…E-019); `deleted` keeps the row, never the text."""

    ACTIVE = "active"
    CHALLENGED = "challenged"
    CANDIDATE = "candidate"
    SUPERSEDED = "superseded"
    MERGED = "merged"
    INVALIDATED = "invalidated"
    ARCHIVED = "archived"
    FORGOTTEN = "forgotten"
    DELETED = "deleted"


class Relation(StrEnum):
    """The reason of a replacement: `changed` (both true in their time), `corrected` (the old one was wrong) etc."""

    CORRECTED = "corrected"
    CHANGED = "changed"
    REFINED = "refined"
    MERGED = "merged"
    DUPLICATE = "duplicate"


class Cardinality(StrEnum):
    """How many values a slot can have at a time."""

    SINGLE = "single"
    SET = "set"


class Stance(StrEnum):
    """The stance of the speaker to the statement."""

    ASSERTED = "asserted"
    NEGATED = "negated"
    REPORTED = "reported"
    PLANNED = "planned"
    CONSIDERED = "considered"
    HYPOTHETICAL = "hypothetical"
    ROLE_PLAY = "role_play"
    SARCASTIC = "sarcastic"


class Slot(NamedTuple):
    """The key under which at most one value, or one set of values, is believed.

    All parts are normal forms; `speaker` is the person whose belief it is ("user" for the tenant).
    """

    speaker: str
    entity: str
    attribute: str
    scope: str | None
    type_class: TypeClass


_CLASS: Final = {
    MemoryType.DECISION: TypeClass.DECISION,
    MemoryType.PROCEDURE: TypeClass.PROCEDURE,
}
_LAYER: Final = {
    MemoryType.PREFERENCE: Layer.SEMANTIC,
    MemoryType.FACT: Layer.SEMANTIC,
    MemoryType.DECISION: Layer.PROCEDURAL,
    MemoryType.PROCEDURE: Layer.PROCEDURAL,
    MemoryType.NARRATIVE: Layer.EPISODIC,
}


def get_type_class(kind: MemoryType) -> TypeClass:
    """Return the class of types with which a type shares slots: a decision challenges a fact, never replaces it."""
    return _CLASS.get(kind, TypeClass.BELIEF)


INSTRUCTION: Final = "instruction"
"""The attribute of a standing instruction: a preference about what to do, so procedural knowledge (E-125, E-126)."""


def get_initial_layer(kind: MemoryType, attribute: str | None = None) -> Layer:
    """Return the layer of a new memory of this type and attribute (C-010, C-013)."""
    return Layer.PROCEDURAL if attribute == INSTRUCTION else _LAYER[kind]


def get_engram_type(kind: MemoryType, attribute: str | None = None) -> str:
    """Return engram's `memory_type`: fact, procedure or narrative (C-013).

    >>> get_engram_type(MemoryType.PREFERENCE), get_engram_type(MemoryType.PREFERENCE, "instruction")
    ('fact', 'procedure')
    """
    if kind in (MemoryType.PROCEDURE, MemoryType.NARRATIVE):
        return kind.value
    return MemoryType.PROCEDURE.value if attribute == INSTRUCTION else "fact"


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryUnit:
    """A memory for `store`, without extraction: for tests, seeding and migration (R-067).

    `entity`, `attribute` and `value` define its slot; without them only equal text is recognised as the same memory.
    Times are aware datetimes; importance and confidence are in [0, 1].

    >>> MemoryUnit(text="Lives in Linz", entity="user", attribute="residence", value="Linz").type.value
    'fact'
    """

    text: str
    type: MemoryType | str = MemoryType.FACT
    topic: str | None = None
    entity: str | None = None
    attribute: str | None = None
    value: str | None = None
    scope: str | None = None
    cardinality: Cardinality | str | None = None
    importance: float = 0.5
    confidence: float = 0.8
    source: str = "human"
    source_session: str = ""
    valid_from: datetime | str | None = None
    valid_until: datetime | str | None = None
    created_at: datetime | str | None = None
    layer: Layer | str | None = None
    pinned: bool = False
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, object] = field(default_factory=dict[str, object])
    expires_at: datetime | str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A memory without an id yet: content, slot, confidence and validity.

    `entity`, `attribute` and `scope` are stored as shown; slots compare their normal forms. Times are microseconds UTC;
    None in `valid_from_us` means valid from the time of the statement; of what had ended by then, that its start is
    unknown.
    """

    text: str
    type: MemoryType
    topic: str | None = None
    entity: str | None = None
    attribute: str | None = None
    value: str | None = None
    scope: str | None = None
    cardinality: Cardinality = Cardinality.SINGLE
    stance: Stance = Stance.ASSERTED
    speaker: str = "user"
    confidence: float = 0.8
    importance: float = 0.5
    layer: Layer = Layer.SEMANTIC
    status: Status = Status.ACTIVE
    valid_from_us: int | None = None
    valid_until_us: int | None = None
    trust: float = 1.0
    pinned: bool = False
    provisional: bool = False
    source_session: str = ""
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, object] = field(default_factory=dict[str, object])
    expires_us: int | None = None


def _to_optional_datetime(moment_us: int | None) -> datetime | None:
    return None if moment_us is None else to_datetime(moment_us)


def read_validity(moment_us: int | None, relation: Relation | None) -> datetime | None:
    """Return a bound of the period in which a value was true; None for a corrected one, which was true at no time."""
    return None if relation is Relation.CORRECTED else _to_optional_datetime(moment_us)


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory(Draft):
    """One version of a belief.

    A memory keeps its id through all its versions; `version` counts them. A version was believed from `recorded_at`
    until `expired_at` (None: still believed). `valid_from` and `valid_until` delimit when it was true.
    """

    id: str
    version: int
    created_us: int
    recorded_us: int
    expired_us: int | None = None
    relation: Relation | None = None
    superseded_by: str | None = None
    contested: bool = False
    confirmations: int = 0
    base_importance: float = 0.5
    surprise: float | None = None
    emotional_valence: float | None = None
    last_accessed_us: int | None = None
    access_count: int = 0
    decay_score: float | None = None
    over: bool = False
    """Whether its own words have ended it by now, as those of a past appointment; known where it is read by time."""
    due: bool = False
    """Whether the day of a planned move, job or marriage has passed and nothing tells what came of it; known likewise.
    """

    @property
    def valid_from(self) -> datetime | None:
        """The time from which it was true; None if it never was."""
        return read_validity(self.valid_from_us, self.relation)

    @property
    def valid_until(self) -> datetime | None:
        """The time at which it stopped being true; None while it is true, and if it never was."""
        return read_validity(self.valid_until_us, self.relation)

    @property
    def created_at(self) -> datetime:
        """The recording time of the first version."""
        return to_datetime(self.created_us)

    @property
    def recorded_at(self) -> datetime:
        """The recording time of this version."""
        return to_datetime(self.recorded_us)

    @property
    def expired_at(self) -> datetime | None:
        """The time at which the next version replaced this one; None for the current version."""
        return _to_optional_datetime(self.expired_us)

    @property
    def last_accessed(self) -> datetime | None:
        """The time at which a search last returned it."""
        return _to_optional_datetime(self.last_accessed_us)

    @property
    def expires_at(self) -> datetime | None:
        """The time at which it expires and is deleted."""
        return _to_optional_datetime(self.expires_us)

    @property
    def statement(self) -> str:
        """The memory as one line that stands alone, with days in UTC; "" if its words were deleted."""
        return write_statement(self)

    @property
    def quote(self) -> str:
        """The words of the message that it was read from."""
        return self.text

    @property
    def memory_type(self) -> str:
        """The engram type: fact, procedure (standing instructions too) or narrative."""
        return get_engram_type(self.type, self.attribute)


HELD: Final = frozenset({Status.ACTIVE, Status.CHALLENGED})
"""Statuses of current beliefs: `current` in reconciliation."""

UNTRUE: Final = frozenset({Status.SUPERSEDED, Status.MERGED, Status.INVALIDATED})
"""Statuses that need a `valid_until` (C-014)."""

_GONE: Final = frozenset({Status.FORGOTTEN, Status.DELETED})

ASSERTIVE_STANCES: Final = frozenset({Stance.ASSERTED, Stance.NEGATED})
"""Stances of what is so, or is not."""

OPEN_STANCES: Final = frozenset({Stance.PLANNED, Stance.CONSIDERED})
"""Stances of what may come."""

TRANSITIONS: Final[Mapping[Status, frozenset[Status]]] = {
    Status.CANDIDATE: HELD | UNTRUE | _GONE,
    Status.ACTIVE: UNTRUE | _GONE | {Status.CHALLENGED, Status.ARCHIVED},
    # Restated, answered or confirmed after all: back to active.
    Status.CHALLENGED: UNTRUE | _GONE | {Status.ACTIVE, Status.ARCHIVED},
    # The three untrue statuses lead back by undo, by a retraction of the successor, or by a person's decision.
    # A replaced or merged memory may still turn out to have been wrong.
    Status.SUPERSEDED: HELD | {Status.INVALIDATED} | _GONE,
    Status.MERGED: HELD | {Status.INVALIDATED} | _GONE,
    Status.INVALIDATED: HELD | _GONE,
    # Archived, but still believed: recalled, challenged, or replaced by a later statement.
    Status.ARCHIVED: HELD | UNTRUE | _GONE,
    # `Restore` sets the previous status, whichever it was.
    Status.FORGOTTEN: frozenset(Status) - {Status.FORGOTTEN},
    # The words are deleted; nothing brings them back.
    Status.DELETED: frozenset(),
}
"""Every allowed transition; staying in a status is not one."""


_NO_START: Final = -(1 << 62)
"""Before all times: since when something was true whose start is unknown."""


def has_unknown_start(memory: Memory) -> bool:
    """Return whether a memory had ended when it was created, and nothing says since when it was true."""
    until_us = memory.valid_until_us
    return memory.valid_from_us is None and until_us is not None and until_us <= memory.created_us


def get_valid_from_us(memory: Memory) -> int:
    """Return since when a memory is known to be valid: as stated, else since it was created or just before its end."""
    if memory.valid_from_us is not None:
        return memory.valid_from_us
    until_us = memory.valid_until_us
    return memory.created_us if until_us is None or until_us > memory.created_us else until_us - 1


def get_believed_from_us(memory: Memory) -> int:
    """Return since when a memory is believed: a plan since it was told, although its day comes later.

    When a plan was replaced before its day is not known from its times, so that it counts at no time before that day.
    """
    if has_unknown_start(memory):
        return _NO_START
    since_us, until_us = get_valid_from_us(memory), memory.valid_until_us
    if memory.stance not in OPEN_STANCES or (memory.status is Status.SUPERSEDED and (until_us or 0) <= since_us):
        return since_us
    return min(since_us, memory.created_us)


def has_ended(memory: Memory, now_us: int) -> bool:
    """Return whether a memory is true no more, by its own words or by others.

    The time of a planned move or job is that of its beginning, so that the plan does not end with it by itself.
    """
    if memory.valid_until_us is None or memory.valid_until_us > now_us:
        return False
    return memory.status not in HELD or not is_lasting_plan(memory.stance, memory.attribute)


def mark_over(memories: Iterable[Memory], now_us: int) -> list[Memory]:
    """Mark the current beliefs whose time has passed: an appointment, a state for a time, a move that was planned."""
    return [
        replace(one, over=has_ended(one, now_us), due=not has_ended(one, now_us))
        if one.status in HELD and one.valid_until_us is not None and one.valid_until_us <= now_us
        else one
        for one in memories
    ]


def check_transition(old: Status, new: Status) -> None:
    """Raise `Conflict` unless a memory may move from one status to another.

    >>> check_transition(Status.ACTIVE, Status.CHALLENGED)
    """
    if new in TRANSITIONS[old]:
        return
    if new is old:
        raise Conflict(f"the memory is already {old}", fix="no change is needed")
    ways = ", ".join(sorted(TRANSITIONS[old]))
    raise Conflict(
        f"a memory that is {old} cannot become {new}",
        why="its words were deleted permanently" if old is Status.DELETED else f"from {old} it can only become {ways}",
        fix="store it again with `remember`" if old is Status.DELETED else "choose one of these, or undo first",
    )


# Memories that are made of other memories: by the dream cycle, or by consolidation.


DREAMER: Final = "dream"
"""The speaker of derived memories; slots never cross speakers, so that they conflict with no statement."""
CARD: Final = "peer_card"
"""The attribute of a card; its entity is the subject."""
BRIDGE: Final = "bridge"
"""The attribute and the entity of a bridge: it has two subjects, and one look-up finds all bridges."""
CONSOLIDATED: Final = "consolidated"
"""The metadata key under which consolidation stores first seen, updated and sources of an entry (S-018)."""


def is_dreamed(memory: Draft) -> bool:
    """Return whether the dream cycle derived a memory from others.

    >>> from credenda.model.memory import MemoryType
    >>> is_dreamed(Draft(text="Ana lives in Linz.", type=MemoryType.FACT))
    False
    """
    return memory.speaker == DREAMER and memory.attribute in {CARD, BRIDGE} and "cites" in memory.metadata


def list_sources(memory: Draft) -> frozenset[str]:
    """Return the ids of the source memories of a derived memory."""
    return _read_ids(memory.metadata.get("cites"))


def list_merged_sources(memory: Draft) -> frozenset[str]:
    """Return the ids of the memories of which consolidation made an entry, those of previous values among them."""
    origin = memory.metadata.get(CONSOLIDATED)
    named = cast("Mapping[str, object]", origin).get("sources") if isinstance(origin, Mapping) else None
    return _read_ids(named)


def _read_ids(named: object) -> frozenset[str]:
    if not isinstance(named, list | tuple):
        return frozenset()
    return frozenset(str(one) for one in cast("list[object]", named))


# Novelty of a memory compared with the existing ones, and its effect on importance. Pure.


NEIGHBOURS: Final = 5
"""k: the number of nearest memories that count (E-043)."""
DUPLICATE_SIMILARITY: Final = 0.92
"""Similarity from which the nearest memory is treated as a possible duplicate (E-047)."""
DUPLICATE_OF: Final = "duplicate_of"
"""The metadata key of a memory that refers to its possible duplicate (E-044, E-048)."""
_STEEPNESS: Final = 10.0
_MIDDLE: Final = 0.35
_REACH: Final = 0.6
_NOTHING: Final = 1.0
_FIRST: Final = 0.15
_LEAST, _MOST = 0.05, 1.0
_PLACES: Final = 4
_BELOW_ONE: Final = 1.0 - 10.0**-_PLACES
"""The maximum of a comparison; exactly 1 means that there was no memory to compare with."""


def compute_surprise(similarities: Sequence[float]) -> float:
    """Return the surprise of a memory, in [0, 1], from its cosines to its nearest neighbours (E-045).

    >>> compute_surprise([]), compute_surprise([0.65] * 5), compute_surprise([0.95] * 5)
    (1.0, 0.5, 0.0474)
    """
    if not similarities:
        return _NOTHING
    apart = math.fsum(1.0 - one for one in similarities) / len(similarities)
    return round(min(_BELOW_ONE, 1.0 / (1.0 + math.exp(-_STEEPNESS * (apart - _MIDDLE)))), _PLACES)


def compute_importance_change(score: float) -> float:
    """Return the change of importance, in [−.3, +.3] (E-046); the first memory of all gains .15 (E-047).

    >>> compute_importance_change(0.9), compute_importance_change(0.1), compute_importance_change(1.0)
    (0.24, -0.24, 0.15)
    """
    return _FIRST if score == _NOTHING else round((score - 0.5) * _REACH, _PLACES)


def adjust_importance(stated: float, score: float | None) -> float:
    """Adjust a stated importance by a surprise; it stays unchanged without one.

    >>> (adjust_importance(0.5, 0.9), adjust_importance(0.9, 0.99), adjust_importance(0.1, 0.1),
    ... adjust_importance(0.4, None))
    (0.74, 1.0, 0.05, 0.4)
    """
    return (
        stated if score is None else round(min(_MOST, max(_LEAST, stated + compute_importance_change(score))), _PLACES)
    )
