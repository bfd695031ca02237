"""What a consolidation did, or would do."""

from __future__ import annotations

from dataclasses import dataclass

from credenda.model.change import ChangeRecord

__all__ = ["ConsolidationGroup", "ConsolidationReport"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationGroup:
    """Memories that were judged together, and the verdict on some of them.

    `ids` and `texts` are those that the verdict is about. `verdict` is `merge` (one text says it all), `change` (one
    entry says what holds and what held), `correction`, `duplicate`, `keep` (they lie close, and all stay, linked) or
    `failed`. `proposed` is the text that takes their place, or that of the one that stays; None where nothing moves.
    """

    ids: tuple[str, ...]
    texts: tuple[str, ...]
    verdict: str
    proposed: str | None = None
    gone: tuple[str, ...] = ()
    """The memories that are, or would be, held no longer by themselves."""
    created: str | None = None
    """The memory that was made; None in a dry run."""
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationReport:
    """What a run of consolidation did, or would do (`dry_run`); nothing is lost by it, and `undo` takes it back.

    The names of R-110 mean: `groups_found` groups with a verdict, `memories_consolidated` memories that others speak
    for from now on (`deleted_ids`; they are kept as merged, superseded or duplicates), `memories_created` new texts
    (`created`). `judge` is "rules" or the model. `examined` new memories were looked at, `linked` groups stay linked.
    `failed` groups are tried again by the next run; `quarantined` memories failed three times and are left out.
    `refused` counts proposals of a model that the checks did not let through. `changes` are those that were logged, but
    for links, which `why` shows. `took_over` says that a run before was killed: its lock was taken over at once.
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
