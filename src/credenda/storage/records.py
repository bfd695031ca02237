"""What a store files and what it is asked for, as values; the protocol is in `storage.store`."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, NamedTuple

from credenda.model.change import ChangeKind
from credenda.model.claim import Evidence
from credenda.model.contest import ContestCase
from credenda.model.doctor_finding import Finding
from credenda.model.memory import Layer, Memory, MemoryType, Status
from credenda.storage.derived_rows import Retention, SchedulerLease, Surprise, Watermark
from credenda.storage.usage import Access, Prune

__all__ = [
    "CODE_BITS",
    "Access",
    "ChangeFilter",
    "Counts",
    "Delta",
    "Document",
    "DocumentState",
    "EventFilter",
    "Finding",
    "IndexPosition",
    "Job",
    "JobFilter",
    "JobStatus",
    "MemoryFilter",
    "Prune",
    "Redaction",
    "ReplayedRows",
    "Retention",
    "SchedulerLease",
    "Snapshot",
    "Spend",
    "Surprise",
    "TenantRecord",
    "Tombstone",
    "Vector",
    "Watermark",
    "count_vector_bytes",
    "pack_code",
    "unpack_code",
]

_HEADS: Final = {32: 0, 16: 0, 8: 8, 4: 9, 2: 9}
"""Bytes before the dimensions of a vector, by its width."""
_ORDINAL_BITS: Final = 12
_OWNER_BITS: Final = 31
_MEMORY_BIT: Final = 1 << (_ORDINAL_BITS + _OWNER_BITS)
CODE_BITS: Final = _ORDINAL_BITS + _OWNER_BITS + 1


def pack_code(number: int, ordinal: int = 0, *, memory: bool) -> int:
    """Name a document: a memory's text, or passage `ordinal` of an event. Fits 44 bits; memories sort last."""
    return (_MEMORY_BIT if memory else 0) | (number << _ORDINAL_BITS) | ordinal


def unpack_code(code: int) -> tuple[bool, int, int]:
    """Return (is a memory, number of the memory or event, passage ordinal)."""
    return (
        bool(code & _MEMORY_BIT),
        (code & (_MEMORY_BIT - 1)) >> _ORDINAL_BITS,
        code & ((1 << _ORDINAL_BITS) - 1),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantRecord:
    """A tenant as its store knows it: `tag` ends every public id, `key` (32 bytes) signs its keyed hashes."""

    user_id: str
    number: int
    tag: str
    key: bytes
    has_tombstones: bool = False
    hold: str | None = None
    """Why nothing of this tenant may be deleted now; None where nothing holds it."""


@dataclass(frozen=True, slots=True)
class IndexPosition:
    """How far an index has read: last event, last change, last vector."""

    event: int = 0
    change: int = 0
    vector: int = 0


class DocumentState(StrEnum):
    """Whether a document may be found without being asked for specially."""

    CURRENT = "current"
    PAST = "past"
    HIDDEN = "hidden"
    GONE = "gone"


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One searchable text. `text` is as indexed: "[8 May 2023] Speaker: words" for an event's passage.

    `session` is "" for memories; `occurred_us` is when it was said, or since when a memory is valid.
    """

    code: int
    text: str
    session: str
    speaker: str
    occurred_us: int
    state: DocumentState


class Vector(NamedTuple):
    """A stored embedding of a document: `bits` per dimension (32 or 16: floats; 8, 4, 2: as `vectors.quantize` writes).

    `scale` is 1: rough vectors hold their range themselves.
    """

    code: int
    model_id: str
    dims: int
    bits: int
    scale: float
    data: bytes


def count_vector_bytes(dims: int, bits: int) -> int:
    """Return how many bytes such a vector has: rough ones begin with their range, those below 8 bits with their width.

    Raises `ValueError` for a width that no vector has.

    >>> [vector_bytes(384, bits) for bits in (32, 16, 8, 4, 2)]
    [1536, 768, 392, 201, 105]
    """
    if bits not in _HEADS:
        raise ValueError(f"no vector has {bits} bits a dimension")
    return _HEADS[bits] + -(-dims * bits // 8)


@dataclass(frozen=True, slots=True, kw_only=True)
class Delta:
    """What an index that has read up to some heads still lacks, in order of code within each list."""

    heads: IndexPosition
    documents: tuple[Document, ...] = ()
    states: tuple[tuple[int, DocumentState], ...] = ()
    vectors: tuple[Vector, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryFilter:
    """Which memories to read; None means any. Current versions, newest id first, unless said otherwise.

    `pair` is (entity, attribute) in normal form; `same_text_as` a text that is the memory's but for case, punctuation
    and spaces; `below` an id number to page from; `offset` how many to pass over. `known_at_us` reads the versions held
    at that time instead of the current ones, but for those whose words were deleted since; `as_of_us` only what was
    true at that time, whatever its status now (a corrected one never was).
    """

    pair: tuple[str, str] | None = None
    entity: str | None = None
    attribute: str | None = None
    same_text_as: str | None = None
    statuses: frozenset[Status] | None = None
    types: frozenset[MemoryType] | None = None
    layers: frozenset[Layer] | None = None
    topic: str | None = None
    pinned: bool | None = None
    expires_before_us: int | None = None
    below: int | None = None
    offset: int = 0
    limit: int | None = None
    known_at_us: int | None = None
    as_of_us: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EventFilter:
    """Which events to read, oldest first; `newest_first` turns the order. Redacted ones are left out.

    `redacted` brings those too, `worded` leaves out what has no words left.
    """

    session: str | None = None
    topic: str | None = None
    source: str | None = None
    after: int | None = None
    below: int | None = None
    recorded_before_us: int | None = None
    occurred_before_us: int | None = None
    expires_before_us: int | None = None
    limit: int | None = None
    newest_first: bool = False
    redacted: bool = False
    worded: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeFilter:
    """Which changes to read, oldest first: `later_than_us` and `until_us` bound when, the first excluded.

    `memories` (numbers, `stop` excluded) reads the changes of a run of memories, one memory after the other; the other
    conditions are then left aside.
    """

    memory_id: str | None = None
    memories: range | None = None
    cause: str | None = None
    kinds: frozenset[ChangeKind] | None = None
    after: int | None = None
    later_than_us: int | None = None
    until_us: int | None = None
    limit: int | None = None


class JobStatus(StrEnum):
    """Where a job stands (R-071); `dead` was tried too often and waits for a person."""

    QUEUED = "queued"
    PROCESSING = "processing"
    COMPLETE = "complete"
    FAILED = "failed"
    DEAD = "dead"


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A durable piece of work over events `first`…`last` (numbers), or over one memory.

    `id` is "" for a job that is to be filed. A processing job belongs to `lease_owner` until `lease_until_us`.
    """

    id: str = ""
    kind: str
    first: int = 0
    last: int = 0
    status: JobStatus = JobStatus.QUEUED
    attempts: int = 0
    run_after_us: int = 0
    lease_owner: str = ""
    lease_until_us: int = 0
    error: str = ""
    idempotency_key: str | None = None
    payload_hash: bytes = b""
    created_us: int = 0
    updated_us: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class JobFilter:
    """Which jobs to read, in the order they are due. `key` finds one by its idempotency key.

    `until_event` leaves out jobs whose first event came later; `kinds` takes these kinds, `other_kinds` all others.
    """

    key: str | None = None
    id: str | None = None
    statuses: frozenset[JobStatus] = frozenset()
    due_us: int | None = None
    until_event: int | None = None
    kinds: frozenset[str] | None = None
    other_kinds: frozenset[str] = frozenset()
    limit: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tombstone:
    """A keyed hash (32 bytes) of something deleted; `kind` is "text" or "value".

    `lifted` takes it away again: the person said the deleted thing anew, on purpose.
    """

    digest: bytes
    kind: str
    normaliser: int
    created_us: int
    lifted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Redaction:
    """Take the words out of an event or a memory (all its versions and changes), for good.

    For an event `text` is what remains (""), or the text with the redacted spans blanked, character for character.
    Indexes learn of it from the log: file, in the same unit, a `delete` change of the memory or caused by the event.
    `phrases` are quotations of a memory's value or text, as reasons and contests elsewhere in the log may hold them.
    """

    id: str
    at_us: int
    text: str = ""
    phrases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """A disposable image of an index: named blobs of at most `limits.SNAPSHOT_BLOB_BYTES` each."""

    name: str
    blobs: tuple[bytes, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayedRows:
    """What the change log says of a memory, or of a contest, to take the place of whatever rows it has.

    `evidence` is None where the log does not hold it: the rows then stay. The full-text index is made afresh with it.
    """

    versions: tuple[Memory, ...] = ()
    evidence: frozenset[Evidence] | None = None
    contest: ContestCase | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Spend:
    """What a model was paid for on a day (since 1970-01-01 UTC), for an operation.

    Filing one adds its numbers to those of the day; negative ones give back what was only set aside. With `tokens_max`
    it is filed only if the day's tokens, over all operations and models, then stay within that bound.
    """

    day: int
    operation: str
    model_id: str
    tokens_in: int = 0
    tokens_out: int = 0
    calls: int = 0
    cost_usd: float = 0.0
    tokens_max: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """How much a tenant holds."""

    events: int = 0
    redacted_events: int = 0
    memories: dict[str, int] = field(default_factory=dict[str, int])
    """Current versions by status."""
    types: dict[str, int] = field(default_factory=dict[str, int])
    """Active memories by type."""
    changes: int = 0
    jobs: dict[str, int] = field(default_factory=dict[str, int])
    open_contests: int = 0
    vectors: int = 0
    vectors_by_model: dict[str, int] = field(default_factory=dict[str, int])
    tombstones: int = 0
    spends: tuple[Spend, ...] = ()
    """The ledger of models, newest day first; at most `limits.SPENDS_SHOWN`."""
