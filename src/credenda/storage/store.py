"""The storage protocol: at most twenty methods per class, and the contract of each backend.

A `Store` is one database with many tenants. Every operation is for one tenant: `reader` gives a consistent view,
`commit` runs a unit of work in a transaction that is durable when `commit` returns. A backend binds the tenant to every
statement; no method takes a tenant's rows by id alone.

What a writer stores is a value (`Row`); `put` files it. Ids are public ids (`ids.public_id`); a row that has none yet
gets the next one, and `put` returns it. Documents of the search index are named by packed integers (`pack_code`).

Callers rely on three guarantees, and every backend gives them.

**Units of one tenant are serial.** From its first read to its commit no other unit of that tenant runs, in this process
or in another one. A unit may therefore decide by what it reads, without stating the versions it read. Units of two
tenants may run side by side. A backend runs a unit once; it never repeats one.

**Numbers are dense and in commit order.** Events, memories, changes, contests and jobs of a tenant are each numbered
1, 2, 3, …; a new row gets the highest number of its kind plus one, and a unit that is undone uses no number up. A
higher number was therefore filed later, in the order of commits. Deleting a row leaves its number unused for good: the
newest row of a kind is never taken away (redaction keeps the row, `Prune` keeps the newest job).

**A reader sees everything up to its heads.** A reader shows the whole of every unit that was committed before it was
opened and nothing of any other unit, for as long as it is open. `duties.heads` are the heads of that view: every event,
change and vector with a number up to them is visible, and none above them. A later reader never has lower heads.
`commit` returns after the unit can be seen by every reader opened from then on, in any process.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

from credenda.model.change import ChangeRecord, ContestCase, ContestState
from credenda.model.claim import Evidence
from credenda.model.event import Event
from credenda.model.job import Finding
from credenda.model.memory import Memory
from credenda.model.server import AccessToken
from credenda.storage.records import (
    CODE_BITS,
    Access,
    ChangeFilter,
    Counts,
    Delta,
    Document,
    DocumentState,
    EventFilter,
    IndexPosition,
    Job,
    JobFilter,
    JobStatus,
    MemoryFilter,
    Prune,
    Redaction,
    ReplayedRows,
    Retention,
    Rewording,
    Row,
    SchedulerLease,
    Snapshot,
    Spend,
    Surprise,
    TenantRecord,
    Tombstone,
    Vector,
    VectorCopies,
    VectorRemoval,
    Watermark,
    pack_code,
    unpack_code,
)
from credenda.storage.transfer import TenantTransfer

if TYPE_CHECKING:  # they import the records that this module gathers
    from credenda.storage.sql.reader import TaskProgress, UsageView
    from credenda.storage.sql.server_rows import (
        AgentTaskStore,
        AuditStore,
        ItemStore,
        MemberStore,
        ReportStore,
        SecretStore,
        TokenStore,
    )

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
    "Reader",
    "Redaction",
    "ReplayedRows",
    "Retention",
    "Rewording",
    "Row",
    "SchedulerLease",
    "Snapshot",
    "Spend",
    "Store",
    "StoredToken",
    "Surprise",
    "TenantRecord",
    "Tombstone",
    "Vector",
    "VectorCopies",
    "VectorRemoval",
    "VectorView",
    "Watermark",
    "Writer",
    "pack_code",
    "unpack_code",
]


# The parts of a store that belong to a server are in `storage.sql.server_rows`: both backends share them.


class StoredToken(NamedTuple):
    """A token and the SHA-256 of its secret; an empty digest for a token without a secret of its own."""

    token: AccessToken
    digest: bytes


# The vectors of a tenant, for searches that have no index in memory.


class VectorView(Protocol):
    """The vectors of one tenant in a consistent view."""

    @property
    def is_indexed(self) -> bool:
        """Whether this backend has an index of vectors."""
        ...

    def nearest(self, model_id: str, vector: Sequence[float], limit: int) -> tuple[list[int], int]:
        """Return codes of documents whose vectors the index holds to be the nearest, and how far it has come.

        That is the number of the last vector that it knows (see `page`); ([], 0) without an index. The codes are
        candidates, to be compared by their stored vectors.
        """
        ...

    def page(self, model_id: str, after: int, limit: int) -> list[tuple[int, int, int, int, bytes]]:
        """Return (number, code, dims, bits, data) of the next vectors of a model after a number, in their order."""
        ...


T = TypeVar("T")


class Reader(Protocol):
    """A consistent view of one tenant's rows."""

    @property
    def tenant(self) -> TenantRecord:
        """The tenant of these rows; its tag is "" if it never wrote."""
        ...

    def events(self, ids: Sequence[str]) -> list[Event]:
        """Return these events in order of id; unknown ids are left out, ids of other tenants raise `NotFound`."""
        ...

    def find_events(self, wanted: EventFilter) -> list[Event]:
        """Return the events that match a filter."""
        ...

    def memories(self, ids: Sequence[str], known_at_us: int | None = None) -> list[Memory]:
        """Return the current versions (or those believed at a time) in order of id; unknown ids are left out."""
        ...

    def find(self, wanted: MemoryFilter) -> list[Memory]:
        """Return the memories that match a filter."""
        ...

    def count_fields(self, wanted: MemoryFilter, *, most: int, unused_before_us: int) -> dict[str, dict[str, int]]:
        """Count the memories that match a filter, by field and value: at most `most` values a field, ordered by count.

        The field `all` has one value, "", for the number of all of them; `unused` that of those which are believed,
        were made before a time, and have never been returned. `limit`, `offset` and `below` do not apply.
        """
        ...

    def versions(self, ids: Sequence[str]) -> list[Memory]:
        """Return every version of these memories, by id and then oldest first."""
        ...

    def evidence(self, *, memory_ids: Sequence[str] = (), event_ids: Sequence[str] = ()) -> list[Evidence]:
        """Return the evidence of these memories, or from these events, in order of event and span."""
        ...

    def authors(self, events: Sequence[str], changes: Sequence[str]) -> dict[str, str]:
        """Return the members who wrote these events and made these changes, by id; without those of the user."""
        ...

    def changes(self, wanted: ChangeFilter) -> list[ChangeRecord]:
        """Return applied changes."""
        ...

    def contests(
        self, *, state: ContestState | None = None, id: str | None = None, pair: tuple[str, str] | None = None
    ) -> list[ContestCase]:
        """Return contests, open ones first, then newest first; `pair` is the (entity, attribute) of a slot."""
        ...

    def delta(self, heads: IndexPosition, model_id: str | None, limit: int = 10_000) -> Delta:
        """Return the rows after `heads`: at most `limit` events, changes and vectors.

        Repeat until the heads stop moving. A document redacted since then appears once more, or its state is `GONE`.
        """
        ...

    def nominate(self, terms: Sequence[str], limit: int, *, memories: bool = False) -> list[int]:
        """Return codes of documents that contain any term, from the durable full-text index, rarest terms first.

        Terms are words as in `search_memories`. With `memories` only those are returned, and no message counts towards
        the limit.
        """
        ...

    def search_memories(
        self, words: Sequence[str], limit: int, *, most: int | None = None, beside: Sequence[Memory] = ()
    ) -> list[Memory]:
        """Return the current versions of at most `limit` memories that hold any of these words, rarest words first.

        Words are given as written: each backend folds and stems them as its index does. `most` reads only the first so
        many of those that `limit` leaves. `beside` are memories with an id that are about to be filed: they are found
        as if they had been, in the order in which they stand.
        """
        ...

    def vectors(self, codes: Sequence[int], model_id: str) -> list[Vector]:
        """Return stored vectors of these documents in order of code; missing ones are left out."""
        ...

    def vector_data(self, codes: Sequence[int], model_id: str) -> list[tuple[int, int, bytes]]:
        """Return (code, bits, data) of the vectors of these documents, in the order of the codes."""
        ...

    def tombstoned(self, digests: Sequence[bytes]) -> set[bytes]:
        """Return those of the digests that are tombstones."""
        ...

    def snapshot(self, name: str) -> tuple[bytes, ...]:
        """Return the blobs of a snapshot, () when there is none."""
        ...

    @property
    def by_vector(self) -> VectorView:
        """The vectors, for a search without an index in memory."""
        ...

    @property
    def usage(self) -> UsageView:
        """The use of the memories."""
        ...

    @property
    def duties(self) -> TaskProgress:
        """The progress of the scheduled tasks."""
        ...

    def jobs(self, wanted: JobFilter) -> list[Job]:
        """Return jobs."""
        ...

    def counts(self, model_id: str | None = None) -> Counts:
        """Count the tenant's rows, and the texts that have vectors but none of this model."""
        ...


class Writer(Reader, Protocol):
    """A reader inside a write transaction, which sees its own writes."""

    def put(self, row: Row) -> str:
        """File a value; returns its public id ("" for rows that have none). `Row` says what each kind promises.

        Raises `NotFound` for an id that this tenant does not have, `Conflict` for a version that does not follow the
        current one and for an idempotency key in use, and `LimitExceeded` for a spend above its bound.
        """
        ...


class Store(TenantTransfer, Protocol):
    """One database. Any thread may call any method; `TenantTransfer` adds those that move a whole tenant."""

    log_emptied: bool
    """Whether no log of the database has words that were redacted through this store."""

    @property
    def tokens(self) -> TokenStore:
        """The access tokens of a server's callers."""
        ...

    @property
    def agent_tasks(self) -> AgentTaskStore:
        """The tasks of other agents."""
        ...

    @property
    def items(self) -> ItemStore:
        """The values that programs keep beside the beliefs."""
        ...

    @property
    def secrets(self) -> SecretStore:
        """The short-lived secrets of logins and OAuth."""
        ...

    @property
    def members(self) -> MemberStore:
        """The members of shared memories."""
        ...

    @property
    def audit(self) -> AuditStore:
        """The records of calls to a server."""
        ...

    @property
    def reports(self) -> ReportStore:
        """The costs of models, and the scores of responses."""
        ...

    def reader(self, user_id: str, *, may_lag: bool = False) -> AbstractContextManager[Reader]:
        """Open a consistent view of one tenant; a tenant that never wrote is empty.

        A view that `may_lag` may lack what other processes wrote a moment ago, never what this one has written or seen.
        """
        ...

    def commit(self, user_id: str, work: Callable[[Writer], T]) -> T:
        """Run a unit of work and return its result once it is durable. Units of a tenant are serial (see above).

        Units of several callers may share one commit. An exception from `work` rolls back that unit alone and is raised
        to its caller; a failed commit rolls back all units and is raised to each caller. A unit that the database undid
        because it met another transaction is run again, so `work` must depend on nothing but what it reads, and leave
        nothing behind but its rows and its result. Raises `Unavailable` when the database is locked, full or read-only,
        `Corrupt` when it is damaged.
        """
        ...

    def users(self, *, after: str = "", limit: int) -> list[str]:
        """Return the names of at most `limit` tenants that have ever written, in order of name, from `after` on."""
        ...

    def find_oldest_waiting(self, kinds: Collection[str]) -> int | None:
        """Return when the oldest job of these kinds was filed that is not done and not given up; None without one.

        It reads few rows however many wait. A file looks at 10,000 waiting jobs at most.
        """
        ...

    def users_with_due_jobs(
        self,
        now_us: int,
        *,
        limit: int,
        after: str = "",
        kinds: Collection[str] = (),
        other_kinds: Collection[str] = (),
    ) -> list[str]:
        """Return the names of at most `limit` tenants with a due job, in order of name, from `after` on.

        It reads so many jobs only as `limit` allows, so that fewer names may come though more tenants have due jobs;
        none come only after the last. A job is due when its delay is over and nobody holds an unexpired lease on it.
        Jobs of `other_kinds` do not count, and with `kinds` only those do.
        """
        ...

    def check(self, user_id: str, *, repair: bool = False) -> list[Finding]:
        """Verify the database and this tenant's journal chain, full-text index and references; repair derived rows."""
        ...

    def check_server(self, users: tuple[str, str], fill: Callable[[Writer], object]) -> list[Finding]:
        """Find problems of a database server that concern all tenants: open walls, missing rights and indexes.

        The walls are tried with two made-up users: `fill` stores rows of one, and every table is asked for them as the
        other. No other transaction sees these rows, and they are undone. A store without a server finds nothing.
        """
        ...

    def describe_backend(self) -> Mapping[str, str]:
        """Return the `name` and `version` of the database, and what else a person who looks after it should know."""
        ...

    def renew_indexes(self, user_id: str) -> None:
        """Drop every index of a tenant, stored or in the memory of any process: the next search builds it again."""
        ...

    def close(self) -> None:
        """Release the database; closing twice does nothing."""
        ...
