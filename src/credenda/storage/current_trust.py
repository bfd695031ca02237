"""The trust in memories as their evidence and sources stand now; what a row says of its own trust is only a bound."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Final

from credenda.ids import parse_serial
from credenda.model.derived import list_merged_sources, list_sources
from credenda.model.event import Event, Role, Source
from credenda.model.memory import Memory
from credenda.storage.store import Reader

__all__ = ["combine_trust", "find_current_trust"]

_OWN: Final = frozenset({Source.HUMAN, Source.FILE})
_SPEAKING: Final = frozenset({Role.USER, Role.PERSON})
_EVIDENCE: Final = 16
"""The most events of a memory that count: the first and the latest."""
_DEPTH: Final = 4
"""How many summaries of summaries are followed; a deeper one keeps the trust that it was written with."""


def combine_trust(memory: Memory, evidence: Sequence[Event]) -> float:
    """Return the trust in a memory on this evidence: that of its best witness.

    A person is trusted as such. Any other event adds no more than the trust with which the memory was written, because
    it may only repeat another. Redacted events witness nothing. Without evidence the trust stays as it was written.
    """
    witnesses = [event for event in evidence if event.text]
    if not witnesses:
        return memory.trust
    return max(event.trust if _is_person(event) else min(event.trust, memory.trust) for event in witnesses)


def find_current_trust(reader: Reader, memories: Sequence[Memory]) -> list[Memory]:
    """Return memories with the trust that they have now: at most that of every memory that they were made of."""
    trusts = _compute(reader, memories, _DEPTH)
    return [
        memory if (trust := trusts.get(memory.id, memory.trust)) == memory.trust else replace(memory, trust=trust)
        for memory in memories
    ]


def _compute(reader: Reader, memories: Collection[Memory], depth: int) -> Mapping[str, float]:
    """Return the trust of those memories that may differ from their rows."""
    sources = {memory.id: found for memory in memories if (found := _list_all_sources(memory))}
    stated = [memory for memory in memories if memory.confirmations and memory.id not in sources]
    trusts = _weigh_evidence(reader, stated) if stated else {}
    if sources and depth:
        named = sorted({name for names in sources.values() for name in names})
        made_of = reader.memories(named)
        known = {one.id: one.trust for one in made_of} | dict(_compute(reader, made_of, depth - 1))
        rows = {memory.id: memory.trust for memory in memories}
        for memory_id, names in sources.items():
            trusts[memory_id] = min([rows[memory_id], *(known[name] for name in names if name in known)])
    return trusts


def _weigh_evidence(reader: Reader, memories: Sequence[Memory]) -> dict[str, float]:
    events_of: dict[str, dict[str, None]] = {memory.id: {} for memory in memories}
    for link in reader.evidence(memory_ids=list(events_of)):
        events_of[link.memory_id][link.span.event_id] = None
    chosen = {name: _choose(found) for name, found in events_of.items()}
    wanted = sorted({event_id for ids in chosen.values() for event_id in ids})
    events = {event.id: event for event in reader.events(wanted)} if wanted else {}
    return {
        memory.id: combine_trust(memory, [events[one] for one in chosen[memory.id] if one in events])
        for memory in memories
    }


def _choose(event_ids: Collection[str]) -> list[str]:
    ordered = sorted(event_ids, key=parse_serial)
    return ordered if len(ordered) <= _EVIDENCE else [*ordered[: _EVIDENCE // 2], *ordered[-_EVIDENCE // 2 :]]


def _list_all_sources(memory: Memory) -> frozenset[str]:
    """Return the ids of the memories that a memory was made of, by the dream or by a consolidation."""
    return list_sources(memory) | list_merged_sources(memory)


def _is_person(event: Event) -> bool:
    return event.role in _SPEAKING and event.source in _OWN
