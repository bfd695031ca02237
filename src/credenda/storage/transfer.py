"""The protocol for moving and erasing a whole tenant, used by archives.

Rows travel as plain columns, so that an import restores them bit for bit. Derived rows (full text, snapshots) are not
exported; they are built again.
"""

from __future__ import annotations

import glob
import hashlib
import hmac
import json
import logging
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, cast

from credenda.errors import Corrupt, Invalid, NotFound
from credenda.model.governance import PoliciesAndHolds
from credenda.paths import make_file_error

if TYPE_CHECKING:
    from credenda.storage.store import Writer

PROBE_USER: Final = "credenda-probe"
"""The user as whom a server writes probes to itself; nobody else may have the name, and no report counts it."""

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
    """One erased tenant: the keyed hash of its name with the key, and the tag of its ids.

    Another tenant may have the tag, who imported the archive of the erased one; only the name tells them apart.
    """

    digest: bytes
    tag: str
    key: bytes
    erased_us: int

    @property
    def id(self) -> str:
        """Return the key of the entry in a ledger."""
        return f"{self.tag} {self.digest.hex()}"

    def matches(self, user_id: str, tag: str) -> bool:
        """Return whether it is the erasure of this tenant."""
        return tag == self.tag and hash_tenant_name(self.key, user_id) == self.digest


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

        The tenant gets the tag and key of `origin`; its own erasure, if one is listed, is lifted. Raises `Conflict`
        when it has any rows, when another tenant here has that tag, or when the rows have a newer schema; `Corrupt`,
        naming the place, for an invalid row. An exception from `rows` passes through. After any of them nothing has
        changed.
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


# The ledger of erased tenants, a file beside a database and beside its backups; a restore applies it to the backup.


try:
    import fcntl
except ImportError:  # a system without flock: two processes that erase at once may lose a line, which is written again
    fcntl = None


_log: Final = logging.getLogger(__name__)
_DAMAGED: Final = ".damaged-"
_ENDING: Final = ".erasures"


def hash_tenant_name(key: bytes, user_id: str) -> bytes:
    """Hash a tenant's name in the form that the erasure ledger stores."""
    return hmac.digest(key, b"erased\x00" + user_id.encode(), "sha256")


def locate_ledger(path: str | Path) -> Path:
    """Return the path of the ledger of a database or backup."""
    return Path(f"{path}{_ENDING}")


def name_owner(ledger: str | Path) -> str:
    """Return the name under which the functions of this module know a ledger file; raises `Invalid` for other files."""
    text = str(ledger)
    if not text.endswith(_ENDING) or Path(text).name == _ENDING:
        raise Invalid(f"{text} is no ledger of erasures", why=f"its name does not end in {_ENDING}", fix="rename it")
    return text.removesuffix(_ENDING)


def read_ledger(path: str | Path, *, partial: bool = False) -> dict[str, ErasedTenant]:
    """Read the entries of a ledger by id; {} without a file.

    With `partial` an invalid ledger gives the entries of its valid lines; otherwise it raises `Corrupt`.
    """
    found, damaged = _read_lines(path)
    if damaged and not partial:
        raise Corrupt(
            f"line {damaged} of {locate_ledger(path)} is damaged",
            why="users erased since the backup was made may be listed there",
            fix="restore an intact copy of it, or move it away to do without",
        )
    return found


def _read_lines(path: str | Path) -> tuple[dict[str, ErasedTenant], int]:
    """Return the entries of the valid lines, and the number of the first damaged line, 0 without one."""
    try:
        lines = locate_ledger(path).read_bytes().splitlines()
    except FileNotFoundError:
        return {}, 0
    except OSError as error:
        raise make_file_error(locate_ledger(path), error, "read") from error
    found: dict[str, ErasedTenant] = {}
    damaged = 0
    for number, line in enumerate(lines, 1):
        try:
            row = cast("dict[str, Any]", json.loads(line))
            if row.get("lifted"):
                for lifted in _find_entries(found, f"{row['tag']} {row.get('digest', '')}"):
                    del found[lifted]
            else:
                digest, key = bytes.fromhex(row["digest"]), bytes.fromhex(row["key"])
                entry = ErasedTenant(digest, row["tag"], key, int(row["erased_us"]))
                found[entry.id] = entry
        except (ValueError, KeyError, TypeError, AttributeError):
            if number < len(lines):  # a crash cuts off the last line; its entry is written again
                damaged = damaged or number
    return found, damaged


def _find_entries(found: Iterable[str], name: str) -> list[str]:
    """Return the entry of this id; for a tag alone, which earlier versions wrote, every entry with it."""
    return [known for known in found if known.startswith(name)]


def list_damaged_ledgers(path: str | Path) -> list[str]:
    """Return the damaged ledgers of a database or backup that were set aside."""
    place = locate_ledger(path)
    return sorted(str(one) for one in place.parent.glob(f"{glob.escape(place.name)}{_DAMAGED}*"))


def add_to_ledger(path: str | Path, entries: Iterable[ErasedTenant]) -> None:
    """Append the entries that a ledger lacks, durably. A damaged ledger is set aside, and its valid lines are kept."""
    # Rename a damaged ledger, start a new one with its valid lines, and return their entries; {} for a sound one.
    found, damaged = _read_lines(path)
    if not damaged:
        kept = {}
    else:
        place, number = locate_ledger(path), 1
        while (aside := Path(f"{place}{_DAMAGED}{number}")).exists():
            number += 1
        try:
            place.rename(aside)
        except OSError as error:
            raise make_file_error(place, error, "set aside") from error
        _log.warning("a damaged ledger of erasures was set aside")
        kept = found
    entries = [*kept.values(), *(one for one in entries if one.id not in kept)]
    known = read_ledger(path)
    _append(
        path,
        [
            {"digest": one.digest.hex(), "tag": one.tag, "key": one.key.hex(), "erased_us": one.erased_us}
            for one in entries
            if one.id not in known
        ],
    )


def remove_from_ledger(path: str | Path, name: str) -> None:
    """Cancel the entry of an id, if there is one. A damaged ledger is set aside, and its valid lines are kept."""
    add_to_ledger(path, ())
    lifted = (entry.split() for entry in _find_entries(read_ledger(path), name))
    _append(path, [{"tag": tag, "digest": digest, "lifted": True} for tag, digest in lifted])


def _append(path: str | Path, lines: list[dict[str, object]]) -> None:
    if not lines:
        return
    place = locate_ledger(path)
    text = "".join(json.dumps(line, sort_keys=True) + "\n" for line in lines).encode()
    try:
        handle = os.open(place, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            if fcntl is not None:
                fcntl.flock(handle, fcntl.LOCK_EX)
            whole = os.pread(handle, os.fstat(handle).st_size, 0).rpartition(b"\n")
            os.ftruncate(handle, len(whole[0]) + len(whole[1]))  # drop a line that a crash has torn
            os.write(handle, text)
            os.fsync(handle)
        finally:
            os.close(handle)
        with suppress(OSError):  # a system without folder handles
            folder = os.open(place.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
    except OSError as error:
        raise make_file_error(place, error) from error


# Keep the key of keyed hashes apart from the database: the database then holds only a seed.


_LEAST_BYTES: Final = 16
"""A shorter key file could be guessed."""


def read_key_file(path: str) -> bytes:
    """Read the key of a key file (32 bytes, hashed from its content); b"" for no path.

    Raises `NotFound` for a missing or unreadable file, `Invalid` for one of fewer than 16 bytes.
    """
    if not path:
        return b""
    try:
        content = Path(path).expanduser().read_bytes()
    except OSError as error:
        raise NotFound(
            f"the tombstone key file {path} cannot be read",
            why=error.strerror or "it is missing",
            fix="restore it; for a new memory, create it with `head -c 32 /dev/urandom > FILE`",
        ) from error
    if len(content) < _LEAST_BYTES:
        raise Invalid(
            f"the tombstone key file {path} has only {len(content)} bytes",
            why="so short a key can be guessed",
            fix="write at least 32 random bytes into it: `head -c 32 /dev/urandom > FILE`",
        )
    return hashlib.blake2b(content, digest_size=32).digest()
