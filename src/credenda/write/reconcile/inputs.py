"""Inputs of reconciliation: the rows that a claim may affect, and the context of its statement. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from credenda.model.contest import ContestCase
from credenda.model.memory import Memory

__all__ = ["SlotRows", "StatementContext"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotRows:
    """The memories and contests that one claim may affect, read in the transaction that applies the decision.

    `current`: active, challenged and archived memories of the claim's (entity, attribute) pair in any scope, class or
    speaker, and those with the claim's normalised text.
    `past`: superseded memories of that pair whose `valid_until` lies at most 180 days before the time of the claim; for
    a retraction, those that `previous` superseded.
    `contests`: open and resolved contests of that pair.
    `candidates`: quarantined memories of that pair or with that text.
    `previous`: for a retraction, the memories of the speaker's previous statement in this session, newest first.
    """

    current: tuple[Memory, ...] = ()
    past: tuple[Memory, ...] = ()
    contests: tuple[ContestCase, ...] = ()
    previous: tuple[Memory, ...] = ()
    candidates: tuple[Memory, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementContext:
    """The context of a statement: time, session, trust. Times are microseconds UTC; trust lies in [0, 1]."""

    occurred_us: int
    now_us: int
    trust: float
    session: str
    topic: str | None = None
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, object] = field(default_factory=dict[str, object])
    expires_us: int | None = None
