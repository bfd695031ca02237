"""Choose and order the facts that a dream may use. Pure.

Excludes derived memories, code memories, contested and challenged memories, stances that assert nothing, instructions,
and memories that expire.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from credenda.ids import parse_serial
from credenda.model.derived import is_dreamed
from credenda.model.memory import Layer, Memory, Stance, Status
from credenda.text.normalize import normalise_name, normalise_text

__all__ = ["INSTRUCTION", "EntityFacts", "FactIndex", "hash_facts", "is_eligible_fact", "rank_fact"]

INSTRUCTION: Final = "instruction"
_MEANT: Final = frozenset({Stance.ASSERTED, Stance.NEGATED, Stance.REPORTED})
_SURE: Final = 0.4
"""Below this confidence a search hides a memory, and a card leaves it out."""


def is_eligible_fact(memory: Memory) -> bool:
    """Return whether a dream may use a memory."""
    plain = memory.status is Status.ACTIVE and not memory.contested and not memory.provisional
    meant = memory.stance in _MEANT and memory.confidence >= _SURE and memory.expires_us is None
    kept = memory.layer is not Layer.CODEBASE and memory.attribute != INSTRUCTION
    return plain and meant and kept and bool(memory.entity and memory.text) and not is_dreamed(memory)


def rank_fact(memory: Memory) -> tuple[float, int]:
    """Sort facts by their base importance, then by age; neither changes from run to run."""
    return -memory.base_importance, parse_serial(memory.id)


def hash_facts(facts: Iterable[Memory], maker: str) -> str:
    """Hash the ids of some facts and the maker (32 hex digits); equal hashes give equal results.

    It covers ids alone, so that it retains nothing of deleted text.
    """
    return hashlib.blake2b("\x00".join((maker, *(one.id for one in facts))).encode(), digest_size=16).hexdigest()


@dataclass(slots=True)
class EntityFacts:
    """An entity and its most important facts."""

    name: str
    facts: list[Memory] = field(default_factory=list[Memory])
    count: int = 0


@dataclass(slots=True)
class FactIndex:
    """Facts by entity; keeps only the most important facts in memory.

    `keep` chooses the facts; with `by_slot` the slots of one sentence are several facts.
    """

    most: int
    keep: Callable[[Memory], bool] = is_eligible_fact
    by_slot: bool = False
    _entities: dict[str, EntityFacts] = field(default_factory=dict[str, EntityFacts])

    def put(self, memory: Memory) -> None:
        """Add a memory, if a dream may use it."""
        if not self.keep(memory) or memory.entity is None:
            return
        about = self._entities.setdefault(normalise_name(memory.entity), EntityFacts(memory.entity))
        about.count += 1
        about.facts.append(memory)
        if len(about.facts) > 4 * self.most:
            about.facts = self._choose(about.facts)

    def entities(self, least: int, most: int) -> Iterator[tuple[str, EntityFacts]]:
        """Yield the `most` entities with the most facts that have at least `least`, by normalised name."""
        known = sorted(self._entities.items(), key=lambda one: (-one[1].count, one[0]))
        for key, about in known[:most]:
            facts = self._choose(about.facts)
            if len(facts) >= least:
                yield key, EntityFacts(about.name, facts, about.count)

    def _choose(self, facts: Iterable[Memory]) -> list[Memory]:
        """Return the most important facts, each text once, or each slot and value."""
        told: dict[tuple[str | None, ...], Memory] = {}
        for one in sorted(facts, key=rank_fact):
            slot = (one.attribute, one.value, one.scope) if self.by_slot else ()
            told.setdefault((normalise_text(one.text), *slot), one)
        return list(told.values())[: self.most]
