"""What judging needs to know of a memory: when it was said, on what it rests, and the slot it speaks of. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from credenda.model.change import Support
from credenda.model.memory import Memory, MemoryType, Stance, get_type_class
from credenda.text.normalize import normalise_attribute, normalise_name

__all__ = ["ASSERTIVE_STANCES", "METADATA_KEY", "Member", "get_slot_key"]

ASSERTIVE_STANCES: Final = frozenset({Stance.ASSERTED, Stance.NEGATED})
METADATA_KEY: Final = "consolidated"
"""The entry of a memory's metadata in which a run keeps first seen, updated and sources (S-018)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A memory that is held, with its evidence.

    `past` are memories whose value was true before this one's, newest first; `fresh` says that no run has judged it.
    """

    memory: Memory
    support: tuple[Support, ...] = ()
    past: tuple[Member, ...] = ()
    fresh: bool = True
    left_alone: bool = False
    """Whether a person took something about it back, so that nothing is decided about it by itself."""
    linked: frozenset[str] = frozenset()
    """What it is linked with already."""
    zone_us: int = 0
    """How far the person's clock is ahead of UTC, for the days that words name."""

    @property
    def id(self) -> str:
        """The id of the memory."""
        return self.memory.id

    @property
    def since_us(self) -> int:
        """Since when it is true, which is when it was said unless it says otherwise."""
        return self.memory.created_us if self.memory.valid_from_us is None else self.memory.valid_from_us

    @property
    def said_us(self) -> int:
        """The moment from which its words for days count, on the person's clock."""
        return self.since_us + self.zone_us

    @property
    def events(self) -> frozenset[str]:
        """The events on which it rests."""
        return frozenset(item.span.event_id for item in self.support)


def get_slot_key(memory: Memory) -> tuple[str, ...] | None:
    """Give the slot of a memory in normal form: speaker, entity, attribute, scope and class; None where it has none."""
    if memory.type is MemoryType.NARRATIVE or not (memory.entity and memory.attribute and memory.value):
        return None
    return (
        normalise_name(memory.speaker),
        normalise_name(memory.entity),
        normalise_attribute(memory.attribute),
        normalise_name(memory.scope or ""),
        get_type_class(memory.type),
        str(memory.stance is Stance.NEGATED),
    )
