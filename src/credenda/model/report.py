"""What operations report back: counts and names, never memory text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from credenda.model.change import Change, ChangeRecord
from credenda.model.contest import ContestCase
from credenda.model.doctor_finding import DutyRun, Finding
from credenda.model.rebuild_report import RebuildDifference, RebuildReport

__all__ = [
    "BackupReport",
    "DecayReport",
    "DeletionPlan",
    "DeletionReport",
    "DoctorReport",
    "DutyRun",
    "DutyState",
    "EraseReceipt",
    "ExpiryReport",
    "ExportReport",
    "ExtractionReport",
    "Finding",
    "ImportReport",
    "LifecycleReport",
    "ModelUse",
    "RebuildDifference",
    "RebuildReport",
    "ReembedReport",
    "Resolution",
    "RestoreReport",
    "RetentionCurve",
    "RetentionCurves",
    "RetentionPoint",
    "ScheduleReport",
    "ScoreMove",
    "Stats",
    "UndoReport",
    "UndoneMemory",
]


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
    dry_run: bool = False
    """Whether it was only counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpiryReport:
    """What went because its time was over."""

    ran: bool
    reason: str | None = None
    """Why nothing was done."""
    events: int = 0
    memories: int = 0
    more: bool = False
    """Whether a bound ended it before all was done; the next call goes on."""
    dry_run: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupReport:
    """A copy of the whole file, of all its users."""

    path: str
    size_bytes: int
    users: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreReport:
    """What was put in place from a backup, and how many users were erased from it because the ledger names them.

    `deleted` counts the memories and events that were deleted again, as in the database that it replaced or in that
    named for its deletions; `unread` says why the one that it replaced could not tell what was deleted in it.
    `replayed` is False where neither was asked: then what was deleted since is there again.
    """

    path: str
    backup: str
    users: int
    erased: int
    deleted: int = 0
    unread: str = ""
    replayed: bool = True


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
class ExtractionReport:
    """What reading with a model did, or would cost.

    `turns` were looked at; `skipped` of them hold nothing for a model, by reason; `calls` were or would be made.
    `tokens_in`, `tokens_out` and `cost_usd` are what is expected, `cost_usd_most` what it comes to when every answer is
    as long as may be and has to be put right once. Costs are None where the price of the model is not known;
    `price_source` says whose price it is. `waiting` turns still wait for a model afterwards.
    """

    model_id: str
    prompt: str
    dry_run: bool
    turns: int = 0
    skipped: Mapping[str, int] = field(default_factory=dict[str, int])
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost_usd: float | None = None
    cost_usd_most: float | None = None
    price_source: str = ""
    waiting: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelUse:
    """How a model is used today (UTC), and how many turns wait for one, by reason.

    `tokens` and `cost_usd` are over all models; a price that is not known counts as 0. What a call under way may cost
    at most is among the tokens until it ends. `trouble` is why the model is left alone just now.
    """

    model_id: str | None
    prompt: str
    calls: int = 0
    tokens: int = 0
    tokens_max: int = 0
    cost_usd: float = 0.0
    waiting: Mapping[str, int] = field(default_factory=dict[str, int])
    trouble: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreMove:
    """A retention score that moved, in [0, 1]; `before` is None where there was none yet."""

    memory_id: str
    before: float | None
    after: float


@dataclass(frozen=True, slots=True, kw_only=True)
class DecayReport:
    """What a run of decay did, or would do: memories looked at, and those whose score moved.

    `moves` names them in a dry run; otherwise only their number is kept.
    """

    examined: int
    updated: int
    profile: str
    dry_run: bool
    ran: bool = True
    reason: str = ""
    moves: tuple[ScoreMove, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LifecycleReport:
    """What moved to another layer or was put away, or would: one line a memory."""

    examined: int
    promoted: int
    archived: int
    dry_run: bool
    ran: bool = True
    reason: str = ""
    changes: tuple[Change, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionCurve:
    """One forgetting curve: what is retained at each age of `RetentionCurves.days`, in [0, 1]."""

    name: str
    half_life_days: float
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionPoint:
    """Where a memory stands on its curve, and the summands of its score; never its words."""

    memory_id: str
    layer: str
    age_days: float
    score: float
    terms: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionCurves:
    """The forgetting curves over ages in days, and the memories on them."""

    days: tuple[float, ...]
    curves: tuple[RetentionCurve, ...]
    points: tuple[RetentionPoint, ...]
    profile: str
    mode: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DutyState:
    """How a duty stands: `last_us` and `next_us` are None where it never ran, or runs on demand alone."""

    name: str
    meaning: str
    every_seconds: int
    last_us: int | None
    took_ms: float | None
    result: str
    failed: bool
    next_us: int | None
    overdue: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleReport:
    """The duties and how they stand; `ran` are those that this call ran, `reason` says why none did."""

    duties: tuple[DutyState, ...]
    ran: tuple[DutyRun, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeletionPlan:
    """What deleting one memory or event would remove: memories, and words in events. Nothing was deleted."""

    id: str
    text: str
    events: int
    memories: int
    dry_run: bool = True


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
    counted_by: str = "estimate"
    """What counts the tokens of a context and of the core: "estimate", or the name of a tokenizer."""
    waiting: int = 0
    """Messages that were filed and not read yet."""
    model: ModelUse | None = None
    """The language model; None where none is in use, was used today, or is waited for."""

    @property
    def foreign_vectors(self) -> int:
        """Vectors of other models, which no question is compared with."""
        return sum(count for model_id, count in self.vectors_by_model.items() if model_id != self.embedder)


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoneMemory:
    """How a memory stands before and after: the fields that move, by name."""

    id: str
    before: Mapping[str, object]
    after: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoReport:
    """What was taken back, or would be (`ran` is False for a dry run).

    `undone` are ids of changes, newest first; `conflicts` later changes in the way, which only a dry run names;
    `lasting` changes that cannot be taken back, because their words were deleted. `changes` are those that were logged.
    """

    ran: bool
    undone: tuple[str, ...]
    memories: tuple[UndoneMemory, ...]
    conflicts: tuple[ChangeRecord, ...] = ()
    lasting: tuple[str, ...] = ()
    changes: tuple[ChangeRecord, ...] = ()
