"""Memories that share words with what is being decided."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from credenda.ids import parse_serial
from credenda.model.memory import Memory
from credenda.storage.store import Reader


def find_related(reader: Reader, words: Sequence[str], limit: int) -> list[Memory]:
    """Return the memories that hold the rarest of some words, at most `limit`, in order of id."""
    return sort_by_id(reader.search_memories(words, limit))


def sort_by_id(found: Iterable[Memory]) -> list[Memory]:
    """Put memories in order of id, the oldest first."""
    return sorted(found, key=lambda one: parse_serial(one.id))
