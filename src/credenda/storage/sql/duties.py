"""Rows of scheduled tasks: use of memories, derived values, and task runs."""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict
from typing import Final, NamedTuple, TypeVar, assert_never

from credenda.clock import LONGEST_WAIT_US
from credenda.errors import Conflict, LimitExceeded, make_damage_error
from credenda.ids import IdKind, format_id, parse_id_number, parse_id_numbers
from credenda.model.core import RecallCounts
from credenda.model.evaluation import JUDGED, FeedbackCounts, ScoreRecord
from credenda.model.governance import LegalHold, PoliciesAndHolds, RetentionPolicy
from credenda.model.job import DutyRun
from credenda.storage.rows import list_cells, read_fields
from credenda.storage.sql.statements import Record, StatementRunner
from credenda.storage.store import (
    Access,
    IndexPosition,
    Job,
    JobStatus,
    Prune,
    Retention,
    SchedulerLease,
    Spend,
    Surprise,
    VectorRemoval,
    Watermark,
)

# How the stores of a server's rows reach their tables: in a view, or in a transaction of their own.


T = TypeVar("T")


class ServerTables(ABC):
    """The part of a store that runs statements on the tables of a server. They name their user themselves."""

    @abstractmethod
    def _view_tables(self, user: str = "") -> AbstractContextManager[StatementRunner]:
        """Open a consistent view; `user` is the one whose rows are read where the table belongs to tenants."""

    @abstractmethod
    def _change_tables(self, work: Callable[[StatementRunner], T], user: str = "", *, alone: str = "") -> T:
        """Run a change in a transaction and return its result once it is durable; it may be run again.

        With `alone`, no other change of the same user and that name runs meanwhile, in any process.
        """


Derived = Retention | Surprise | Watermark | DutyRun | SchedulerLease | Prune | VectorRemoval
"""Derived values, and the progress of the tasks that compute them."""


_LINEAGE_CELLS: Final = 9
"""The last columns of the statements `view` and `lineage`: the generation, the last event, and the last change."""


class ViewStart(NamedTuple):
    """The row that a view of a tenant begins with, its heads, and the times before and after it was read."""

    row: Record | None = None
    heads: IndexPosition | None = None
    judged: bool | None = None
    taken: tuple[float, float] = (0.0, 0.0)

    @classmethod
    def of(cls, row: Record | None, taken: tuple[float, float]) -> ViewStart:
        """Take the row, or None for a tenant that never wrote."""
        return cls(taken=taken) if row is None else cls(row, to_index_position(row), bool(row["judged"]), taken)


def to_index_position(row: Record) -> IndexPosition:
    """Build the index position at the end of the logs from a row."""
    event, change, vector = row["event"], row["change"], row["vector"]
    if not isinstance(event, int) or not isinstance(change, int) or not isinstance(vector, int):
        raise make_damage_error("events, changes or embeddings", "the last row")
    return IndexPosition(event, change, vector)


def write_derived(run: StatementRunner, tag: str, row: Derived) -> None:
    """Insert a derived value of the tenant with this tag."""
    match row:
        case Retention():
            numbers = parse_id_numbers(list(row.scores), IdKind.MEMORY, tag)
            run("put_retention", scores=json.dumps(dict(zip(numbers, row.scores.values(), strict=True))))
        case Surprise():
            number = parse_id_number(row.memory_id, IdKind.MEMORY, tag)
            run("put_surprise", id=number, score=row.score, importance=row.importance)
        case Watermark(value=None):
            run("drop_watermark", name=row.name)
        case Watermark():
            run("put_watermark", name=row.name, value=row.value, at_us=row.at_us)
        case DutyRun():
            run("put_duty", **list_cells(row))
        case SchedulerLease():
            if not run("lead", **asdict(row), far_us=row.now_us + LONGEST_WAIT_US).rowcount:
                what = f"{row.name} is being run already" if row.name else "another process runs the scheduled tasks"
                holder = str(run("led_by", name=row.name).fetchone()[0] or "")
                why, fix = "only one may run at a time", "try again later"
                raise Conflict(what, why=why, fix=fix, owner=holder)
        case Prune():
            run("prune_accesses", before_us=row.showings_before_us, limit=row.limit)
            run("prune_jobs", before_us=row.jobs_before_us, limit=row.limit)
        case VectorRemoval():
            run("keep_vector_head", at_us=row.at_us)
            run("drop_vectors_of_model", model_id=row.model_id, limit=row.limit)
        case _:
            assert_never(row)


class UsageView:
    """The use of one tenant's memories, in a consistent view."""

    def __init__(self, run: StatementRunner, tag: str, *, judged: bool | None = None) -> None:
        """Bind to a runner and a tenant's tag; pass `judged` if it is known already."""
        self._run = run
        self._tag = tag
        self._judged = judged

    @property
    def judged(self) -> bool:
        """Whether any memory has feedback."""
        if self._judged is None:
            return self._run("watermark", name=JUDGED).fetchone() is not None
        return self._judged

    def accesses(self, memory_ids: Sequence[str]) -> list[Access]:
        """Return the recorded use of these memories, by memory and then oldest first."""
        found = self._run("accesses_of", ids=self._numbers(memory_ids))
        return [read_fields(Access, row, memory_id=self._public(row)) for row in found]

    def recalled(self, first_day: int, until_day: int, limit: int) -> list[RecallCounts]:
        """Return the memories recalled on days [first, last): most days first, then most sessions.

        Days are counted since 1970-01-01 UTC. Memories with more useless than useful feedback come last.
        """
        return [
            RecallCounts(self._public(row), row["days"], row["sessions"], row["useful"], row["last_at"])
            for row in self._run("recalled", first_day=first_day, until_day=until_day, limit=limit)
        ]

    def regards(self, memory_ids: Sequence[str]) -> dict[str, FeedbackCounts]:
        """Return the feedback counts of those of these memories that have any."""
        return {
            self._public(row): FeedbackCounts(row["liked"], row["disliked"], row["silent"])
            for row in self._run("regards_of", ids=self._numbers(memory_ids))
        }

    def occasions(self) -> frozenset[tuple[str, int]]:
        """Return the sessions and days with useful feedback."""
        return frozenset((row["session_id"], row["day"]) for row in self._run("occasions"))

    def active_days(self) -> list[int]:
        """Return the days (since 1970-01-01 UTC) with events, oldest first."""
        return [row["day"] for row in self._run("active_days")]

    def _numbers(self, ids: Sequence[str]) -> str:
        return json.dumps(parse_id_numbers(ids, IdKind.MEMORY, self._tag))

    def _public(self, row: Record) -> str:
        return format_id(IdKind.MEMORY, row["memory"], self._tag)


_NO_START: Final = ViewStart()


class TaskProgress:
    """The progress of one tenant's scheduled tasks and the logs that they follow, in a consistent view."""

    def __init__(self, run: StatementRunner, start: ViewStart = _NO_START) -> None:
        """Bind to a runner; pass the `start` of a view if it was read already."""
        self._run = run
        self._start = start

    @property
    def taken(self) -> tuple[float, float]:
        """The times before and after the view was taken, in seconds of the monotonic clock of this process."""
        return self._start.taken

    @property
    def heads(self) -> IndexPosition:
        """The ends of the journal, the change log and the vectors."""
        return self._start.heads or to_index_position(self._run("heads").fetchone())

    def lineage(self, heads: IndexPosition) -> bytes:
        """Return a checksum of the tenant's history up to a position, which no redaction alters.

        It differs for another history with the same numbers, for a view that ends before the position, and after
        whatever puts other rows in the place of present ones: a restore, an import, a rebuild.
        """
        row, own = self._start[:2]
        if row is None or own is None or (own.event, own.change) != (heads.event, heads.change):
            row = self._run("lineage", event=heads.event, change=heads.change).fetchone()
        cells = None if row is None else tuple(row)[-_LINEAGE_CELLS:]
        return hashlib.blake2b(repr(cells).encode(), digest_size=16).digest()

    def count_waiting(self, kinds: Collection[str]) -> tuple[int, int | None]:
        """Count the messages of unfinished jobs of these kinds, and return when the oldest such job was filed."""
        row = self._run("count_waiting", kinds=json.dumps(sorted(kinds))).fetchone()
        return row["messages"], row["oldest_at"]

    def runs(self) -> list[DutyRun]:
        """Return the last run of each task, by name."""
        return [read_fields(DutyRun, row, failed=bool(row["failed"])) for row in self._run("duties")]

    def leases(self, now_us: int) -> list[SchedulerLease]:
        """Return the lease of the leader (its name is "") and the locks of tasks that are held at a time, by name."""
        return [
            SchedulerLease(name=row["name"], owner=row["lease_owner"], now_us=now_us, until_us=row["lease_until"])
            for row in self._run("leases", now_us=now_us)
        ]

    def watermark(self, name: str) -> int | None:
        """Return the watermark of a task; None without one."""
        row = self._run("watermark", name=name).fetchone()
        return None if row is None else int(row["value"])

    def prunable(self, showings_before_us: int, jobs_before_us: int) -> dict[str, int]:
        """Count the rows of each log ("showings", "jobs") that `Prune` would delete."""
        times = {"showings_before_us": showings_before_us, "jobs_before_us": jobs_before_us}
        return dict(self._run("count_prunable", **times).fetchone())


# Retention policies and legal holds of a tenant.


def read_retention_rules(run: StatementRunner) -> PoliciesAndHolds:
    """Read a tenant's retention policies and legal holds."""
    policies, holds = run("retention_policies"), run("legal_holds")
    return PoliciesAndHolds(
        policies=tuple(RetentionPolicy(topic=row[0] or None, days=row[1], set_us=row[2]) for row in policies),
        holds=tuple(LegalHold(reason=row[0], set_us=row[1], lifted_us=row[2], lifted_reason=row[3]) for row in holds),
    )


# Storage of model costs.


def add_spend(run: StatementRunner, spend: Spend) -> str:
    """Add to the cost of a day; raises `LimitExceeded` above its bound."""
    tokens = spend.tokens_in + spend.tokens_out
    if (
        spend.tokens_max is not None
        and int(run("spent_on_day", day=spend.day).fetchone()[0] or 0) + tokens > spend.tokens_max
    ):
        raise LimitExceeded(
            "the day's budget for models is spent",
            why=f"at most {spend.tokens_max} tokens a day are allowed",
            fix="raise llm_daily_tokens, or wait for the next day (UTC)",
        )
    run("add_spend", **list_cells(spend))
    return ""


# Scores of responses, and costs of models.


class ReportStore(ServerTables):
    """The scores and costs of a database. Erasing a tenant deletes its rows in the same transaction."""

    def add_score(self, user_id: str, score: ScoreRecord) -> int:
        """Store a score under the next number of its tenant, and return that; `id` of the score is ignored."""

        def work(run: StatementRunner) -> int:
            number = int(run("next_score", user_id=user_id).fetchone()[0])
            run("insert_score", **list_cells(score, user_id=user_id, id=number))
            return number

        return self._change_tables(work, user_id, alone="scores")

    def list_scores(
        self, user_id: str, *, below: int | None = None, session: str | None = None, limit: int
    ) -> list[ScoreRecord]:
        """Return at most `limit` scores of a tenant with numbers below one, the newest first."""
        with self._view_tables(user_id) as run:
            found = run("list_scores", user_id=user_id, below=below, session=session, limit=limit)
            return [read_fields(ScoreRecord, row) for row in found]

    def list_spends(self, user_id: str, first_day: int, last_day: int) -> list[Spend]:
        """Return what models cost a tenant on these days (since 1970-01-01 UTC), oldest first, both included."""
        with self._view_tables(user_id) as run:
            found = run("spends_of_days", user_id=user_id, first_day=first_day, last_day=last_day)
            return [Spend(**row) for row in found]


# The columns of a job.


def to_progress_columns(job: Job) -> dict[str, object]:
    """Return the columns of a job that its run changes."""
    return {
        "status": job.status.value,
        "attempts": job.attempts,
        "run_after_us": job.run_after_us,
        "lease_owner": job.lease_owner or None,
        "lease_until_us": job.lease_until_us or None,
        "error": job.error or None,
        "outcome": job.outcome or None,
    }


def is_fresh(job: Job) -> bool:
    """Return whether a job is new, may start at once and has no idempotency key."""
    begun = job.attempts or job.run_after_us or job.lease_owner or job.lease_until_us or job.error
    named = job.idempotency_key is not None or job.payload_hash or job.payload
    return job.status is JobStatus.QUEUED and not begun and not named
