"""What keeping a folder of pages in step did."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["SyncReport"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncReport:
    """One synchronisation, both ways.

    From the files: `corrected`, `deleted`, `remembered` and `contested` count what persons' edits became. Into the
    files: `written` and `removed` are pages by name. `waiting` entries are gone from the files, too many at once to be
    taken for deletions; say what they mean with `missing`. `left_alone` are files that could not be read, with the
    reason; `notes` tell whatever else somebody may have to look at.
    """

    path: str
    corrected: int = 0
    deleted: int = 0
    remembered: int = 0
    contested: int = 0
    waiting: int = 0
    written: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    left_alone: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def changed(self) -> bool:
        """Whether anything changed, on either side."""
        counts = self.corrected + self.deleted + self.remembered + self.contested
        return bool(counts or self.written or self.removed)
