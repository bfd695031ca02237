"""What operations report back: counts and names, never memory text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from credenda.model.contest import ContestCase

__all__ = [
    "DeletionReport",
    "DoctorReport",
    "EraseReceipt",
    "ExportReport",
    "Finding",
    "ImportReport",
    "ReembedReport",
    "Resolution",
    "Stats",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something that a check found: `check` names the test, `detail` what is wrong, never memory text."""

    check: str
    detail: str
    repaired: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorReport:
    """The state of a store: `ok` when every check held."""

    ok: bool
    findings: tuple[Finding, ...]
    checks: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeletionReport:
    """How much `delete_where` took out."""

    events: int
    memories: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EraseReceipt:
    """What an erasure took out, and what was checked after it; it held where `remaining_matches` is 0."""

    rows: int
    """Rows deleted, or, in the audit log, made anonymous; 0 for a user who never wrote or was erased before."""
    windows_searched: int
    """Pieces of erased words, vectors and keys that were searched for in every byte of the file and its log."""
    remaining_matches: int
    """Of those, how many were still there."""
    tables: Mapping[str, int] = field(default_factory=dict[str, int])
    """Rows by table."""
    log_emptied: bool = True
    """Whether the write-ahead log was cut off. Where a reader of another process held it, erase again."""
    backups: tuple[str, ...] = ()
    """Backups on this machine that may hold this user still; restoring one cleans it."""
    exported: str | None = None
    """The file that everything was written to before."""


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
