"""Derived memories, which the dream cycle makes from other memories and which are never evidence.

They cite their source memories (`metadata["cites"]`), are not extracted, confirm nothing, and end when a source ends.
"""

from __future__ import annotations

from typing import Final, cast

from credenda.model.memory import Draft

__all__ = ["BRIDGE", "CARD", "DREAMER", "is_dreamed", "list_sources"]

DREAMER: Final = "dream"
"""The speaker of derived memories; slots never cross speakers, so that they conflict with no statement."""
CARD: Final = "peer_card"
"""The attribute of a card; its entity is the subject."""
BRIDGE: Final = "bridge"
"""The attribute and the entity of a bridge: it has two subjects, and one look-up finds all bridges."""


def is_dreamed(memory: Draft) -> bool:
    """Return whether the dream cycle derived a memory from others.

    >>> from credenda.model.memory import MemoryType
    >>> is_dreamed(Draft(text="Ana lives in Linz.", type=MemoryType.FACT))
    False
    """
    return memory.speaker == DREAMER and memory.attribute in {CARD, BRIDGE} and "cites" in memory.metadata


def list_sources(memory: Draft) -> frozenset[str]:
    """Return the ids of the source memories of a derived memory."""
    named = memory.metadata.get("cites")
    if not isinstance(named, list | tuple):
        return frozenset()
    return frozenset(str(one) for one in cast("list[object]", named))
