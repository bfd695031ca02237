"""Reports of a consolidation."""

from __future__ import annotations

from dataclasses import dataclass

from credenda.model.change import ChangeRecord


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
