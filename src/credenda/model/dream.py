"""Reports of the dream cycle: by step, and as a short text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from credenda.model.change import Change, ChangeRecord
from credenda.model.code import DriftReport
from credenda.model.report import ScoreMove

# Reports of a consolidation.


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationGroup:
    """Memories that were judged together, and the verdict on some of them.

    `ids` and `texts` belong to the verdict. `verdict` is `merge` (one text replaces all), `change` (one entry has the
    present and the former value), `correction`, `duplicate`, `keep` (similar, but all stay, linked) or `failed`.
    `proposed` is the text that replaces them, or that of the remaining memory; None if nothing changes.
    """

    ids: tuple[str, ...]
    texts: tuple[str, ...]
    verdict: str
    proposed: str | None = None
    gone: tuple[str, ...] = ()
    """The memories that are, or would be, replaced."""
    created: str | None = None
    """The created memory; None in a dry run."""
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationReport:
    """The result of a consolidation, or its preview (`dry_run`); nothing is lost, and `undo` reverts it.

    `groups_found` counts groups with a verdict (names of R-110), `memories_consolidated` memories that others replace
    (`deleted_ids`; they stay as merged, superseded or duplicates), `memories_created` new texts (`created`). `judge` is
    "rules" or the model. `examined` counts new memories that were compared, `linked` groups that stay linked. The next
    run retries `failed` groups; `quarantined` memories failed three times and are left out. `refused` counts proposals
    of a model that failed the checks. `changes` are the logged changes, without links, which `why` shows. `took_over`
    means that an earlier run was killed and its lock taken over at once.
    """

    ran: bool = True
    reason: str = ""
    dry_run: bool = False
    judge: str = "rules"
    groups: tuple[ConsolidationGroup, ...] = ()
    groups_found: int = 0
    memories_consolidated: int = 0
    memories_created: int = 0
    deleted_ids: tuple[str, ...] = ()
    created: tuple[str, ...] = ()
    examined: int = 0
    linked: int = 0
    failed: int = 0
    refused: int = 0
    quarantined: tuple[str, ...] = ()
    changes: tuple[ChangeRecord, ...] = ()
    took_over: bool = False


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
