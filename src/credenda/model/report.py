"""What operations report back: counts and names, never memory text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from credenda.model.contest import ContestCase

__all__ = [
    "DeletionReport",
    "Difference",
    "DoctorReport",
    "ExportReport",
    "Finding",
    "ImportReport",
    "RebuildReport",
    "ReembedReport",
    "Resolution",
    "Stats",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something that a check found: what is wrong, where, and what to do about it; never memory text.

    `check` names the test, and `where` the rows it is about, by their ids.
    """

    check: str
    detail: str
    repaired: bool = False
    where: str = ""
    fix: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorReport:
    """The state of a store: `ok` when every check held."""

    ok: bool
    findings: tuple[Finding, ...]
    checks: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One thing that a rebuild changes: the memory or contest (None: a new one), what is done, and its words.

    `fields` names what of it differs; `before` and `after` are its text as it is held and as it would be, "" for none.
    """

    id: str | None
    what: str
    fields: tuple[str, ...] = ()
    before: str = ""
    after: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RebuildReport:
    """What a rebuild compared, what differed, and whether it was put in place.

    `compared` counts memories. `unexplained` names memories and contests that the change log does not explain, which
    are left as they are; `redacted` and `unsupported` count those whose log an older version cut so far that standing,
    or evidence, could not be compared. `kept` names decisions of yours that found nothing to hold on to any more.
    """

    reextract: bool
    dry_run: bool
    compared: int
    differences: tuple[Difference, ...]
    applied: bool
    unexplained: tuple[str, ...] = ()
    redacted: int = 0
    unsupported: int = 0
    kept: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DeletionReport:
    """How much `delete_where` took out."""

    events: int
    memories: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolution:
    """A contest with its answer."""

    contest: ContestCase
    memory_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportReport:
    """What an export wrote."""

    path: str
    rows: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """What an import took in: `skipped` counts what was there already, `problems` names malformed items by place.

    Of many problems the first hundred are named; `passed_over` counts them all.
    """

    path: str
    format: str
    conversations: int = 0
    turns: int = 0
    skipped: int = 0
    passed_over: int = 0
    rows: Mapping[str, int] = field(default_factory=dict[str, int])
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReembedReport:
    """What `reembed` did: texts that got a vector now, and all vectors by model."""

    model_id: str
    embedded: int
    vectors_by_model: Mapping[str, int]
    in_use: bool
    """Whether the memory is open with this model; otherwise searches use it once it is opened with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats:
    """How much a tenant holds and what still waits."""

    events: int
    redacted_events: int
    memories: Mapping[str, int]
    """Current memories by status."""
    by_type: Mapping[str, int]
    """Active memories by type."""
    total: int
    """Active memories."""
    changes: int
    jobs: Mapping[str, int]
    pending_extractions: int
    dead_jobs: int
    open_contests: int
    vectors: int
    tombstones: int
    embedder: str | None = None
    """Id of the model that new texts are embedded with and questions are compared by; None for words alone."""
    vectors_by_model: Mapping[str, int] = field(default_factory=dict[str, int])

    @property
    def foreign_vectors(self) -> int:
        """Vectors of other models, which no question is compared with."""
        return sum(count for model_id, count in self.vectors_by_model.items() if model_id != self.embedder)
