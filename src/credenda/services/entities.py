"""List the people and things that memories are about, and how they are related."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Final

from credenda.model.entities import EntityMap, EntityRelation, EntitySummary
from credenda.model.memory import HELD, Layer, Memory, Stance
from credenda.runtime import Parts
from credenda.storage.store import MemoryFilter
from credenda.text.normalize import normalise_attribute, normalise_name

__all__ = ["list_entities"]

_LOOKED_AT: Final = 2_000
_NAME_WORDS: Final = 4
_NAME_CHARACTERS: Final = 60
_LAYERS: Final = frozenset(Layer) - {Layer.CODEBASE}
_NOT_SAID: Final = frozenset({Stance.NEGATED, Stance.HYPOTHETICAL, Stance.ROLE_PLAY, Stance.SARCASTIC})
"""Stances under which a value says nothing of a relation."""


def list_entities(parts: Parts) -> EntityMap:
    """Return the entities of the newest 2,000 believed memories, and the relations between them."""
    with parts.store.reader(parts.user_id) as reader:
        found = reader.find(MemoryFilter(statuses=HELD, layers=_LAYERS, limit=_LOOKED_AT + 1))
    looked = found[:_LOOKED_AT]
    relations = [_find_relation(one) for one in looked]
    related = [one for one in relations if one is not None]
    return EntityMap(
        entities=_summarise(looked, related),
        relations=tuple(related),
        counted=len(looked),
        has_more=len(found) > _LOOKED_AT,
    )


def _find_relation(memory: Memory) -> EntityRelation | None:
    """Return the relation that a memory states; None for one whose value is no name."""
    if not (memory.entity and memory.attribute and memory.value) or memory.stance in _NOT_SAID:
        return None
    if not _is_name(memory.value) or normalise_name(memory.value) == normalise_name(memory.entity):
        return None
    return EntityRelation(source=memory.entity, attribute=memory.attribute, target=memory.value, memory_id=memory.id)


def _is_name(value: str) -> bool:
    """Return whether a value is written like a name: a few words, of which the first begins with a capital."""
    words = value.split() if len(value) <= _NAME_CHARACTERS else []
    return 0 < len(words) <= _NAME_WORDS and words[0][0].isupper()


def _summarise(memories: Sequence[Memory], relations: Sequence[EntityRelation]) -> tuple[EntitySummary, ...]:
    spelled: dict[str, Counter[str]] = defaultdict(Counter)
    attributes: dict[str, set[str]] = defaultdict(set)
    counts = Counter[str]()
    latest: dict[str, int] = {}
    for memory in memories:
        if memory.entity:
            key = normalise_name(memory.entity)
            spelled[key][memory.entity] += 1
            counts[key] += 1
            latest[key] = max(latest.get(key, 0), memory.recorded_us)
            attributes[key] |= {normalise_attribute(memory.attribute)} if memory.attribute else set()
    recorded = {memory.id: memory.recorded_us for memory in memories}
    for relation in relations:
        key = normalise_name(relation.target)
        spelled[key][relation.target] += 1
        latest[key] = max(latest.get(key, 0), recorded[relation.memory_id])
    keys = sorted(spelled, key=lambda key: (-counts[key], -latest[key], key))
    return tuple(
        EntitySummary(
            name=spelled[key].most_common(1)[0][0],
            memories=counts[key],
            attributes=tuple(sorted(attributes[key])),
            latest_us=latest[key],
        )
        for key in keys
    )
