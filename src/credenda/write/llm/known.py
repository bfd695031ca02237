"""Find the memories that a passage may affect: those whose entities, attributes or values it names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Final

from credenda import limits
from credenda.model.attributes import get_attribute
from credenda.model.claim import Claim
from credenda.model.memory import Memory
from credenda.storage.store import MemoryFilter, Reader
from credenda.text.normalize import normalise_attribute, normalise_name
from credenda.text.tokens import tokenize
from credenda.write.extract_job import ExtractedTurn
from credenda.write.llm.passage import Passage
from credenda.write.reconcile.slots import CURRENT_STATUSES, get_valid_from_us

__all__ = ["make_passage"]

_TERMS: Final = 48
_OWN: Final = frozenset({"user", "speaker", "my"})


def make_passage(reader: Reader, found: Sequence[ExtractedTurn]) -> Passage:
    """Make the passage of some messages, with the memories whose entities, attributes or values they name."""
    turns = tuple(one.turn for one in found)
    readings = {one.turn.event.id: one.claims for one in found}
    passage = Passage(turns=turns, readings=readings)
    known = tuple(_find_known(reader, passage))
    return Passage(turns=turns, known=known, readings=readings)


def _find_known(reader: Reader, passage: Passage) -> list[Memory]:
    """Find memories by the slots that the rules see, by the earlier messages, and by words; the best named first."""
    words = set(chain.from_iterable(tokenize(turn.event.text) for turn in passage.turns))
    slots = _find_by_slots(reader, chain.from_iterable(passage.readings.values()))
    recent = _find_by_events(reader, [event.id for event in passage.messages])
    nominated = reader.search_memories(sorted(words)[:_TERMS], limits.CANDIDATES) if words else []
    every = {one.id: one for one in (*slots, *recent, *nominated)}
    first = {one.id for one in slots}
    scored = [(_count_names(one, words) + 2 * (one.id in first), one) for one in every.values() if _is_shown(one)]
    near = {one.id for one in recent}
    best = [(score, one) for score, one in scored if score or one.id in near]
    best.sort(key=lambda pair: (-pair[0], -get_valid_from_us(pair[1]), pair[1].id))
    return [one for _, one in best[: limits.LLM_KNOWN_MEMORIES]]


def _is_shown(memory: Memory) -> bool:
    return bool(memory.text) and not memory.provisional and memory.status in CURRENT_STATUSES


def _find_by_slots(reader: Reader, claims: Iterable[Claim]) -> list[Memory]:
    pairs = {
        (normalise_name(claim.entity), normalise_attribute(claim.attribute)): None
        for claim in claims
        if claim.entity and claim.attribute
    }
    wanted = (MemoryFilter(pair=pair, statuses=CURRENT_STATUSES, limit=limits.LLM_KNOWN_MEMORIES) for pair in pairs)
    return list(chain.from_iterable(map(reader.find, wanted)))


def _find_by_events(reader: Reader, event_ids: Sequence[str]) -> list[Memory]:
    links = reader.evidence(event_ids=event_ids) if event_ids else []
    return reader.memories(sorted({link.memory_id for link in links}))


def _count_names(memory: Memory, words: set[str]) -> int:
    """Count how a passage names a memory: 2 for its entity, 2 for a noun of its attribute, 1 for its value."""
    entity = set(tokenize(memory.entity or "")) - _OWN
    nouns = get_attribute(memory.attribute).words if memory.attribute else ()
    attribute = [set(tokenize(noun)) for noun in ((memory.attribute or "").replace("_", " "), *nouns)]
    named = any(noun and noun <= words for noun in attribute)
    value = set(tokenize(memory.value or memory.text))
    return 2 * bool(entity & words) + 2 * named + bool(value & words)
