"""How faithful a response is to the context that it was given."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["FaithfulnessScore", "JudgedClaim", "ScoreRecord", "Verdict"]


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
