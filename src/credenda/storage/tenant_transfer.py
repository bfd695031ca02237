"""Moving a whole tenant: what an archive needs of a store beyond reading and filing values.

Rows travel as plain columns, so that what comes back is what went out, bit for bit. What is derived from them (full
text, index images) stays behind and is made anew.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

from credenda.errors import Corrupt
from credenda.model.retention_policy import PoliciesAndHolds

if TYPE_CHECKING:
    from credenda.storage.store import Writer

__all__ = [
    "Cell",
    "Erasure",
    "ExportHeader",
    "ImportRow",
    "TableRow",
    "TenantExport",
    "TenantTransfer",
    "make_row_error",
]

Cell = int | float | str | bytes | None
"""What one column of one row holds."""

TableRow = Mapping[str, Cell]
"""A row by the names of its columns, all but `user_id`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportHeader:
    """Which tenant rows come from, and the version of the schema they were written by.

    `tag` is "" for a tenant that never wrote. `key` signs tombstones: without it they would hold nothing back.
    """

    user_id: str
    tag: str
    key: bytes
    created_us: int
    schema: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantExport:
    """Every row of one tenant as (table, row), to be read once: tables in a fixed order, rows by primary key."""

    origin: ExportHeader
    rows: Iterator[tuple[str, TableRow]]


class ImportRow(NamedTuple):
    """A row to take in, and the place (the line of a file) that an error is to name."""

    place: int
    table: str
    row: TableRow


@dataclass(frozen=True, slots=True, kw_only=True)
class Erasure:
    """What was done to erase a tenant, and what the proof found."""

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
    """Backups made before that still hold the tenant, until they are restored or thrown away."""


class TenantTransfer(Protocol):
    """A store whose tenants can be found and moved. Memory stays bounded however much a tenant holds."""

    def user_of(self, tag: str) -> str | None:
        """Name the tenant whose ids carry this tag; None where there is none."""
        ...

    def dump(self, user_id: str, *, only: Collection[str] | None = None) -> AbstractContextManager[TenantExport]:
        """Open all rows of a tenant as they were at one moment, or those of some tables."""
        ...

    def erased(self, tags: Collection[str]) -> set[str]:
        """Return those of the tags whose tenants were erased here, and not taken in again since."""
        ...

    def load(self, user_id: str, origin: ExportHeader, rows: Iterable[ImportRow]) -> dict[str, int]:
        """Take rows into an empty tenant in one transaction and return how many each table got.

        The tenant gets the tag and key of `origin`. Raises `Conflict` when it holds anything already, when another
        tenant here has that tag, or when the rows are of a newer schema; `Corrupt`, naming the place, for a row that
        cannot be one of a store. An exception from `rows` is raised as it is. After any of them nothing has changed.
        """
        ...

    def scratch(self, user_id: str) -> AbstractContextManager[Writer]:
        """Open a copy, in memory, of a tenant's journal and tombstones as they are at this moment, without a belief.

        What is written into it is gone when it is closed, and nothing of it reaches a disk.
        """
        ...

    def rules(self, user_id: str) -> PoliciesAndHolds:
        """Return the retention policies and legal holds of a tenant."""
        ...

    def erase(self, user_id: str, *, exported: Mapping[str, int] | None = None) -> Erasure:
        """Delete every row of a tenant in one transaction, and prove that their bytes are gone.

        The transaction enters the tenant in a ledger, by keyed hash. Interrupted after it, the rest is done when the
        store is next opened for writing, or erased in again. `exported` are the rows that an export has counted: raises
        `Conflict` when there are others by now, and under a legal hold; then nothing has changed.
        """
        ...


def make_row_error(place: int, why: str) -> Corrupt:
    """Make the error for a line that cannot be a row."""
    return Corrupt(
        f"line {place} of the archive cannot be taken in",
        why=why,
        fix="nothing was imported; export the archive again, or restore an intact copy",
        line=str(place),
    )
