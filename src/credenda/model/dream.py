"""What a dream reports: step by step, and as a few lines for the morning."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from credenda.model.change import Change
from credenda.model.code import DriftReport
from credenda.model.consolidation import ConsolidationReport
from credenda.model.report import ScoreMove

__all__ = ["DreamReport", "DreamStep"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DreamStep:
    """What one step did, or in a dry run would do.

    `told` says it in sentences, with ids and never with the words of a memory; `counts` are the figures behind them.
    `changes` are exact: what was applied, or would be; those of merging and of drift stand in their own reports,
    `merged` and `drift`. `moves` are the scores that would move, which only a dry run
    names. A step that `failed` names the kind of its error as `reason`, and changed what its `changes` say, if
    anything.
    """

    name: str
    ran: bool = True
    reason: str = ""
    failed: bool = False
    told: tuple[str, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict[str, int])
    changes: tuple[Change, ...] = ()
    moves: tuple[ScoreMove, ...] = ()
    drift: DriftReport | None = None
    merged: ConsolidationReport | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DreamReport:
    """What a dream did, step by step, and `brief`, the same as a few lines for the morning.

    `ran` is False, with the `reason`, where another process was dreaming. `changed` counts the changes and moved
    scores: 0 says that a run found nothing to do. `took_over` says that a run before was killed, on this machine: its
    lock was taken over at once.
    """

    ran: bool
    dry_run: bool
    steps: tuple[DreamStep, ...] = ()
    changed: int = 0
    brief: str = ""
    reason: str = ""
    took_over: bool = False
