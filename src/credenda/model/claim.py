"""Claims: the assertions that extraction finds in an event."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple, Protocol

from credenda.model.event import DENIED, Event
from credenda.model.memory import Cardinality, Memory, MemoryType, Stance

CONFIDENCE_MAX: Final = {
    Stance.HYPOTHETICAL: 0.3,
    Stance.ROLE_PLAY: 0.3,
    Stance.SARCASTIC: 0.3,
    Stance.CONSIDERED: 0.5,
    Stance.PLANNED: 0.5,
    Stance.REPORTED: 0.6,
}
"""Maximum confidence by stance, whatever a pattern gives (R-040, D-005)."""


class UpdateKind(StrEnum):
    """The effect of a sentence on earlier beliefs."""

    STATE = "state"
    """States a value, without reference to the past."""
    CHANGE = "change"
    """States that the value is different now: "now", "moved to", "switched to", "left … I'm at"."""
    CORRECT = "correct"
    """States that the earlier value was wrong: "no, …", "actually it's …, not …"."""
    END = "end"
    """States that exactly this value is no longer true: "I don't eat fish any more"."""
    CONTRADICT = "contradict"
    """States another value than a named memory, without saying which one holds."""
    RETRACT = "retract"
    """Retracts the previous statement of the same speaker: "never mind", "ignore that"."""


@dataclass(frozen=True, slots=True)
class Span:
    """Characters [start, stop) of an event's text."""

    event_id: str
    start: int
    stop: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The evidence of a memory: a span of an event, its speaker's words, and the hash of the claim extracted from it.

    `claim_hash` (16 bytes) makes applying a claim twice a no-op; `reader` is the prompt and model that extracted the
    claim, "" for rules and persons.
    """

    memory_id: str
    span: Span
    claim_hash: bytes
    reader: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One assertion extracted from one event.

    `text` is the sentence verbatim; `entity`, `attribute`, `value` its normalised slot and value ("user", "residence",
    "Linz"), or None for a sentence without a slot. `prior` is an earlier value that the sentence itself names ("not
    Graz"). `speaker` is "user" for the tenant, otherwise a name. `confidence` and `importance` are in [0, 1].
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
    """Version of the prompt and the model that extracted it, or the calling agent; "" for the reader that ships."""
    completed: str = ""
    """The sentence with the words that it leaves out, which may name the owner of its thing; "" for a whole one."""
    statement: str = ""
    """The claim as one line that stands alone, in the words of who proposed it; "" for one that is made."""
    key: str = ""
    """The words in which who proposed it names its slot; "" for those of the attribute."""
    rival: str | None = None
    """Id of the memory that a model or an agent named as replaced, corrected, ended or contradicted by it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """An event to extract, with its surroundings: earlier events of its session (oldest first) and known memories."""

    event: Event
    before: tuple[Event, ...] = ()
    known: tuple[Memory, ...] = ()

    @property
    def addressed(self) -> Event | None:
        """The event just before, which this one may answer: of somebody else, and not denied."""
        last = self.before[-1] if self.before else None
        own = last is not None and (last.role, last.speaker) == (self.event.role, self.event.speaker)
        return None if last is None or own or DENIED in last.flags else last


class Extractor(Protocol):
    """Extracts claims from a turn. Pure for rules; an extractor with a model may raise `Unavailable`."""

    def extract(self, turn: Turn) -> list[Claim]:
        """Return the claims in order of their spans; [] is a valid result."""
        ...


def keep_weightiest(claims: Sequence[Claim], most: int) -> list[Claim]:
    """Keep at most `most` claims of a message, the weightiest, so that no long message fills the memory (R-046).

    Claims that replace, end or take back a belief stay whatever their number: without them it would be held on.
    """
    stated = sorted(
        (one for one in claims if one.move is UpdateKind.STATE), key=lambda one: (-one.importance, -one.confidence)
    )
    left = stated[max(0, most - (len(claims) - len(stated))) :]
    return [one for one in claims if not any(one is other for other in left)]


# The facts that a reader finds in a message, each with its words.


SPEAKER: Final = "me"
"""The subject of a fact about its speaker."""
LISTENER: Final = "you"
"""The subject of a fact about the person spoken to."""
PRONOUNS: Final = frozenset({"he", "she", "it", "they", "him", "her", "them", "his", "its", "their", "this", "that"})
"""Subjects that an earlier one names."""


class FactStatus(StrEnum):
    """How a fact is told."""

    NOW = "now"
    PAST = "past"
    """It was so once; nothing says that it has just ended."""
    ENDED = "ended"
    """It has just ended, and nothing takes its place."""
    PLANNED = "planned"
    CONSIDERED = "considered"
    UNREAL = "unreal"
    """Supposed, imagined, played or meant as a joke."""
    DENIED = "denied"
    HEARSAY = "hearsay"
    """Told of others by others."""


class FactChange(StrEnum):
    """The effect of the words on an earlier value."""

    NONE = ""
    CHANGED = "changed"
    CORRECTED = "corrected"


class Words(NamedTuple):
    """Characters [start, stop) of a message. In the message before it, `start` and `stop` are -1."""

    text: str
    start: int = -1
    stop: int = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One fact of a message.

    `subject` is `SPEAKER`, `LISTENER`, or the words that name somebody or something; "" if no words do. `attribute` is
    one of the closed list that readers are trained on. `key` names the slot more closely; `old` is the former value,
    `scope` limits it, `when` dates it. `certainty` and `attribute_certainty` are probabilities: that it is a
    fact, and that the attribute is right. `weight` is 2 for a fact that no memory may miss, else 1. `language` is the
    code of that of its words.
    """

    value: Words
    quote: Words
    attribute: str
    subject: str = SPEAKER
    key: str = ""
    old: str = ""
    scope: str = ""
    when: str = ""
    status: FactStatus = FactStatus.NOW
    change: FactChange = FactChange.NONE
    weight: int = 1
    certainty: float = 1.0
    attribute_certainty: float = 1.0
    language: str = "en"


class FactReader(Protocol):
    """Finds the facts of messages. May be used from several threads."""

    @property
    def reader_id(self) -> str:
        """Name and version of the reader; another id may find other facts."""
        ...

    def reads(self, text: str, before: str = "") -> bool:
        """Return whether it reads the language of a message, which may answer the one before it."""
        ...

    def read(self, text: str, before: str = "") -> Sequence[Fact]:
        """Return the facts of a message in order; `before` is the message that it may answer, "" for none.

        Raises `Unavailable` if the reader cannot be loaded.
        """
        ...
