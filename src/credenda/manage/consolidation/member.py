"""A memory with the data that judging needs: evidence, time of the statement, and slot. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from credenda.model.change import Support
from credenda.model.memory import Memory, MemoryType, Stance, get_type_class, get_valid_from_us
from credenda.text.normalize import normalise_attribute, normalise_name

ASSERTIVE_STANCES: Final = frozenset({Stance.ASSERTED, Stance.NEGATED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A current memory with its evidence.

    `past` are memories whose value was valid before this one, newest first; `fresh` tells that no run has judged it.
    """

    memory: Memory
    support: tuple[Support, ...] = ()
    past: tuple[Member, ...] = ()
    fresh: bool = True
    left_alone: bool = False
    """Whether the user has undone a change of it, so that consolidation must not change it."""
    linked: frozenset[str] = frozenset()
    """The ids that it is linked with already."""
    told_us: int | None = None
    """When the first message of its evidence was said; only read where its text has a relative date."""
    zone_us: int = 0
    """The offset of the user's clock from UTC, for relative dates."""

    @property
    def id(self) -> str:
        """The id of the memory."""
        return self.memory.id

    @property
    def since_us(self) -> int:
        """When it became valid; the time of the statement unless stated otherwise."""
        return get_valid_from_us(self.memory)

    @property
    def said_us(self) -> int:
        """The time that its relative dates refer to, on the user's clock.

        It is that of the message: "last weekend" names a day before it, on which the fact may have begun.
        """
        return (self.since_us if self.told_us is None else self.told_us) + self.zone_us

    @property
    def events(self) -> frozenset[str]:
        """The ids of its supporting events."""
        return frozenset(item.span.event_id for item in self.support)


def get_slot_key(memory: Memory) -> tuple[str, ...] | None:
    """Return the normalised slot: speaker, entity, attribute, scope, class and polarity; None without one."""
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
