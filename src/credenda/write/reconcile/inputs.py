"""What reconciliation is handed: the beliefs that a claim may touch, and the occasion on which it was said. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from credenda.model.contest import ContestCase
from credenda.model.memory import Memory

__all__ = ["Known", "Occasion"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """The memories and contests that one claim may touch, read in the transaction that applies the answer.

    `current`: active, challenged and archived memories of the claim's (entity, attribute) pair, whatever their scope,
    class or speaker, and those whose normalised text equals the claim's.
    `past`: superseded memories of that pair whose `valid_until` lies at most 180 days before the time that the claim is
    about; for a retraction, those that `previous` superseded.
    `contests`: open and resolved ones of that pair.
    `candidates`: memories of that pair, or with those words, that are kept apart until somebody vouches for them.
    `previous`: for a retraction, what the speaker's previous statement in this session gave, newest first.
    """

    current: tuple[Memory, ...] = ()
    past: tuple[Memory, ...] = ()
    contests: tuple[ContestCase, ...] = ()
    previous: tuple[Memory, ...] = ()
    candidates: tuple[Memory, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Occasion:
    """When, where and by how trusted a source it was said. Times are microseconds UTC; trust lies in [0, 1]."""

    occurred_us: int
    now_us: int
    trust: float
    session: str
    topic: str | None = None
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, object] = field(default_factory=dict[str, object])
    expires_us: int | None = None
