"""A passage: messages of one session that one question to a model is about, with what it needs. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from credenda import limits
from credenda.model.claim import Claim, Turn
from credenda.model.event import Event
from credenda.model.memory import Memory


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """Messages to extract, in order, and the memories that they may affect, the likeliest first.

    `readings` are the claims of the reader by event id: they stand in while there is no answer.
    """

    turns: tuple[Turn, ...]
    known: tuple[Memory, ...] = ()
    readings: Mapping[str, tuple[Claim, ...]] = field(default_factory=dict[str, tuple[Claim, ...]])

    @property
    def event_ids(self) -> tuple[str, ...]:
        """The ids of the messages to extract."""
        return tuple(turn.event.id for turn in self.turns)

    @property
    def messages(self) -> list[Event]:
        """The messages to extract and the latest before each of them, in order."""
        shown: dict[str, Event] = {}
        for turn in self.turns:
            shown |= {event.id: event for event in turn.before[-limits.LLM_CONTEXT_TURNS :] if event.id not in shown}
            shown[turn.event.id] = turn.event
        return list(shown.values())
