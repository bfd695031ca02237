"""Which memories a dream may make something of, and in which order. Pure.

Never what it dreamed itself, what a scan kept of code, what is contested or doubted, what was not meant, what reads
like an order, and what ends on a day of its own.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from credenda.ids import serial
from credenda.model.dreamed import is_dreamed
from credenda.model.memory import Layer, Memory, Stance, Status
from credenda.text.normal import name_key, text_key

__all__ = ["INSTRUCTION", "About", "Shelf", "digest_of", "fact_order", "is_fact"]

INSTRUCTION: Final = "instruction"
_MEANT: Final = frozenset({Stance.ASSERTED, Stance.NEGATED, Stance.REPORTED})
_SURE: Final = 0.4
"""Confidence below which a search shows nothing, and a card tells nothing."""


def is_fact(memory: Memory) -> bool:
    """Return whether a dream may make something of a memory."""
    plain = memory.status is Status.ACTIVE and not memory.contested and not memory.provisional
    meant = memory.stance in _MEANT and memory.confidence >= _SURE and memory.expires_us is None
    kept = memory.layer is not Layer.CODEBASE and memory.attribute != INSTRUCTION
    return plain and meant and kept and bool(memory.entity and memory.text) and not is_dreamed(memory)


def fact_order(memory: Memory) -> tuple[float, int]:
    """Order facts by what they mattered when they were said, then by age: neither moves from night to night."""
    return -memory.base_importance, serial(memory.id)


def digest_of(facts: Iterable[Memory], maker: str) -> str:
    """Hash what something is made of, and in which form: the same hash makes the same thing (32 hex digits).

    It covers ids alone, whose words never change, so that nothing of deleted words stays behind in it.
    """
    return hashlib.blake2b("\x00".join((maker, *(one.id for one in facts))).encode(), digest_size=16).hexdigest()


@dataclass(slots=True)
class About:
    """An entity and the facts about it that matter most."""

    name: str
    facts: list[Memory] = field(default_factory=list[Memory])
    count: int = 0


@dataclass(slots=True)
class Shelf:
    """Facts by entity, of which only the most important are kept in hand."""

    most: int
    _entities: dict[str, About] = field(default_factory=dict[str, About])

    def put(self, memory: Memory) -> None:
        """Take in a memory, if anything may be made of it."""
        if not is_fact(memory) or memory.entity is None:
            return
        about = self._entities.setdefault(name_key(memory.entity), About(memory.entity))
        about.count += 1
        about.facts.append(memory)
        if len(about.facts) > 4 * self.most:
            about.facts = _first(about.facts, self.most)

    def entities(self, least: int, most: int) -> Iterator[tuple[str, About]]:
        """Give the `most` entities with the most facts, those with `least` of them and more, by their normal names."""
        known = sorted(self._entities.items(), key=lambda one: (-one[1].count, one[0]))
        for key, about in known[:most]:
            facts = _first(about.facts, self.most)
            if len(facts) >= least:
                yield key, About(about.name, facts, about.count)


def _first(facts: Iterable[Memory], most: int) -> list[Memory]:
    """Return the most important facts, each saying once."""
    told: dict[str, Memory] = {}
    for one in sorted(facts, key=fact_order):
        told.setdefault(text_key(one.text), one)
    return list(told.values())[:most]
