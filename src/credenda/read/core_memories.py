"""Read the memories that every prompt needs: instructions, pins, facts about the user and frequent recalls."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from credenda.clock import DAY_US
from credenda.ids import parse_serial
from credenda.model.core import CoreMemory, RecallCounts, Section
from credenda.model.event import TRUST, Source
from credenda.model.memory import Layer, Memory, Stance, Status, get_valid_from_us, is_dreamed
from credenda.model.query import Query
from credenda.read.newer import find_rival, may_have_rivals
from credenda.read.visibility import flag_memory
from credenda.storage.current_trust import find_current_trust
from credenda.storage.store import MemoryFilter, Reader
from credenda.text.normalize import normalise_attribute, normalise_name

_CORE: Final = 500
"""Maximum number of instructions, and of pins, that are read; no cap has room for more."""
_INSTRUCTION: Final = "instruction"
_USER: Final = "user"
_FOREIGN: Final = TRUST[Source.INGEST]
_VALUES: Final = 5
"""Maximum number of values that are read for one attribute of the user."""
_FRESH_DAYS: Final = 60
"""Days for which a value of an open attribute may stand in every prompt."""
_HELD: Final = frozenset({Status.ACTIVE, Status.CHALLENGED})
_ACTIVE: Final = frozenset({Status.ACTIVE})
_PLAIN: Final = Query(text="")


def find_core_memories(reader: Reader, query: Query, now_us: int) -> list[Memory]:
    """Return the standing instructions and then the pinned memories, each oldest first."""
    then = MemoryFilter(
        statuses=_HELD if query.as_of_us is None else None,
        limit=_CORE,
        known_at_us=query.known_at_us,
        as_of_us=query.as_of_us,
    )
    instructions = filter(is_standing_instruction, reader.find(replace(then, attribute=_INSTRUCTION)))
    pinned = reader.find(replace(then, pinned=True))
    found = {memory.id: memory for memory in [*reversed([*instructions]), *reversed(pinned)]}
    return [memory for memory in found.values() if flag_memory(memory, query, now_us) is not None]


def is_standing_instruction(memory: Memory) -> bool:
    """Return whether a memory is a standing instruction, and not one that somebody else gave the user."""
    return memory.attribute == _INSTRUCTION and memory.stance is not Stance.REPORTED


def to_core_memory(memory: Memory) -> CoreMemory:
    """Place an instruction or a pinned memory in its section of the core."""
    return CoreMemory(Section.INSTRUCTION if is_standing_instruction(memory) else Section.PINNED, memory)


def find_user_memories(reader: Reader, attributes: Iterable[str], now_us: int) -> list[Memory]:
    """Return the user's active memories with these attributes, by attribute and then newest first; none that ended."""
    found: list[Memory] = []
    for attribute in attributes:
        wanted = MemoryFilter(pair=(_USER, attribute), statuses=_ACTIVE, limit=_VALUES)
        found += reader.find(wanted)
    return _keep_visible(found, now_us)


def find_often_recalled(reader: Reader, log: Sequence[RecallCounts], now_us: int) -> list[Memory]:
    """Return the visible memories of a recall log, in its order, without memories of the codebase layer.

    It leaves out memories that only a document or tool supports, and values of open attributes that are old or have a
    newer one beside them, because every prompt would repeat them.
    """
    held = {memory.id: memory for memory in reader.memories([one.memory_id for one in log])}
    ordered = [held[one.memory_id] for one in log if one.memory_id in held]
    shown = [
        one
        for one in _keep_visible(ordered, now_us)
        if one.layer is not Layer.CODEBASE and not _may_be_outdated(reader, one, now_us)
    ]
    return [one for one in find_current_trust(reader, shown) if one.trust > _FOREIGN or is_dreamed(one)]


def _may_be_outdated(reader: Reader, memory: Memory, now_us: int) -> bool:
    """Return whether an open attribute, of which nothing tells how long its values hold, may have another by now."""
    if not may_have_rivals(memory):
        return False
    if now_us - get_valid_from_us(memory) > _FRESH_DAYS * DAY_US:
        return True
    pair = (normalise_name(memory.entity or ""), normalise_attribute(memory.attribute or ""))
    held = reader.find(MemoryFilter(pair=pair, statuses=_ACTIVE, limit=_VALUES))
    return find_rival(memory, held, now_us) is not None


def add_statement_times(reader: Reader, core: Sequence[CoreMemory]) -> list[CoreMemory]:
    """Add when each memory of the core was told first, in two reads."""
    first: dict[str, str] = {}
    for link in reader.evidence(memory_ids=[one.memory.id for one in core]) if core else ():
        known, event_id = first.get(link.memory_id), link.span.event_id
        first[link.memory_id] = event_id if known is None else min(known, event_id, key=parse_serial)
    told = {event.id: event.occurred_us for event in reader.events(sorted(set(first.values())))} if first else {}
    times = {name: told[event_id] for name, event_id in first.items() if event_id in told}
    return [one._replace(told_us=(times[one.memory.id],)) if one.memory.id in times else one for one in core]


def _keep_visible(memories: Iterable[Memory], now_us: int) -> list[Memory]:
    flagged = ((memory, flag_memory(memory, _PLAIN, now_us)) for memory in memories)
    return [memory for memory, flags in flagged if flags is not None and "stale" not in flags]
