"""The report of erasing again in a restored database: counts, never memory text."""

from __future__ import annotations

from dataclasses import dataclass


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
