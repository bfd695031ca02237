"""Whose a job is."""

from __future__ import annotations

from credenda.storage.store import Job, JobFilter, Writer

__all__ = ["is_leased"]


def is_leased(writer: Writer, job: Job) -> bool:
    """Say whether a job is still ours: its lease may have run out, and another process gone on with it."""
    return any(
        (now.status, now.lease_owner, now.attempts) == (job.status, job.lease_owner, job.attempts)
        for now in writer.jobs(JobFilter(id=job.id))
    )
