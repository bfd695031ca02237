"""Work in the background as callers see it: jobs, runs of scheduled tasks, and what the checks of a memory find."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class JobState(StrEnum):
    """The state of a job."""

    QUEUED = "queued"
    PROCESSING = "processing"
    FAILED = "failed"
    """An attempt failed, and another one follows at `next_attempt_at`."""
    COMPLETE = "complete"
    DEAD = "dead"
    """It failed too often, and waits for `retry`."""
    CANCELLED = "cancelled"


ENDED = frozenset({JobState.COMPLETE, JobState.DEAD, JobState.CANCELLED})
"""States that a job leaves by `retry` alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobInfo:
    """A job: it processes messages, or calls an operation."""

    id: str
    kind: str
    """What it does: extract, embed, think, reread or keep for messages; call for an operation."""
    state: JobState
    operation: str | None = None
    """The operation that a job of the kind `call` calls."""
    messages: int = 0
    """How many messages it is for."""
    attempts: int = 0
    done: int = 0
    """How much of the work is done, in units of the operation; 0 where it does not say."""
    total: int | None = None
    error: str = ""
    """Why the last attempt failed."""
    result: Mapping[str, object] | None = None
    """What the operation gave. It goes when anything of the user is deleted, because it may quote that."""
    created_us: int = 0
    updated_us: int = 0
    next_attempt_us: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A finding of a check: the problem, its place, and the fix; never memory text.

    `check` is the name of the check, and `where` the ids of the rows.
    """

    check: str
    detail: str
    repaired: bool = False
    where: str = ""
    fix: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DutyRun:
    """The last run of a scheduled task: start, duration, and a short result; never memory text."""

    name: str
    started_us: int
    took_us: int
    result: str
    failed: bool = False
