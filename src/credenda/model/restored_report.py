"""Reports of a restore, of a sync with files and of a compression of embeddings: counts, never memory text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoredReport:
    """What was erased and deleted since the backup, and was erased and deleted again."""

    listed: int
    """Erased users in the ledgers, whether the backup had them or not."""
    erased: int
    """Users that were in the database, and are erased now."""
    deleted: int = 0
    """Memories and events that were deleted once more, as in the other state of the database."""
    held: int = 0
    """Users in which nothing was deleted, because they are under a legal hold."""


# The report of a migration between two databases: counts and names, never memory text.


@dataclass(frozen=True, slots=True, kw_only=True)
class UnmovedUser:
    """A user whose memory was not moved, or whose copy is not equal to it, and why."""

    user: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MigrationReport:
    """The rows that a migration moved and verified."""

    ok: bool
    """Whether every user is in the target with equal rows and equal results of searches."""
    moved: int
    """Users whose memories were moved by this run."""
    present: int
    """Users whose memories an earlier run had moved; they were verified again."""
    rows: Mapping[str, int] = field(default_factory=dict[str, int])
    """Verified rows of each table, of all users."""
    searches: int = 0
    """Searches that were run in both databases, with the same hits in the same order and with the same scores."""
    tokens: int = 0
    members: int = 0
    erasures: int = 0
    """Tokens, members and entries of the ledger of erasures that this run added to the target."""
    unmoved: tuple[UnmovedUser, ...] = ()
    left: tuple[str, ...] = ()
    """What stays behind by design."""


# The state of a server, as seen from outside.


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerCheck:
    """The result of one check: `ok` is None where it could not be made."""

    check: str
    ok: bool | None
    detail: str
    fix: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerReport:
    """The results of all checks; `ok` if none failed."""

    oldest_unread_seconds: float | None
    """For how long the oldest message has waited to be read; None where the token may not see it."""
    ok: bool
    url: str
    checks: tuple[ServerCheck, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CompressTier:
    """The vectors of one retention tier: their number and bytes, and the fidelity of the converted vectors.

    `bits` is 32 for vectors that stay exact, and 0 for forgotten ones that stay unchanged. Fidelity is the cosine of a
    vector before and after, on average and at worst; None without conversions.
    """

    bits: int
    vectors: int
    compressed: int
    bytes_before: int
    bytes_after: int
    fidelity: float | None
    least_fidelity: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CompressReport:
    """The result of a compression, by tier; `restores` tells whether recall can restore precision."""

    examined: int
    compressed: int
    bytes_before: int
    bytes_after: int
    tiers: tuple[CompressTier, ...]
    dry_run: bool
    restores: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncReport:
    """The result of a synchronisation in both directions.

    From the files: `corrected`, `deleted`, `remembered` and `contested` count the effects of persons' edits. Into the
    files: `written` and `removed` are pages by name. `waiting` entries are missing from the files, but not certainly
    removed by a person; decide with `missing`. `pending` lists them as "PAGE: ID TEXT", in a dry run also the entries
    that a run would delete. `left_alone` are files that could not be read, with the reason; `notes` report anything
    else that needs attention.
    """

    path: str
    dry_run: bool = False
    corrected: int = 0
    deleted: int = 0
    remembered: int = 0
    contested: int = 0
    waiting: int = 0
    pending: tuple[str, ...] = ()
    written: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    left_alone: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def changed(self) -> bool:
        """Whether anything changed, on either side."""
        counts = self.corrected + self.deleted + self.remembered + self.contested
        return bool(counts or self.written or self.removed)
