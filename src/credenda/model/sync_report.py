"""Reports of folder synchronisation."""

from __future__ import annotations

from dataclasses import dataclass


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
