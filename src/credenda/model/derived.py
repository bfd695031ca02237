"""What is dreamed: memories made of memories, which are never evidence of anything.

They cite the memories that they were made of (`metadata["cites"]`), are not read again, confirm nothing, and end when
what they cite ends.
"""

from __future__ import annotations

from typing import Final, cast

from credenda.model.memory import Draft

__all__ = ["BRIDGE", "CARD", "DREAMER", "is_dreamed", "list_sources"]

DREAMER: Final = "dream"
"""The speaker of what is dreamed; slots never cross speakers, so that it competes with nothing that was said."""
CARD: Final = "peer_card"
"""The attribute of a card, whose entity is the one that it is about."""
BRIDGE: Final = "bridge"
"""The attribute of a bridge, and its entity too: it is about two, and one look finds them all."""


def is_dreamed(memory: Draft) -> bool:
    """Say whether a memory was made of others by the dream cycle.

    >>> from credenda.model.memory import MemoryType
    >>> is_dreamed(Draft(text="Ana lives in Linz.", type=MemoryType.FACT))
    False
    """
    return memory.speaker == DREAMER and memory.attribute in {CARD, BRIDGE} and "cites" in memory.metadata


def list_sources(memory: Draft) -> frozenset[str]:
    """Return the ids of the memories that a dreamed one was made of."""
    named = memory.metadata.get("cites")
    if not isinstance(named, list | tuple):
        return frozenset()
    return frozenset(str(one) for one in cast("list[object]", named))
