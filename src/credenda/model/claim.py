"""What extraction says that an event asserts."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from credenda.model.event import Event
from credenda.model.memory import Cardinality, Memory, MemoryType, Stance

__all__ = ["Claim", "Evidence", "Extractor", "Span", "Turn", "UpdateKind"]


class UpdateKind(StrEnum):
    """What a sentence does to what was believed before."""

    STATE = "state"
    """Says something, with no word about the past."""
    CHANGE = "change"
    """Says that it is different now: "now", "moved to", "switched to", "left … I'm at"."""
    CORRECT = "correct"
    """Says that the earlier value was wrong: "no, …", "actually it's …, not …"."""
    END = "end"
    """Says that exactly this value holds no longer: "I don't eat fish any more"."""
    RETRACT = "retract"
    """Takes back the previous statement of the same speaker: "never mind", "ignore that"."""


@dataclass(frozen=True, slots=True)
class Span:
    """Characters [start, stop) of an event's text."""

    event_id: str
    start: int
    stop: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Why a memory is held: a span of an event, said by someone, and the hash of the claim read from it.

    `claim_hash` (16 bytes) is the key that makes applying a claim twice do nothing; `reader` names the prompt and model
    that read the claim, "" for rules and persons.
    """

    memory_id: str
    span: Span
    claim_hash: bytes
    reader: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One assertion read from one event.

    `text` is the sentence as said; `entity`, `attribute`, `value` its normal reading ("user", "residence", "Linz"), or
    None where the sentence names no slot. `prior` is an earlier value that the sentence itself names ("not Graz").
    `speaker` is who said it: "user" for the tenant, otherwise a name. `confidence` and `importance` lie in [0, 1].
    """

    text: str
    type: MemoryType
    span: Span
    speaker: str = "user"
    entity: str | None = None
    attribute: str | None = None
    value: str | None = None
    prior: str | None = None
    scope: str | None = None
    cardinality: Cardinality = Cardinality.SINGLE
    stance: Stance = Stance.ASSERTED
    move: UpdateKind = UpdateKind.STATE
    confidence: float = 0.8
    importance: float = 0.5
    valid_from_us: int | None = None
    valid_until_us: int | None = None
    provisional: bool = False
    topic: str | None = None
    tags: tuple[str, ...] = ()
    reader: str = ""
    """Version of the prompt and the model that read it; "" for the rules."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """An event to read, with what surrounds it: earlier events of its session (oldest first) and known memories."""

    event: Event
    before: tuple[Event, ...] = ()
    known: tuple[Memory, ...] = ()


class Extractor(Protocol):
    """Reads claims from a turn. Pure for rules; a model-backed one may raise `Unavailable`."""

    def extract(self, turn: Turn) -> list[Claim]:
        """Return at most `limits.CLAIMS_PER_TURN` claims in order of their spans; [] is a full answer."""
        ...
