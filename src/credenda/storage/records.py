"""The values that a store reads and writes, and the filters of its queries; the protocol is in `storage.store`."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from enum import StrEnum
from threading import Lock, RLock
from typing import Final, NamedTuple
from weakref import WeakValueDictionary

from credenda.current_call import check_deadline, get_seconds_left
from credenda.errors import Unavailable
from credenda.model.change import ChangeKind, ChangeRecord, ContestCase
from credenda.model.claim import Evidence
from credenda.model.core import Item, ItemRemoval
from credenda.model.event import NewEvent
from credenda.model.governance import LegalHold, RetentionPolicy
from credenda.model.job import DutyRun
from credenda.model.memory import Layer, Memory, MemoryType, Stance, Status

# Rows that scheduled tasks write: derived values, watermarks, and the lease of the scheduler.


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """Retention scores of memories in [0, 1], by id: derived values of the current versions, not changes of them.

    One statement writes them all; it ignores ids that do not exist.
    """

    scores: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Surprise:
    """The novelty of a memory when it was written, in [0, 1], and its importance adjusted by it.

    Derived values of the current version, written once: a memory that has a surprise score keeps it.
    """

    memory_id: str
    score: float
    importance: float


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorCopies:
    """Vectors of documents, by code, for the index of a backend that has one (`VectorView.is_indexed`).

    `head` is the number of the last vector up to which all of this model were copied.
    """

    model_id: str
    head: int
    vectors: Sequence[tuple[int, Sequence[float]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Watermark:
    """The progress of a scheduled task; the task defines its `value`. A `value` of None removes the watermark."""

    name: str
    value: int | None
    at_us: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SchedulerLease:
    """Take or renew the lease for the scheduled tasks of a tenant; raises `Conflict` while another process has it.

    With the `name` of a task it is the lock of that task alone. An `until_us` not after `now_us` releases it. The error
    lists the `owner` among its ids; a caller that knows that this owner is gone puts the row again with the owner in
    `over`.
    """

    owner: str
    now_us: int
    until_us: int
    name: str = ""
    over: str = ""


# Rows of the use of memories, and requests to delete old rows.


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """An impression of a memory, or feedback on it, in a session on a day (days since 1970-01-01 UTC).

    `useful` is 1 or −1 with feedback; the last feedback of a session and day wins.
    """

    memory_id: str
    session: str
    day: int
    at_us: int
    shown: int = 0
    useful: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Prune:
    """A request to delete old log rows: at most `limit` rows of each log before its time.

    It deletes impressions without feedback, and finished embedding jobs without an idempotency key. It never deletes
    events, memories, changes, feedback, extraction records or idempotency keys. The newest job stays, because the next
    job number follows from it.
    """

    showings_before_us: int
    jobs_before_us: int
    limit: int


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorRemoval:
    """A request to delete vectors of a model: at most `limit` of them, with their copies."""

    model_id: str
    at_us: int
    limit: int


_HEADS: Final = {32: 0, 16: 0, 8: 8, 4: 9, 2: 9}
"""Bytes before the dimensions of a vector, by its width."""
_ORDINAL_BITS: Final = 12
_OWNER_BITS: Final = 31
_MEMORY_BIT: Final = 1 << (_ORDINAL_BITS + _OWNER_BITS)
CODE_BITS: Final = _ORDINAL_BITS + _OWNER_BITS + 1


def pack_code(number: int, ordinal: int = 0, *, memory: bool) -> int:
    """Pack the number of a memory, or of passage `ordinal` of an event, into 44 bits; memories sort last.

    Raises `ValueError` for a number that no memory, event or passage can have.
    """
    if number >> _OWNER_BITS or ordinal >> _ORDINAL_BITS:
        raise ValueError("a number is too large for the index")
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
    """A tenant in its store: `tag` ends every public id, `key` (32 bytes) signs its keyed hashes."""

    user_id: str
    number: int
    tag: str
    key: bytes
    has_tombstones: bool = False
    hold: str | None = None
    """The reason of the legal hold in force; None without a hold."""


@dataclass(frozen=True, slots=True)
class IndexPosition:
    """The position up to which an index has read: last event, last change, last vector."""

    event: int = 0
    change: int = 0
    vector: int = 0


class DocumentState(StrEnum):
    """The visibility of a document to a search."""

    CURRENT = "current"
    PAST = "past"
    HIDDEN = "hidden"
    GONE = "gone"


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One searchable text. `text` is as indexed: "[8 May 2023] Speaker: words" for an event's passage.

    `session` is "" for memories; `occurred_us` is the time of the event, or the start of a memory's validity.
    """

    code: int
    text: str
    session: str
    speaker: str
    occurred_us: int
    state: DocumentState


class Vector(NamedTuple):
    """A stored embedding of a document: `bits` per dimension (32 or 16: floats; 8, 4, 2: as `vectors.quantize` writes).

    `scale` is 1: vectors below 16 bits contain their range themselves.
    """

    code: int
    model_id: str
    dims: int
    bits: int
    scale: float
    data: bytes


def count_vector_bytes(dims: int, bits: int) -> int:
    """Return the size of such a vector, with the range that precedes 8 bits or less, and the width below 8 bits.

    Raises `ValueError` for a width that no vector has.

    >>> [count_vector_bytes(384, bits) for bits in (32, 16, 8, 4, 2)]
    [1536, 768, 392, 201, 105]
    """
    if bits not in _HEADS:
        raise ValueError(f"no vector has {bits} bits a dimension")
    return _HEADS[bits] + -(-dims * bits // 8)


@dataclass(frozen=True, slots=True, kw_only=True)
class Delta:
    """The documents, states and vectors after some index position, in order of code within each list."""

    heads: IndexPosition
    documents: tuple[Document, ...] = ()
    states: tuple[tuple[int, DocumentState], ...] = ()
    vectors: tuple[Vector, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryFilter:
    """A filter of memories; None means any. Without other conditions: current versions, newest id first.

    `source` is the source of a message of it; `pair` is (entity, attribute) in normal form; `same_text_as` its text but
    for case, punctuation and spaces; `label` begins a key of its metadata; `below` is an id number to page from;
    `offset` how many to pass over. `known_at_us` reads the versions held at that time, but for those whose words were
    deleted since; `as_of_us` only what was true at that time, whatever its status now (a corrected one never was).
    """

    pair: tuple[str, str] | None = None
    entity: str | None = None
    attribute: str | None = None
    same_text_as: str | None = None
    statuses: frozenset[Status] | None = None
    types: frozenset[MemoryType] | None = None
    layers: frozenset[Layer] | None = None
    stances: frozenset[Stance] | None = None
    topic: str | None = None
    session: str | None = None
    source: str | None = None
    label: str | None = None
    pinned: bool | None = None
    expires_before_us: int | None = None
    below: int | None = None
    offset: int = 0
    limit: int | None = None
    known_at_us: int | None = None
    as_of_us: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EventFilter:
    """A filter of events, oldest first; `newest_first` reverses the order. Redacted events are left out.

    `redacted` includes them, `worded` excludes events without text.
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
    """A filter of changes, oldest first: later than `later_than_us` and not later than `until_us`.

    `memories` (numbers, `stop` excluded) reads by memory, `reason` those that hold words; no other condition applies.
    """

    memory_ids: tuple[str, ...] | None = None
    memories: range | None = None
    reason: str | None = None
    cause: str | None = None
    kinds: frozenset[ChangeKind] | None = None
    after: int | None = None
    later_than_us: int | None = None
    until_us: int | None = None
    limit: int | None = None


class JobStatus(StrEnum):
    """The status of a job (R-071); `dead` failed too often and waits for a person."""

    QUEUED = "queued"
    PROCESSING = "processing"
    COMPLETE = "complete"
    FAILED = "failed"
    DEAD = "dead"


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A durable job for the events `first`…`last` (numbers), or for one memory.

    `id` is "" for a new job. A processing job belongs to `lease_owner` until `lease_until_us`. A new job takes its
    idempotency key over from the job that it `replaces`.
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
    payload: str = ""
    """What a job of the kind `call` calls, as JSON; set once."""
    outcome: str = ""
    """Its progress and result, as JSON."""
    replaces: str = ""


def mark_complete(job: Job) -> Job:
    """Return the completed job."""
    return replace(job, status=JobStatus.COMPLETE, lease_owner="", lease_until_us=0, error="")


@dataclass(frozen=True, slots=True, kw_only=True)
class JobFilter:
    """A filter of jobs, in the order in which they are due. `key` finds a job by its idempotency key.

    `until_event` excludes jobs whose first event is later; `kinds` selects these kinds, `other_kinds` all others.
    `newest_first` reverses the order to that of their numbers, from `below` on; it takes statuses and kinds only.
    """

    key: str | None = None
    id: str | None = None
    statuses: frozenset[JobStatus] = frozenset()
    due_us: int | None = None
    until_event: int | None = None
    kinds: frozenset[str] | None = None
    other_kinds: frozenset[str] = frozenset()
    newest_first: bool = False
    below: int | None = None
    limit: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tombstone:
    """A keyed hash (32 bytes) of a deleted value; `kind` is "text", "part" or "value".

    `lifted` removes the tombstone: the person stated the deleted value once more, on purpose.
    """

    digest: bytes
    kind: str
    normaliser: int
    created_us: int
    lifted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Redaction:
    """A permanent redaction of an event or a memory (all its versions and changes).

    For an event `text` is what remains (""), or the text with the redacted spans blanked, character for character.
    Indexes learn about it from the log: put, in the same unit, a `delete` change of the memory or caused by the event.
    `phrases` are quotations of a memory's value or text that reasons and contests elsewhere in the log may contain.
    """

    id: str
    at_us: int
    text: str = ""
    phrases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewording:
    """A permanent replacement of a memory's words in all its versions and changes.

    `texts` maps each earlier text to what remains of it; `moved` has the evidence as it was and as it is now. The
    vectors of the memory are deleted. Indexes learn about it from the log: put, in the same unit, a `rebuild` change.
    Reasons of its changes that hold one of the `phrases` are removed. `fields` has the name of a field, a value that
    versions have there, and what remains of it; for "topic", "tags", "metadata" and "entity".
    """

    id: str
    at_us: int
    texts: Mapping[str, str]
    moved: tuple[tuple[Evidence, Evidence], ...] = ()
    phrases: tuple[str, ...] = ()
    fields: tuple[tuple[str, object, object], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """A disposable snapshot of an index: named blobs of at most `limits.SNAPSHOT_BLOB_BYTES` each."""

    name: str
    blobs: tuple[bytes, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayedRows:
    """Rows of a memory, or of a contest, replayed from the change log; they replace the present rows.

    `evidence` is None where the log lacks it: the present rows then stay. The full-text index is updated too.
    """

    versions: tuple[Memory, ...] = ()
    evidence: frozenset[Evidence] | None = None
    contest: ContestCase | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Spend:
    """The cost of a model on a day (since 1970-01-01 UTC), for an operation.

    A put adds its numbers to those of the day; negative numbers return a reservation. With `tokens_max` the store
    accepts it only if the day's tokens, over all operations and models, then stay within that bound.
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
    """Counts of a tenant's rows."""

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
    texts_of_others: int = 0
    tombstones: int = 0
    spends: tuple[Spend, ...] = ()
    """Model costs, newest day first; at most `limits.SPENDS_SHOWN`."""


# The values that a writer files, and what each kind of them promises.


Row = (
    NewEvent
    | Memory
    | Evidence
    | LegalHold
    | RetentionPolicy
    | ChangeRecord
    | ContestCase
    | Job
    | Vector
    | Tombstone
    | Redaction
    | Rewording
    | Access
    | Snapshot
    | ReplayedRows
    | Retention
    | Surprise
    | VectorCopies
    | VectorRemoval
    | Watermark
    | DutyRun
    | SchedulerLease
    | Prune
    | Spend
    | Item
    | ItemRemoval
)
"""Whatever a writer can file. Every kind takes part in the unit: a unit that is undone leaves nothing of any of them.

The promises of each kind, as order (which number or place a row gets), conflict (when `put` raises `Conflict`) and
repetition (what filing the same value once more does). An id that the tenant does not have raises `NotFound` for every
kind.

`NewEvent`: the next event number, and the next link of the journal's chain. Never a conflict. Repeated, it is a second
event.

`Memory`: without an id it is version 1 of the next memory number. With an id it is the next version, and the current
version expires at its `recorded_us`; a `version` that does not follow the current one is a conflict. Repeated, it is
therefore a conflict.

`Evidence`: no number. Never a conflict. Repeated, it does nothing: the memory, the span and the claim hash are its key.

`ChangeRecord`: the next change number. Never a conflict. Repeated, it is a second entry. An entry of the kind `confirm`
also counts one confirmation of its memory.

`ContestCase`: without an id it gets the next contest number; with one it replaces that contest whole. Never a conflict.

`Job`: without an id it gets the next job number; an idempotency key that another job of the tenant has is a conflict.
With an id it moves that job's status, attempts, delay, lease, error and outcome, and nothing else. Never a conflict
then: the holder of a lease checks it in the unit before filing.

`Vector`: replaces the vector of its document and model. It gets a number above all that were ever given, so that an
index which read an earlier one reads it too.

`Tombstone`: the digest is its key. Repeated, it does nothing; with `lifted` it takes the digest away.

`Redaction`: takes the words out in place; versions, changes and numbers stay. Repeated, it does nothing more. Every
stored index image of the tenant goes with it.

`Rewording`: replaces words in place, in versions, changes and evidence; numbers stay. Repeated, it does nothing more.
Every stored index image of the tenant goes with it.

`Access`: one row for a session, memory and day. Repeated, it keeps the larger count and the last judgement.

`Snapshot`: replaces all blobs of its name at once.

`ReplayedRows`: replaces all versions of the memory, or the contest, by those it brings.

`Retention`, `Surprise`: write derived values into current versions in place. They are no change, and no index reads
them. `Surprise` does nothing where a surprise is known already; an unknown memory is passed over.

`VectorCopies`: replaces the copies of these vectors; those of vectors that are gone are passed over. It does nothing in
a backend without an index of vectors.

`VectorRemoval`: takes vectors of its model in the order of their documents, up to its limit. Repeated, it takes the
next ones. No later vector gets the number of one that was taken.

`Watermark`: replaces the mark of its name. Two writers are told apart only by the unit: the last one stands.

`DutyRun`: replaces the last run of its name.

`SchedulerLease`: a conflict while another owner holds an unexpired lead of that name. The owner's own lead is renewed.

`Prune`: takes the oldest rows first, up to its limit. Repeated, it takes the next ones.

`Spend`: adds to the day's numbers. Beyond `tokens_max` it raises `LimitExceeded`, and the unit is undone if the caller
does not handle it.

`Item`: replaces the item of its space and key, and returns the key; without a key it gets the next number of its space.
`ItemRemoval` takes items away. With an expected version, another one is a conflict. A `Redaction` or `Rewording` of the
source of an item deletes the item.

`LegalHold`: without `lifted_us` it sets a hold, with it every hold that stands is lifted. `RetentionPolicy` replaces
the policy of its topic; without days it takes it away.
"""


# Job kinds of the write path.


CALL: Final = "call"
"""Runs an operation in the background; no message waits for it, and `settle` does not run it."""
EXTRACT: Final = "extract"
EMBED: Final = "embed"
KEEP: Final = "keep"
"""A verbatim memory: its job is complete when it is stored."""
THINK: Final = "think"
"""Extracts the claims of one event with a language model and applies them."""
REREAD: Final = "reread"
"""Extracts one event again after the language model failed before."""
KINDS: Final = (EXTRACT, EMBED, THINK, REREAD, KEEP, CALL)
READING_JOBS: Final = frozenset({EXTRACT, THINK})
"""The kinds of jobs that read messages."""


# Turns of threads: those that would only meet in the database wait for each other before they ask it.


TURN_SECONDS: Final = 30.0
"""The longest wait for a turn; that of a call with a deadline ends there."""


class Turns:
    """Locks of this process by name; a thread may take one that it holds. A name without a holder needs no memory."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._turns: WeakValueDictionary[str, _Turn] = WeakValueDictionary()

    @contextmanager
    def take(self, name: str) -> Generator[None]:
        """Hold the turn of a name inside the block; raises `Unavailable` when another thread keeps it too long."""
        with self._lock:
            turn = self._turns.get(name) or self._turns.setdefault(name, _Turn())
        left = get_seconds_left()
        if not turn.lock.acquire(timeout=TURN_SECONDS if left is None else min(TURN_SECONDS, left)):
            check_deadline()
            raise Unavailable("this user is busy", why="another call has held its turn too long", fix="try again")
        try:
            yield
        finally:
            turn.lock.release()


class _Turn:
    __slots__ = ("__weakref__", "lock")

    def __init__(self) -> None:
        self.lock = RLock()


_deciding: Final = Turns()


def take_turn(store: object, user_id: str) -> AbstractContextManager[None]:
    """Let the callers of this process who wait for an answer decide for a tenant of a store one after the other.

    Of those who decide at once, all but one decide in vain (see `storage.plan`). Work in the background takes no turn,
    so that no caller waits for it.
    """
    return _deciding.take(f"{id(store)} {user_id}")
