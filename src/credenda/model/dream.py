"""Reports of the dream cycle: by step, and as a short text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from credenda.model.change import Change
from credenda.model.code import DriftReport
from credenda.model.consolidation import ConsolidationReport
from credenda.model.report import ScoreMove


@dataclass(frozen=True, slots=True, kw_only=True)
class DreamStep:
    """The result of one step, or its preview in a dry run.

    `told` describes it in sentences, with ids and never with the words of a memory; `counts` are the figures behind
    them. `changes` are exact: the applied changes, or the planned ones; those of merging and of drift are in their own
    reports, `merged` and `drift`. `moves` are the planned score changes, in a dry run only. A step that `failed` has
    the kind of its error as `reason`, and its `changes` list what it changed before that.
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
    """The result of a dream, step by step, and `brief`, a summary in a few lines.

    `ran` is False, with the `reason`, while another process was dreaming. `changed` counts the changes and moved
    scores: 0 if a run found nothing to do. `took_over` means that an earlier run on this machine was killed and its
    lock taken over at once.
    """

    ran: bool
    dry_run: bool
    steps: tuple[DreamStep, ...] = ()
    changed: int = 0
    brief: str = ""
    reason: str = ""
    took_over: bool = False
