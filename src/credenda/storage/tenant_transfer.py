"""The protocol for moving and erasing a whole tenant, used by archives.

Rows travel as plain columns, so that an import restores them bit for bit. Derived rows (full text, snapshots) are not
exported; they are built again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from credenda.errors import Corrupt
from credenda.model.retention_policy import PoliciesAndHolds

if TYPE_CHECKING:
    from credenda.storage.store import Writer

ARCHIVED: Final = (
    "events",
    "passages",
    "memories",
    "evidence",
    "changes",
    "contests",
    "operations",
    "embeddings",
    "tombstones",
    "legal_holds",
    "retention_policies",
    "access_log",
    "watermarks",
    "budgets",
    "eval_scores",
    "items",
)
"""The tables of a tenant, in the order of a dump: passages come after their events."""
MIGRATED: Final = ("authors", "agent_tasks")
"""Tables that a migration moves after those of an archive: who wrote a row, and the tasks of other agents."""

Cell = int | float | str | bytes | None
"""The value of one column of one row."""

TableRow = Mapping[str, Cell]
"""A row as a mapping of all its columns but `user_id`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportHeader:
    """The tenant that rows belong to, and the schema version that wrote them.

    `tag` is "" for a tenant that never wrote. `key` signs tombstones; without it the tombstones would match nothing.
    """

    user_id: str
    tag: str
    key: bytes
    created_us: int
    schema: int


@dataclass(frozen=True, slots=True)
class ErasedTenant:
    """One erased tenant: the keyed hash of its name with the key, and the tag of its ids."""

    digest: bytes
    tag: str
    key: bytes
    erased_us: int


class DamagedRow(NamedTuple):
    """A row that cannot be read: its table, and its id or place in it."""

    table: str
    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantExport:
    """All rows of one tenant as (table, row), readable once: tables in a fixed order, rows by primary key."""

    origin: ExportHeader
    rows: Iterator[tuple[str, TableRow]]
    damaged: Sequence[DamagedRow] = ()
    """The rows that were left out; complete when `rows` has been read."""


class ImportRow(NamedTuple):
    """A row to import, and its position (the line of a file) for error messages."""

    place: int
    table: str
    row: TableRow


@dataclass(frozen=True, slots=True, kw_only=True)
class Erasure:
    """The result of an erasure and of its proof."""

    rows: Mapping[str, int]
    """Rows that each table had; {} where the tenant never wrote or was erased before."""
    held: bool
    """Whether the proof held: nothing of the tenant was found where the backend looked, and it could look everywhere.

    Where it did not, erase again.
    """
    proof: Mapping[str, str]
    """What the backend did to prove it, by names of its own; `storage.sqlite.proof` lists those of a file.

    A backend that counts pieces of erased data names the count `remaining_matches`.
    """
    backups: tuple[str, ...] = ()
    """Earlier backups that contain the tenant until they are restored or deleted."""
    owed: Mapping[str, str] = field(default_factory=dict[str, str])
    """The databases and backups whose ledger could not be written yet, with the reason; it is tried again."""


class TenantTransfer(Protocol):
    """A store that can find and move tenants. Memory use is bounded for any size of tenant."""

    def user_of(self, tag: str) -> str | None:
        """Return the name of the tenant whose ids end with this tag, or None."""
        ...

    def dump(
        self, user_id: str, *, only: Collection[str] | None = None, skip_damaged: bool = False
    ) -> AbstractContextManager[TenantExport]:
        """Open all rows of a tenant, or those of some tables, in one consistent view.

        Tables of `MIGRATED` are opened only where `only` names them. A row that cannot be read raises `Corrupt`, or is
        left out with `skip_damaged`.
        """
        ...

    def erased(self, tags: Collection[str]) -> set[str]:
        """Return those of the tags whose tenants were erased here and not imported again since."""
        ...

    def erasures(self) -> list[ErasedTenant]:
        """Return the ledger of tenants that were erased here and not imported again since."""
        ...

    def take_over(self, entries: Iterable[ErasedTenant]) -> None:
        """Add tenants that were erased elsewhere to the ledger; durable on return. Repeating it does nothing."""
        ...

    def load(self, user_id: str, origin: ExportHeader, rows: Iterable[ImportRow]) -> dict[str, int]:
        """Import rows into an empty tenant in one transaction and return the number of rows per table.

        The tenant gets the tag and key of `origin`. Raises `Conflict` when it has any rows, when another tenant here
        has that tag, or when the rows have a newer schema; `Corrupt`, naming the place, for an invalid row. An
        exception from `rows` passes through. After any of them nothing has changed.
        """
        ...

    def scratch(self, user_id: str) -> AbstractContextManager[Writer]:
        """Open an in-memory copy of a tenant's journal and tombstones in their current state, without memories.

        Closing the copy discards its rows; nothing of it reaches a disk.
        """
        ...

    def rules(self, user_id: str) -> PoliciesAndHolds:
        """Return the retention policies and legal holds of a tenant."""
        ...

    def retry_owed(self) -> Mapping[str, str]:
        """Write the missing entries of ledgers; return the paths that still lack some, with the reason."""
        ...

    def erase(self, user_id: str, *, exported: Mapping[str, int] | None = None) -> Erasure:
        """Delete every row of a tenant in one transaction, and prove that their bytes are gone.

        The transaction adds the tenant to a ledger, by keyed hash. If the process stops after it, the proof is
        completed when the store is next opened for writing, or by the next erasure. A ledger that cannot be written
        never prevents an opening: `owed` names it, and `retry_owed` tries it again. `exported` are the row counts of an
        export: raises `Conflict` when they differ by now, and under a legal hold; then nothing has changed.
        """
        ...


def make_row_error(place: int, why: str) -> Corrupt:
    """Build the error for a line that is not a valid row."""
    return Corrupt(
        f"line {place} of the archive cannot be taken in",
        why=why,
        fix="nothing was imported; export the archive again, or restore an intact copy",
        line=str(place),
    )
