"""What would happen: a text that would be remembered, and a context that an agent would get."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

__all__ = ["ContextLine", "ContextPreview", "ExtractionPreview", "PreviewOutcome", "PreviewedClaim", "ReplacedMemory"]


class PreviewOutcome(StrEnum):
    """What would become of a claim."""

    STORED = "stored"
    CONFIRMED = "confirmed"
    """A memory says so already."""
    REPLACED = "replaced"
    """It would be stored in the place of other memories."""
    CONTESTED = "contested"
    """It would be stored, and a question would be asked."""
    ENDED = "ended"
    """It would end memories, and nothing would take their place."""
    REFUSED = "refused"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplacedMemory:
    """A memory that would be replaced or ended."""

    id: str
    text: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviewedClaim:
    """One claim of a text, and what would become of it; `start` and `end` are its characters in the message."""

    message: int
    """The number of the message, from 1."""
    start: int
    end: int
    text: str
    entity: str | None
    attribute: str | None
    value: str | None
    stance: str
    confidence: float
    outcome: PreviewOutcome
    reason: str
    memory_id: str | None = None
    """The memory that would be confirmed."""
    replaced: tuple[ReplacedMemory, ...] = ()
    question: str = ""
    """The question that would be asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionPreview:
    """What the reader would make of a text; nothing was stored."""

    messages: tuple[str, ...]
    """The messages as they would be stored, for instance with secrets masked."""
    claims: tuple[PreviewedClaim, ...]
    refused: tuple[str, ...] = ()
    """Parts that would not be stored, and why."""
    unread: tuple[str, ...] = ()
    """Parts that would be stored and found, and from which nothing would be extracted."""
    model_would_read: bool = False
    """Whether a model would read the messages too, which this preview does not ask."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextLine:
    """One line that a context has, or leaves out."""

    text: str
    heading: str
    ids: tuple[str, ...]
    tokens: int
    reason: str
    score: float | None = None
    """The score of its best hit; None for a memory of the core."""
    terms: Mapping[str, float] | None = None
    """The terms of that score."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextPreview:
    """The context that an agent would get, line by line, and what was left out; no recall is recorded."""

    text: str
    tokens: int
    token_budget: int
    counted_by: str
    abstained: bool
    lines: tuple[ContextLine, ...]
    left_out: tuple[ContextLine, ...]
    waiting: int = 0
    """Messages that are not read yet."""
