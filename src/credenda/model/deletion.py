"""What deleting one memory or event removes, and what shares its words."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["BlankedWords", "DeletionPlan", "DeletionReceipt", "SharedMemory"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BlankedWords:
    """Words of an event that a deletion blanks."""

    event_id: str
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedMemory:
    """Another memory on the same words: its text, and the text that it has left; "" if it is deleted too."""

    id: str
    text: str
    left: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeletionPlan:
    """What deleting one memory or event would remove: memories, and words in events. Nothing was deleted."""

    id: str
    text: str
    events: int
    memories: int
    dry_run: bool = True
    blanked: tuple[BlankedWords, ...] = ()
    """The words that would be blanked in events that keep others."""
    kept: tuple[SharedMemory, ...] = ()
    """Memories that share the words and stay, with what remains of their texts."""
    taken: tuple[SharedMemory, ...] = ()
    """Memories that would be deleted too, because the same words state them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeletionReceipt:
    """What a deletion removed: memories, and words in events. It holds no deleted words."""

    id: str
    events: int
    memories: int
    kept: tuple[str, ...] = ()
    """The ids of memories that shared the words and stayed."""
    taken: tuple[str, ...] = ()
    """The ids of memories that were deleted too, because the same words stated them."""
    log_emptied: bool = True
    """Whether the write-ahead log was cut off. Otherwise a reader keeps the words there until it ends; the next commit
    tries again."""
    done: str = "deleted"
