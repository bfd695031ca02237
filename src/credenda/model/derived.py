"""Memories that are made of other memories: by the dream cycle, or by consolidation.

Those of the dream cycle are never evidence: they cite their source memories (`metadata["cites"]`), are not extracted,
confirm nothing, and end when a source ends.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, cast

from credenda.model.memory import Draft

__all__ = ["BRIDGE", "CARD", "CONSOLIDATED", "DREAMER", "is_dreamed", "list_merged_sources", "list_sources"]

DREAMER: Final = "dream"
"""The speaker of derived memories; slots never cross speakers, so that they conflict with no statement."""
CARD: Final = "peer_card"
"""The attribute of a card; its entity is the subject."""
BRIDGE: Final = "bridge"
"""The attribute and the entity of a bridge: it has two subjects, and one look-up finds all bridges."""
CONSOLIDATED: Final = "consolidated"
"""The metadata key under which consolidation stores first seen, updated and sources of an entry (S-018)."""


def is_dreamed(memory: Draft) -> bool:
    """Return whether the dream cycle derived a memory from others.

    >>> from credenda.model.memory import MemoryType
    >>> is_dreamed(Draft(text="Ana lives in Linz.", type=MemoryType.FACT))
    False
    """
    return memory.speaker == DREAMER and memory.attribute in {CARD, BRIDGE} and "cites" in memory.metadata


def list_sources(memory: Draft) -> frozenset[str]:
    """Return the ids of the source memories of a derived memory."""
    return _read_ids(memory.metadata.get("cites"))


def list_merged_sources(memory: Draft) -> frozenset[str]:
    """Return the ids of the memories of which consolidation made an entry, those of previous values among them."""
    origin = memory.metadata.get(CONSOLIDATED)
    named = cast("Mapping[str, object]", origin).get("sources") if isinstance(origin, Mapping) else None
    return _read_ids(named)


def _read_ids(named: object) -> frozenset[str]:
    if not isinstance(named, list | tuple):
        return frozenset()
    return frozenset(str(one) for one in cast("list[object]", named))
