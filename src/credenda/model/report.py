"""Reports of operations: counts and names, never memory text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from credenda.model.change import Change, ChangeRecord, ContestCase
from credenda.model.governance import SharedMemory
from credenda.model.job import DutyRun, Finding
from credenda.model.query import EarnedImportance

# Runs of scheduled tasks, and what the checks of a memory find.


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorReport:
    """The state of a store: `ok` if every check passed."""

    oldest_unread_seconds: float = 0.0
    """For how long the oldest message of this user has waited to be read; 0 if all are read."""
    ok: bool
    findings: tuple[Finding, ...]
    checks: tuple[str, ...]
    backend: Mapping[str, str] = field(default_factory=dict[str, str])
    """The database: its name and version; of Postgres also the roles, and the state of row-level security."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeletionReport:
    """The memories that a `delete_where` concerns: the first fifty of each kind, and totals.

    Only a dry run has their texts; otherwise the report holds no deleted words.
    """

    events: int
    memories: int
    """All memories that are deleted."""
    dry_run: bool = False
    """Whether nothing was deleted."""
    kept: tuple[SharedMemory, ...] = ()
    """Memories that hold the words, or were written from them, and stay, with what remains of their texts."""
    kept_total: int = 0
    taken: tuple[SharedMemory, ...] = ()
    """The memories that are deleted."""
    mentions: tuple[SharedMemory, ...] = ()
    """Memories that name a deleted value in their text or in a reason, and stay as they are."""
    mentions_total: int = 0
    log_emptied: bool = True
    """Whether the write-ahead log was cut off. Otherwise a reader keeps the words there until it ends."""
    before_us: int | None = None
    """The moment that `before` named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpiryReport:
    """Counts of expired rows that were deleted."""

    ran: bool
    reason: str | None = None
    """The reason why nothing was done."""
    events: int = 0
    memories: int = 0
    more: bool = False
    """Whether a bound stopped it early; the next call continues."""
    dry_run: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupReport:
    """A copy of the whole file, with all its users."""

    path: str
    size_bytes: int
    users: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreReport:
    """The restored backup, and how many users were erased from it because the ledger lists them.

    `deleted` counts the memories and events that were deleted once more, as in the replaced database or in the one
    given for its deletions; `unread` is the reason why the replaced database could not be read. `replayed` is False if
    neither was available: then data deleted since the backup is present.
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
    """The result of an erasure and of its proof, which succeeded if `remaining_matches` is 0."""

    rows: int
    """Rows deleted; 0 for a user who never wrote or was erased before."""
    windows_searched: int
    """Pieces of erased words, vectors and keys that were searched for in every byte of the file and its log."""
    remaining_matches: int
    """The number of them that were still found."""
    tables: Mapping[str, int] = field(default_factory=dict[str, int])
    """Rows by table."""
    log_emptied: bool = True
    """Whether the write-ahead log was truncated. If a reader of another process prevented it, erase again."""
    backups: tuple[str, ...] = ()
    """Backups on this machine that may contain this user still; restoring a backup erases the user from it."""
    owed: Mapping[str, str] = field(default_factory=dict[str, str])
    """The databases and backups whose erasure ledger could not be written yet, with the reason; it is tried again.

    Until then, restoring such a backup erases the user only over or beside a database that has this erasure.
    """
    exported: str | None = None
    """The file with the export made before."""
    listed: bool = True
    """Whether the erasure is on record. Of a user whom this database never had none is, and a backup brings it back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolution:
    """A contest with its answer."""

    contest: ContestCase
    memory_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportReport:
    """The result of an export; `damaged` names the rows that were left out because they cannot be read."""

    path: str
    rows: Mapping[str, int]
    damaged: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """The result of an import: `skipped` counts items already present, `problems` lists malformed items by place.

    `passed_over` counts all, `left_out` omissions by kind, `ended` memories of lines that left their document.
    """

    path: str
    format: str
    conversations: int = 0
    turns: int = 0
    skipped: int = 0
    ended: int = 0
    passed_over: int = 0
    left_out: Mapping[str, int] = field(default_factory=dict[str, int])
    rows: Mapping[str, int] = field(default_factory=dict[str, int])
    problems: tuple[str, ...] = ()
    lifted_erasure: bool = False
    """Whether this user had been erased here: backups from before the erasure have the user again when restored."""
    dry_run: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ReembedReport:
    """The result of `reembed`: texts embedded in this run, and all vectors by model."""

    model_id: str
    embedded: int
    vectors_by_model: Mapping[str, int]
    in_use: bool
    """Whether the memory is open with this model; otherwise searches use it once the memory is opened with it."""
    dry_run: bool = False
    """Whether the texts were only counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionReport:
    """The result, or the estimated cost, of an extraction with a model.

    `turns` counts the examined messages; `skipped` those without content for a model, by reason; `calls` the calls made
    or planned. `tokens_in`, `tokens_out` and `cost_usd` are expected values, `cost_usd_most` the cost if every answer
    has the maximum length and needs one correction. Costs are None if the price of the model is unknown; `price_source`
    is its source. `waiting` counts the messages that still wait for a model afterwards.
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
    """The use of a model today (UTC), and how many messages wait for a model, by reason.

    `tokens` and `cost_usd` cover all models; an unknown price counts as 0. The maximum cost of a running call is
    included until the call ends. `messages` were extracted today, for `tokens_a_message` on average. `claims` counts
    those of the model's claims that were changed to a valid form or refused, by reason. `trouble` is the reason why the
    model is not called at present.
    """

    model_id: str | None
    prompt: str
    calls: int = 0
    tokens: int = 0
    tokens_max: int = 0
    cost_usd: float = 0.0
    messages: int = 0
    tokens_a_message: float = 0.0
    claims: Mapping[str, int] = field(default_factory=dict[str, int])
    waiting: Mapping[str, int] = field(default_factory=dict[str, int])
    trouble: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreMove:
    """A changed retention score, in [0, 1]; `before` is None if there was none yet."""

    memory_id: str
    before: float | None
    after: float


@dataclass(frozen=True, slots=True, kw_only=True)
class DecayReport:
    """The result of a decay run, or its preview: examined memories, and those with changed scores.

    `moves` lists them in a dry run; otherwise only their number is reported.
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
    """The memories that moved to another layer or were archived, or would be: one line each."""

    examined: int
    promoted: int
    archived: int
    dry_run: bool
    ran: bool = True
    reason: str = ""
    changes: tuple[Change, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionCurve:
    """A forgetting curve: retention at each age of `RetentionCurves.days`, in [0, 1]."""

    name: str
    half_life_days: float
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionPoint:
    """The position of a memory on its curve, and the summands of its score; never its words."""

    memory_id: str
    layer: str
    age_days: float
    score: float
    terms: Mapping[str, float]
    trust: float = 1.0
    earned: EarnedImportance | None = None


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
    """The state of a scheduled task: `last_us` and `next_us` are None if it never ran, or runs only on demand."""

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
    """The scheduled tasks and their states; `ran` are those that this call ran, `reason` is why none did."""

    duties: tuple[DutyState, ...]
    ran: tuple[DutyRun, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats:
    """Counts of a tenant's rows and pending work."""

    oldest_unread_seconds: float = 0.0
    """For how long the oldest message has waited to be read; 0 if all are read. Messages given up do not count."""
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
    """Id of the model that embeds new texts and queries; None for search by words alone."""
    vectors_by_model: Mapping[str, int] = field(default_factory=dict[str, int])
    texts_to_embed: int = 0
    """Texts with vectors of other models only: searches find them by words until `reembed`."""
    counted_by: str = "estimate"
    """The token counter of contexts and of the core: "estimate", or the name of a tokenizer."""
    waiting: int = 0
    """Messages that are not read yet."""
    model: ModelUse | None = None
    """The language model; None if none is in use, was used today, or is waited for."""
    reader_problem: str = ""
    """Why messages give no beliefs here, and what to do about it; "" if they are read."""

    @property
    def foreign_vectors(self) -> int:
        """Vectors of other models, which no query is compared with."""
        mine = (self.embedder, f"{self.embedder}/")  # token vectors are stored under the model and their own name
        counts = self.vectors_by_model.items()
        return sum(count for model_id, count in counts if model_id != mine[0] and not model_id.startswith(mine[1]))


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoneMemory:
    """A memory before and after: the changed fields, by name."""

    id: str
    before: Mapping[str, object]
    after: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoReport:
    """The result of an undo, or its preview (`ran` is False for a dry run).

    `undone` are ids of changes, newest first; `conflicts` later changes in the way, listed by a dry run only; `lasting`
    changes that cannot be undone, because their words were deleted. `changes` are the logged changes.
    """

    ran: bool
    undone: tuple[str, ...]
    memories: tuple[UndoneMemory, ...]
    conflicts: tuple[ChangeRecord, ...] = ()
    lasting: tuple[str, ...] = ()
    changes: tuple[ChangeRecord, ...] = ()


# Reports of code scans and of drift between memories and code.


DriftLevel = Literal["error", "warning", "info"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanReport:
    """The result of a scan: counts of memories, and of files.

    `files` counts the examined files; `passed_over` of them could not be read or stored (`problems` lists the first
    hundred), and `binary` contain no text. `removed` counts memories that ended because their file is gone; none ends
    if the scan was cut off (`whole` is False).
    """

    root: str
    files: int
    added: int
    changed: int
    unchanged: int
    removed: int
    binary: int
    passed_over: int
    masked: int = 0
    """Memories in which a suspected secret was masked."""
    problems: tuple[str, ...] = ()
    whole: bool = True
    ran: bool = True
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftFinding:
    """A claim of a memory that is not true: `code` as listed in docs/how-to/code.md, `what` as in the memory.

    `where` is the place that was checked: a path, a module, a manifest, or "roots" for all scanned files.
    """

    code: str
    level: DriftLevel
    memory_id: str
    what: str
    where: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftReport:
    """The agreement of memories and code: `score` from 0 to 100, and the findings.

    `checked` counts the compared claims of each kind; with `fix`, `invalidated` lists the memories that were
    invalidated.

    `ran` is False, with the `reason`, if nothing could be compared.
    """

    roots: tuple[str, ...]
    score: int
    findings: tuple[DriftFinding, ...]
    memories: int
    checked: Mapping[str, int] = field(default_factory=dict[str, int])
    invalidated: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    fix: bool = False
    ran: bool = True
    reason: str = ""


# Reports of the dream cycle: by step, and as a short text.


# Reports of a consolidation.


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationGroup:
    """Memories that were judged together, and the verdict on some of them.

    `ids` and `texts` belong to the verdict. `verdict` is `merge` (one text replaces all), `change` (one entry has the
    present and the former value), `correction`, `duplicate`, `keep` (similar, but all stay, linked), `refused` (the
    proposal of a model failed a check) or `failed`.
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


# Reports of exports, restores, migrations and compression.


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoredReport:
    """What was erased and deleted since the backup, and was erased and deleted again."""

    listed: int
    """Erased users in the ledgers, whether the backup had them or not."""
    erased: int
    """Users that were in the database, and are erased now."""
    deleted: int = 0
    """Memories and events that were deleted once more, as in the other state of the database."""
    held: int = 0
    """Users in which nothing was deleted, because they are under a legal hold."""


# The report of a migration between two databases: counts and names, never memory text.


# The state of a server, as seen from outside.


@dataclass(frozen=True, slots=True, kw_only=True)
class CompressTier:
    """The vectors of one retention tier: their number and bytes, and the fidelity of the converted vectors.

    `bits` is 32 for vectors that stay exact, and 0 for forgotten ones that stay unchanged. Fidelity is the cosine of a
    vector before and after, on average and at worst; None without conversions.
    """

    bits: int
    vectors: int
    compressed: int
    bytes_before: int
    bytes_after: int
    fidelity: float | None
    least_fidelity: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CompressReport:
    """The result of a compression, by tier; `restores` tells whether recall can restore precision."""

    examined: int
    compressed: int
    bytes_before: int
    bytes_after: int
    tiers: tuple[CompressTier, ...]
    dry_run: bool
    restores: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncReport:
    """The result of a synchronisation in both directions.

    From the files: `corrected`, `deleted`, `remembered` and `contested` count the effects of persons' edits. Into the
    files: `written` and `removed` are pages by name. `waiting` entries are missing from the files, but not certainly
    removed by a person; decide with `missing`. `pending` lists them as "PAGE: ID TEXT", in a dry run also the entries
    that a run would delete. `left_alone` are files that could not be read, with the reason; `notes` report anything
    else that needs attention.
    """

    path: str
    dry_run: bool = False
    corrected: int = 0
    deleted: int = 0
    remembered: int = 0
    contested: int = 0
    waiting: int = 0
    pending: tuple[str, ...] = ()
    written: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    left_alone: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def changed(self) -> bool:
        """Whether anything changed, on either side."""
        counts = self.corrected + self.deleted + self.remembered + self.contested
        return bool(counts or self.written or self.removed)
