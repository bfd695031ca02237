"""The verbs of `mem.jobs`. No logic lives here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, Literal

from credenda import services
from credenda.errors import Conflict, Invalid, NotFound, Unavailable
from credenda.model.job import JobInfo, JobState
from credenda.operation import CURSOR, PERSONS, Door, Operation, Param, Rest
from credenda.telemetry.spans import record_group

if TYPE_CHECKING:
    from credenda.model.query import Page
    from credenda.runtime import Parts


_Kind = Literal["extract", "embed", "think", "reread", "keep", "call"]
_CLOSED: Final[Mapping[Door, str]] = {**PERSONS, "mcp": "an operator watches jobs, not a model"}


@record_group("jobs")
class Jobs:
    """Work in the background: `mem.jobs`."""

    def __init__(self, parts: Parts) -> None:
        """Belong to an open memory."""
        self._parts = parts

    @Operation(
        "List jobs, the newest first: what is processed in the background, and what failed.",
        "memory:read",
        Rest("GET", "/v1/jobs"),
        name="jobs",
        inputs={
            "state": Param("Only jobs in this state.", JobState),
            "kind": Param("Only jobs of this kind; call is an operation in the background.", _Kind),
            "limit": "Maximum number of jobs, 1 to 50.",
            "cursor": CURSOR,
        },
        errors=(Invalid, NotFound),
        closed=_CLOSED,
    )
    def list(
        self, *, state: str | None = None, kind: str | None = None, limit: int = 20, cursor: str | None = None
    ) -> Page[JobInfo]:
        """List jobs, newest first, in pages.

        `state` is queued, processing, failed, complete, dead or cancelled; `kind` extract, embed, think, reread, keep
        or call.
        """
        return services.jobs.list_jobs(self._parts, state=state, kind=kind, limit=limit, cursor=cursor)

    def start(self, operation: str, inputs: Mapping[str, object] | None = None) -> JobInfo:
        """Have a long operation called in the background: consolidate, dream, reembed or compress.

        The job is on disk when this returns. `credenda serve` and `credenda worker --all-users` run it. `inputs` are
        those of the operation, as JSON has them. Raises `LimitExceeded` while a hundred wait already.
        """
        return services.jobs.start_call(self._parts, services.jobs.Call(operation, dict(inputs or {})))

    @Operation(
        "Show a job: its state, its progress and its result.",
        "memory:read",
        Rest("GET", "/v1/jobs/{id}", versioned=True),
        name="job",
        inputs={"id": "The id of a job."},
        errors=(NotFound,),
        closed=_CLOSED,
    )
    def get(self, id: str) -> JobInfo:
        """Return a job: its state, its progress, and the result of one that called an operation."""
        return services.jobs.get_job(self._parts, id)

    @Operation(
        "Queue a dead or cancelled job again.",
        "memory:admin",
        Rest("POST", "/v1/jobs/{id}/retry", status=202, versioned=True),
        inputs={"id": "The id of a job."},
        errors=(NotFound, Conflict, Unavailable),
        writes=True,
        idempotent=False,
        closed=_CLOSED,
    )
    def retry(self, id: str) -> JobInfo:
        """Queue a dead or cancelled job again; raises `Conflict` for any other job."""
        return services.jobs.retry_job(self._parts, id)

    @Operation(
        "Cancel a job that calls an operation; what it has committed stays.",
        "memory:admin",
        Rest("POST", "/v1/jobs/{id}/cancel", status=202, versioned=True),
        inputs={"id": "The id of a job."},
        errors=(NotFound, Conflict, Unavailable),
        writes=True,
        idempotent=False,
        closed=_CLOSED,
    )
    def cancel(self, id: str) -> JobInfo:
        """Cancel a job that calls an operation; what it has committed stays.

        A job that runs ends within a second or two. Raises `Conflict` for a job that has ended, and for one that
        processes messages: those were acknowledged.
        """
        return services.jobs.cancel_job(self._parts, id)
