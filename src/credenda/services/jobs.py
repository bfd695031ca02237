"""List jobs, retry dead ones, and cancel those that call an operation."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from credenda import limits
from credenda.errors import Conflict, Invalid, NotFound
from credenda.ids import IdKind, format_id, parse_id_number
from credenda.model.job import JobInfo, JobState
from credenda.model.query import Page
from credenda.runtime import Parts
from credenda.services.cursors import read_cursor, write_cursor
from credenda.services.expectation import read_expectation
from credenda.services.search import check_limit
from credenda.storage.job_kinds import CALL, KINDS
from credenda.storage.store import Job, JobFilter, JobStatus, Reader, Writer
from credenda.validation import check_member

__all__ = ["Outcome", "cancel_job", "describe_job", "get_job", "list_jobs", "retry_job", "run_in_job"]

Outcome = dict[str, Any]
"""Progress, result and cancellation of a call, as its row stores them."""
_LIST: Final = "jobs"
_KINDS: Final = {
    JobState.CANCELLED: JobStatus.DEAD,
    **{JobState(status.value): status for status in JobStatus},
}


def list_jobs(
    parts: Parts, *, state: str | None = None, kind: str | None = None, limit: int = 20, cursor: str | None = None
) -> Page[JobInfo]:
    """Return jobs, the newest first, one page at a time; `state` and `kind` select some."""
    check_limit(limit, limits.LIST_LIMIT)
    wanted = None if state is None else check_member(JobState, state, "state")
    if kind is not None and kind not in KINDS:
        raise Invalid(f"{kind!r} is not a kind of job", fix=f"choose one of {', '.join(KINDS)}")
    below = read_cursor(_LIST, parts.user_id, cursor)
    found: list[JobInfo] = []
    with parts.store.reader(parts.user_id) as reader:
        statuses = frozenset[JobStatus]() if wanted is None else frozenset({_KINDS[wanted]})
        kinds = None if kind is None else frozenset({kind})
        while len(found) <= limit:
            page = JobFilter(statuses=statuses, kinds=kinds, newest_first=True, below=below, limit=limit + 1)
            jobs = reader.jobs(page)
            shown = [describe_job(job) for job in jobs]
            found += [job for job in shown if wanted is None or job.state is wanted]
            if len(jobs) <= limit:
                break
            below = _parse_number(jobs[-1].id, reader)
        more = (
            write_cursor(_LIST, parts.user_id, _parse_number(found[limit - 1].id, reader))
            if len(found) > limit
            else None
        )
    return Page(items=tuple(found[:limit]), next_cursor=more)


def get_job(parts: Parts, job_id: str) -> JobInfo:
    """Return a job; raises `NotFound`."""
    with parts.store.reader(parts.user_id) as reader:
        return describe_job(_find_job(reader, job_id))


def retry_job(parts: Parts, job_id: str) -> JobInfo:
    """Queue a dead or cancelled job again, with all of its attempts; raises `Conflict` for any other job."""

    def renew(job: Job) -> Job:
        state = describe_job(job).state
        if state not in {JobState.DEAD, JobState.CANCELLED}:
            raise Conflict(f"{job.id} cannot be retried", why=f"it is {state}", fix="only dead jobs are retried")
        return replace(job, status=JobStatus.QUEUED, attempts=0, run_after_us=0, error="", outcome="")

    found = _update_job(parts, job_id, renew)
    parts.jobs_ready.set()
    parts.llm_jobs_ready.set()
    return found


def cancel_job(parts: Parts, job_id: str) -> JobInfo:
    """Cancel a call of an operation: one that runs stops at its next statement, and what it has committed stays.

    Raises `Conflict` for a job that has ended, and for one that processes messages, which are acknowledged.
    """

    def cancel(job: Job) -> Job:
        info = describe_job(job)
        if job.kind != CALL:
            why = "it processes messages that were acknowledged"
            raise Conflict(f"{job.id} cannot be cancelled", why=why, fix="delete the messages instead")
        if info.state not in {JobState.QUEUED, JobState.PROCESSING, JobState.FAILED}:
            raise Conflict(f"{job.id} cannot be cancelled", why=f"it is {info.state}")
        outcome = json.dumps({**_read_outcome(job), "cancelled": True})
        if job.status is JobStatus.PROCESSING:
            return replace(job, outcome=outcome)  # the process that runs it ends it
        return replace(job, status=JobStatus.DEAD, error="", outcome=outcome)

    return _update_job(parts, job_id, cancel)


def run_in_job(parts: Parts, job: Job, work: Callable[[Writer, Job], Job | None]) -> bool:
    """Change a job that this process has leased; return False where it has the lease no longer."""

    def unit(writer: Writer) -> bool:
        for now in writer.jobs(JobFilter(id=job.id)):
            held = (now.status, now.lease_owner, now.attempts) == (job.status, job.lease_owner, job.attempts)
            changed = work(writer, now) if held else None
            if changed is not None:
                writer.put(changed)
                return True
        return False

    return parts.store.commit(parts.user_id, unit)


def describe_job(job: Job) -> JobInfo:
    """Describe a job for callers."""
    outcome = _read_outcome(job)
    state = JobState(job.status.value)
    if outcome.get("cancelled") and state is JobState.DEAD:
        state = JobState.CANCELLED
    waits = state in {JobState.QUEUED, JobState.FAILED} and job.run_after_us
    return JobInfo(
        id=job.id,
        kind=job.kind,
        state=state,
        operation=json.loads(job.payload)["operation"] if job.payload else None,
        messages=job.last - job.first + 1 if job.first else 0,
        attempts=job.attempts,
        done=int(outcome.get("done", 0)),
        total=outcome.get("total"),
        error=job.error,
        result=outcome.get("result"),
        created_us=job.created_us,
        updated_us=job.updated_us,
        next_attempt_us=job.run_after_us if waits else None,
    )


def _read_outcome(job: Job) -> Outcome:
    return json.loads(job.outcome) if job.outcome else {}


def _find_job(reader: Reader, job_id: str) -> Job:
    number = parse_id_number(job_id, IdKind.JOB, reader.tenant.tag)
    found = reader.jobs(JobFilter(id=format_id(IdKind.JOB, number, reader.tenant.tag)))
    if not found:
        raise NotFound(f"there is no job {job_id[:64]}", fix="copy an id from `jobs`")
    return found[0]


def _update_job(parts: Parts, job_id: str, change: Callable[[Job], Job]) -> JobInfo:
    expected = read_expectation()

    def work(writer: Writer) -> Job:
        job = _find_job(writer, job_id)
        expected.check(job.id, describe_job(job))
        writer.put(change(job))
        return _find_job(writer, job_id)

    return describe_job(parts.store.commit(parts.user_id, work))


def _parse_number(job_id: str, reader: Reader) -> int:
    return parse_id_number(job_id, IdKind.JOB, reader.tenant.tag)
