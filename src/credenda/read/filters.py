"""The conditions of a search as questions to one row. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from credenda.model.event import CODE, Event
from credenda.model.memory import Layer, Memory
from credenda.model.query import Query

__all__ = ["fits_event", "fits_memory", "wants_events", "wants_memories"]

_TYPES_OF_MODE: Final = {
    "facts_only": frozenset({"fact"}),
    "facts_plus_rules": frozenset({"fact", "procedure"}),
    "full_context": frozenset({"fact", "procedure", "narrative"}),
    "codebase": frozenset({"fact", "procedure", "narrative"}),
}
"""Which engram types each mode recalls (E-008…E-010)."""


def wants_memories(query: Query) -> bool:
    """Say whether memories may be among the hits."""
    return "memory" in query.kinds


def wants_events(query: Query) -> bool:
    """Say whether raw events may be; not in a mode or under a condition that only a memory can meet."""
    narrowed = query.types is not None or query.layers is not None or query.mode != "full_context"
    return "event" in query.kinds and not narrowed


def fits_memory(memory: Memory, query: Query) -> bool:
    """Say whether a memory meets every condition but those of its standing."""
    return (
        wants_memories(query)
        and (query.types is None or memory.type in query.types)
        and (query.layers is None or memory.layer in query.layers)
        and (query.asks_code or memory.layer is not Layer.CODEBASE)
        and (query.mode != "codebase" or memory.layer is Layer.CODEBASE)
        and memory.memory_type in _TYPES_OF_MODE[query.mode]
        and _fits(query, memory.topic, memory.tags, memory.metadata)
        and (query.session is None or memory.source_session == query.session)
        and (query.exclude_session is None or memory.source_session != query.exclude_session)
    )


def fits_event(event: Event, query: Query) -> bool:
    """Say whether an event meets every condition but those of its standing."""
    return (
        wants_events(query)
        and CODE not in event.flags
        and _fits(query, event.topic, event.tags, event.metadata)
        and (query.session is None or event.session == query.session)
        and (query.exclude_session is None or event.session != query.exclude_session)
    )


def _fits(query: Query, topic: str | None, tags: Collection[str], metadata: Mapping[str, object]) -> bool:
    return (
        (query.topic is None or query.topic == topic)
        and (query.tags is None or query.tags <= set(tags))
        and (query.metadata is None or query.metadata.items() <= metadata.items())
    )
