"""Which statement finds memories by an index. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from credenda.storage.store import MemoryFilter

__all__ = ["index_of"]

_NO_CONDITION: Final = MemoryFilter()


def index_of(wanted: MemoryFilter) -> str:
    """Choose the statement that finds memories by an index; conditions it lacks are met by the general one."""
    if wanted.expires_before_us and replace(wanted, expires_before_us=None, limit=None) == _NO_CONDITION:
        return "expiring_memories"
    if wanted.pinned or wanted.attribute == "instruction":  # as the index says
        rest = replace(wanted, pinned=None, attribute=None, statuses=None, limit=None, as_of_us=None)
        return "memories_always" if rest == _NO_CONDITION else "find_memories"
    if (wanted.pair is None) == (wanted.text_hash is None):
        return "find_memories"
    if wanted.text_hash is not None:
        plain = replace(wanted, text_hash=None, statuses=None, limit=None) == _NO_CONDITION
        return "memories_of_text" if plain else "find_memories"
    plain = replace(wanted, pair=None, statuses=None, limit=None, as_of_us=None) == _NO_CONDITION
    return "memories_of_pair" if plain else "find_memories"
