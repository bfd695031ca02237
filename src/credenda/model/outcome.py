"""The outcome of messages: whether they were processed, the memories they support, and the questions they raise."""

from __future__ import annotations

from dataclasses import dataclass

from credenda.model.event import Event
from credenda.model.memory import Memory

__all__ = ["Contradiction", "Outcome"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Contradiction:
    """Values of one slot that exclude each other, and the question for the user.

    `id` is that of an open contest, or of the memory that contradicts earlier ones; `resolve` takes both. `values` are
    the values, the earliest first.
    """

    id: str
    entity: str
    attribute: str
    scope: str | None
    values: tuple[str, ...]
    question: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The outcome of some messages.

    `state` is queued, running, done, or failed where a job was given up. `memories` are those that rest on the
    messages, without deleted ones; `contradictions` are the undecided ones among them.
    """

    state: str
    events: tuple[Event, ...]
    memories: tuple[Memory, ...]
    contradictions: tuple[Contradiction, ...]
