"""Results of tests, previews and scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple

# Reports of a rebuild.


@dataclass(frozen=True, slots=True, kw_only=True)
class RebuildDifference:
    """One difference: the memory or contest (None: a new one), the action, and the texts.

    `fields` lists the differing fields; `before` and `after` are the current and the rebuilt text, "" for none.
    """

    id: str | None
    what: str
    fields: tuple[str, ...] = ()
    before: str = ""
    after: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RebuildReport:
    """The result of a rebuild: what it compared, the differences, and whether they were applied.

    `compared` counts memories. `unexplained` lists memories and contests that the change log does not explain and that
    stay unchanged; `redacted` and `unsupported` count those whose log an older version redacted so far that status, or
    evidence, could not be compared. `kept` lists decisions of persons that no longer apply to any memory.

    With a model, `asked` counts the messages sent to it in this run and `unread` those without an answer, whose beliefs
    stay. While `waiting` is not 0 nothing was compared, and `why` is the reason.
    """

    reextract: bool
    dry_run: bool
    compared: int
    differences: tuple[RebuildDifference, ...]
    applied: bool
    unexplained: tuple[str, ...] = ()
    redacted: int = 0
    unsupported: int = 0
    kept: tuple[str, ...] = ()
    asked: int = 0
    unread: int = 0
    waiting: int = 0
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedAssertion:
    """One assertion: its line and words, whether it holds, and both sides if it does not.

    `expected` and `found` are lists of lines; those of `found` name memories and events by their ids.
    """

    line: int
    assertion: str
    passed: bool
    expected: tuple[str, ...] = ()
    found: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class BeliefTestReport:
    """The result of a file of assertions, in its order.

    `tested` says what they were tested against: "memory", "reextracted" or "data". `differences` are those that reading
    the journal again with the present rules makes, empty unless it was read again.
    """

    path: str
    tested: str
    passed: int
    failed: int
    checks: tuple[CheckedAssertion, ...]
    differences: tuple[RebuildDifference, ...] = ()
    problems: tuple[str, ...] = ()
    """Items of the data that could not be imported."""

    @property
    def ok(self) -> bool:
        """Whether every assertion holds."""
        return not self.failed


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayedPrompt:
    """The contexts that a prompt would have got when it was said, with and without a memory.

    `without_text` is None if no memory was left out, or if it was not known yet.
    """

    event_id: str
    at_us: int
    prompt: str
    with_text: str
    without_text: str | None = None
    with_tokens: int = 0
    without_tokens: int = 0

    @property
    def changed(self) -> bool:
        """Whether the memory makes a difference."""
        return self.without_text is not None and self.without_text != self.with_text


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayReport:
    """The replayed prompts of a session, oldest first; `left_out` counts earlier ones beyond the limit."""

    session: str
    without: str | None
    prompts: tuple[ReplayedPrompt, ...]
    changed: int = 0
    left_out: int = 0


# How faithful a response is to the context that it was given.


class Verdict(StrEnum):
    """What a context says about one claim of a response."""

    SUPPORTED = "supported"
    CONTRADICTED = "contradicted"
    NOT_FOUND = "not_found"


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedClaim:
    """One claim of a response, and the line of the context that decides about it."""

    text: str
    verdict: Verdict
    line: str = ""
    """The line that says so; "" where none does."""
    ids: tuple[str, ...] = ()
    """The ids of memories and events in that line."""
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FaithfulnessScore:
    """The score of a response: the part of its claims that the context supports, from 0 to 1."""

    id: int
    """The number of the score among those of this user."""
    score: float | None
    """None for a response without claims."""
    claims: tuple[JudgedClaim, ...]
    supported: int
    contradicted: int
    not_found: int
    judge: str
    """What judged: "rules", or "rules + MODEL" where a model judged the claims that the rules could not."""
    at_us: int
    session: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreRecord:
    """A stored score: its figures, without a word of the response or the context."""

    id: int
    at_us: int
    score: float | None
    supported: int
    contradicted: int
    not_found: int
    judge: str
    session: str | None = None


# What would happen: a text that would be remembered, and a context that an agent would get.


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


# Feedback counts of memories.


JUDGED: Final = "judged"
"""The watermark of a tenant with any feedback; without it a search skips the feedback query."""


class FeedbackCounts(NamedTuple):
    """Feedback on a memory: useful, useless, and impressions without feedback, as sessions and days."""

    useful: int = 0
    useless: int = 0
    silent: int = 0
