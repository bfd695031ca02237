"""Find the memories that a passage may affect: those whose entities, attributes or values it names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Final

from credenda import limits
from credenda.model.attributes import get_attribute
from credenda.model.memory import Memory
from credenda.storage.store import MemoryFilter, Reader
from credenda.text.normalize import normalise_attribute, normalise_name
from credenda.text.tokens import tokenize
from credenda.write.extract_job import ExtractedTurn
from credenda.write.llm.passage import Passage
from credenda.write.reconcile.slots import CURRENT_STATUSES, get_valid_from_us

__all__ = ["make_passage"]

_TERMS: Final = 128
_FEWEST: Final = 6
_CHARACTERS_A_MEMORY: Final = 80
_OWN: Final = frozenset({"user", "speaker"})
_PROFILE: Final = ("residence", "employer", "job_title", "partner", "marital_status", "school", "diet", "age")
"""Attributes of the speakers whose current values are shown in any case."""
_BY_SLOT: Final = 2.0
_BY_MESSAGE: Final = 0.3
_PROFILED: Final = 6
"""Most of the speakers' own values that are shown although the passage does not name them."""
_LEAST: Final = 0.1
"""Less than one word that ten nominated memories have."""


def make_passage(reader: Reader, found: Sequence[ExtractedTurn]) -> Passage:
    """Make the passage of some messages, with the memories whose entities, attributes or values they name."""
    turns = tuple(one.turn for one in found)
    readings = {one.turn.event.id: one.claims for one in found}
    passage = Passage(turns=turns, readings=readings)
    known = tuple(_find_known(reader, passage))
    return Passage(turns=turns, known=known, readings=readings)


def _find_known(reader: Reader, passage: Passage) -> list[Memory]:
    """Find memories by words, by the slots that the rules see, by the earlier messages, and of the speakers.

    A word counts the more the fewer of these memories have it. The best named come first, of equal ones the newest.
    """
    terms = dict.fromkeys(chain.from_iterable(tokenize(turn.event.text) for turn in passage.turns))
    words = set(terms)
    speakers = {turn.event.speaker for turn in passage.turns}
    readings = chain.from_iterable(passage.readings.values())
    slots = _find_by_pairs(reader, [(one.entity, one.attribute) for one in readings if one.entity and one.attribute])
    recent = _find_by_events(reader, [event.id for event in passage.messages])
    profile = _find_by_pairs(reader, [(speaker, name) for speaker in speakers for name in _PROFILE])
    nominated = reader.search_memories(list(terms)[:_TERMS], limits.CANDIDATES) if terms else []
    every = {one.id: one for one in (*slots, *recent, *profile, *nominated) if _is_shown(one)}
    own = _OWN | {normalise_name(speaker) for speaker in speakers}
    named = {one.id: _list_words(one, own) & words for one in every.values()}
    common = Counter(chain.from_iterable(named.values()))
    scores = {name: sum(1 / common[word] for word in shared) for name, shared in named.items()}
    for weight, group in ((_BY_SLOT, slots), (_BY_MESSAGE, recent)):
        for name in {one.id for one in group} & scores.keys():
            scores[name] += weight
    named_best = [one for one in every.values() if scores[one.id] > _LEAST]
    named_best.sort(key=lambda one: (-scores[one.id], -get_valid_from_us(one), one.id))
    length = sum(len(turn.event.text) for turn in passage.turns)
    best = named_best[: min(limits.LLM_KNOWN_MEMORIES, _FEWEST + length // _CHARACTERS_A_MEMORY)]
    own_values = [one for one in profile if one.id in every and one not in best]
    return [*best, *own_values[:_PROFILED]]


def _is_shown(memory: Memory) -> bool:
    return bool(memory.text) and not memory.provisional and memory.status in CURRENT_STATUSES


def _find_by_pairs(reader: Reader, pairs: Iterable[tuple[str, str]]) -> list[Memory]:
    """Find the current memories of some pairs of entity and attribute."""
    keys = dict.fromkeys((normalise_name(entity), normalise_attribute(attribute)) for entity, attribute in pairs)
    wanted = (MemoryFilter(pair=key, statuses=CURRENT_STATUSES, limit=limits.LLM_KNOWN_MEMORIES) for key in keys)
    return list(chain.from_iterable(map(reader.find, wanted)))


def _find_by_events(reader: Reader, event_ids: Sequence[str]) -> list[Memory]:
    links = reader.evidence(event_ids=event_ids) if event_ids else []
    return reader.memories(sorted({link.memory_id for link in links}))


def _list_words(memory: Memory, own: frozenset[str]) -> set[str]:
    """List the words by which a passage may name a memory; not those of its speaker."""
    entity = memory.entity or ""
    about = "" if normalise_name(entity) in own else entity
    nouns = get_attribute(memory.attribute).words if memory.attribute else ()
    attribute = (memory.attribute or "").replace("_", " ")
    return set(tokenize(" ".join((about, attribute, *nouns, memory.value or "", memory.text))))
