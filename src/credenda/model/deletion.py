"""What deleting one memory or event removes, and what shares its words."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class BlankedWords:
    """Words of an event that a deletion blanks."""

    event_id: str
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedMemory:
    """Another memory with the words: its text, and the text that it has left; "" if it is deleted too."""

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
    """Memories that hold the words, or were written from them, and stay, with what remains of their texts."""
    taken: tuple[SharedMemory, ...] = ()
    """Memories that would be deleted too: they state the same, or were derived from it."""
    mentions: tuple[SharedMemory, ...] = ()
    """Memories that name a deleted value in their text or in a reason, and stay as they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeletionReceipt:
    """What a deletion removed: memories, and words in events. It holds no deleted words."""

    id: str
    events: int
    memories: int
    kept: tuple[str, ...] = ()
    """The ids of memories that held the words, or were written from them, and stayed without them."""
    taken: tuple[str, ...] = ()
    """The ids of memories that were deleted too: they stated the same, or were derived from it."""
    mentions: tuple[str, ...] = ()
    """The ids of memories that name a deleted value in their text or in a reason, and stayed as they are."""
    log_emptied: bool = True
    """Whether the write-ahead log was cut off. Otherwise a reader keeps the words there until it ends; the next commit
    tries again."""
    done: str = "deleted"
