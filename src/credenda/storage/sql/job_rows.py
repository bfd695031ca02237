"""The columns of a job."""

from __future__ import annotations

from credenda.storage.store import Job, JobStatus

__all__ = ["is_fresh", "to_progress_columns"]


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
