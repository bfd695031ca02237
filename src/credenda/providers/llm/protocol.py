"""The protocol of a language model, which answers one question with one JSON document."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol, runtime_checkable


class Trouble(StrEnum):
    """The reason why a model gave no answer."""

    BUSY = "busy"
    """It asks for a pause, or fails by itself: 429, 5xx."""
    AWAY = "away"
    """It cannot be reached, or took too long."""
    DENIED = "denied"
    """It rejects the key, the model name or the request: a person has to correct that."""
    CUT = "cut"
    """It reached its token limit: its output is incomplete, whatever it looks like."""
    REFUSED = "refused"
    """It refused to answer."""
    UNREADABLE = "unreadable"
    """Its answer is not the requested JSON."""

    @property
    def is_model_fault(self) -> bool:
        """Whether any other question would fail too, so that the model should not be called for a while."""
        return self in {Trouble.BUSY, Trouble.AWAY, Trouble.DENIED}


class ModelFailure(Exception):  # noqa: N818 - named for what happened, as the errors of the contract are
    """A model gave no usable answer. `why` contains neither the question nor the key.

    `wait_seconds` is the pause that it asked for; the tokens were spent all the same.
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
        super().__init__(trouble, why)
        self.trouble = trouble
        self.why = why
        self.wait_seconds = wait_seconds
        self.tokens_in = tokens_in
        self.tokens_out = tokens_out

    def __str__(self) -> str:
        return f"the model is {self.trouble}: {self.why}" if self.trouble.is_model_fault else f"the model: {self.why}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question to a model. `earlier` are unusable answers of this model, each with its fault."""

    instructions: str
    prompt: str
    schema: Mapping[str, object]
    """JSON Schema of the answer, an object; strict: every property is required, none may be added."""
    tokens_max: int
    """Bound of the answer."""
    earlier: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A complete answer: the JSON as written, and its cost."""

    text: str = field(repr=False)
    tokens_in: int = 0
    tokens_out: int = 0


@runtime_checkable
class LanguageModel(Protocol):
    """Answers questions. Called from several threads, at most `at_once` of them at a time."""

    @property
    def model_id(self) -> str:
        """Provider and name, such as "anthropic:claude-haiku-4-5"; stored with every claim that it extracted."""
        ...

    @property
    def at_once(self) -> int:
        """How many questions it may answer at a time."""
        ...

    def ask(self, question: Question) -> Reply:
        """Answer once, within a bounded time; raises `ModelFailure`. It never retries by itself."""
        ...

    def close(self) -> None:
        """Release its resources; closing twice does nothing."""
        ...
