"""The facts that a reader finds in a message, each with its words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple, Protocol

SPEAKER: Final = "me"
"""The subject of a fact about its speaker."""
LISTENER: Final = "you"
"""The subject of a fact about the person spoken to."""


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
    fact, and that the attribute is right. `weight` is 2 for a fact that no memory may miss, else 1.
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


class FactReader(Protocol):
    """Finds the facts of messages. May be used from several threads."""

    @property
    def reader_id(self) -> str:
        """Name and version of the reader; another id may find other facts."""
        ...

    def read(self, text: str, before: str = "") -> Sequence[Fact]:
        """Return the facts of a message in order; `before` is the message that it may answer, "" for none.

        Raises `Unavailable` if the reader cannot be loaded.
        """
        ...
