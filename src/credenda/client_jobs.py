"""The verbs of `mem.jobs`. No logic lives here."""

from __future__ import annotations

from collections.abc import Mapping

from credenda.model.job import JobInfo
from credenda.model.query import Page
from credenda.runtime import Parts
from credenda.services import jobs
from credenda.telemetry.spans import record_group

__all__ = ["Jobs"]


@record_group("jobs")
class Jobs:
    """Work in the background: `mem.jobs`."""

    def __init__(self, parts: Parts) -> None:
        """Belong to an open memory."""
        self._parts = parts

    def list(
        self, *, state: str | None = None, kind: str | None = None, limit: int = 20, cursor: str | None = None
    ) -> Page[JobInfo]:
        """List jobs, newest first, in pages.

        `state` is queued, processing, failed, complete, dead or cancelled; `kind` extract, embed, think, reread, keep
        or call.
        """
        return jobs.list_jobs(self._parts, state=state, kind=kind, limit=limit, cursor=cursor)

    def start(self, operation: str, inputs: Mapping[str, object] | None = None) -> JobInfo:
        """Have a long operation called in the background: consolidate, dream, reembed or compress.

        The job is on disk when this returns. `credenda serve` and `credenda worker --all-users` run it. `inputs` are
        those of the operation, as JSON has them. Raises `LimitExceeded` while a hundred wait already.
        """
        return jobs.start_call(self._parts, jobs.Call(operation, dict(inputs or {})))

    def get(self, id: str) -> JobInfo:
        """Return a job: its state, its progress, and the result of one that called an operation."""
        return jobs.get_job(self._parts, id)

    def retry(self, id: str) -> JobInfo:
        """Queue a dead or cancelled job again; raises `Conflict` for any other job."""
        return jobs.retry_job(self._parts, id)

    def cancel(self, id: str) -> JobInfo:
        """Cancel a job that calls an operation; what it has committed stays.

        A job that runs ends within a second or two. Raises `Conflict` for a job that has ended, and for one that
        processes messages: those were acknowledged.
        """
        return jobs.cancel_job(self._parts, id)
