"""What a language model must be: something that answers one question with one JSON document."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol, runtime_checkable

__all__ = ["LanguageModel", "ModelFailure", "Question", "Reply", "Trouble"]


class Trouble(StrEnum):
    """Why a model gave no answer."""

    BUSY = "busy"
    """It asks to be left alone for a while, or fails by itself: 429, 5xx."""
    AWAY = "away"
    """It cannot be reached, or took too long."""
    DENIED = "denied"
    """It does not take the key, does not know the model, or cannot do what is asked: a person has to mend that."""
    CUT = "cut"
    """It ran into its bound of tokens: what it wrote is not whole, whatever it looks like."""
    REFUSED = "refused"
    """It does not want to answer."""
    UNREADABLE = "unreadable"
    """It answered something else than the JSON that was asked for."""

    @property
    def is_model_fault(self) -> bool:
        """Whether any other question would fare alike, so that the model is better left alone for a while."""
        return self in {Trouble.BUSY, Trouble.AWAY, Trouble.DENIED}


class ModelFailure(Exception):  # noqa: N818 - named for what happened, as the errors of the contract are
    """A model gave no answer that can be used. `why` holds neither the question nor the key.

    `wait_seconds` is how long it asked to be left alone; tokens are those that were spent all the same.
    """

    def __init__(
        self,
        trouble: Trouble,
        why: str,
        *,
        wait_seconds: float | None = None,
        tokens_in: int = 0,
        tokens_out: int = 0,
    ) -> None:
        """Say what happened."""
        super().__init__(trouble, why)
        self.trouble = trouble
        self.why = why
        self.wait_seconds = wait_seconds
        self.tokens_in = tokens_in
        self.tokens_out = tokens_out

    def __str__(self) -> str:
        """Give the reason in one line."""
        return f"the model is {self.trouble}: {self.why}" if self.trouble.is_model_fault else f"the model: {self.why}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked. `earlier` are answers of this model that were no good, each with what was wrong with it."""

    instructions: str
    prompt: str
    schema: Mapping[str, object]
    """JSON Schema of the answer, an object; strict: every property is required, none may be added."""
    tokens_max: int
    """Bound of the answer."""
    earlier: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A whole answer: the JSON as it was written, and what it cost."""

    text: str = field(repr=False)
    tokens_in: int = 0
    tokens_out: int = 0


@runtime_checkable
class LanguageModel(Protocol):
    """Answers questions. Called from several threads, at most `at_once` of them at a time."""

    @property
    def model_id(self) -> str:
        """Provider and name, such as "anthropic:claude-haiku-4-5"; kept with whatever was read by it."""
        ...

    @property
    def at_once(self) -> int:
        """How many questions it may be asked at a time."""
        ...

    def ask(self, question: Question) -> Reply:
        """Answer once, within a bounded time; raises `ModelFailure`. It never asks again by itself."""
        ...

    def close(self) -> None:
        """Release what it holds; closing twice does nothing."""
        ...
