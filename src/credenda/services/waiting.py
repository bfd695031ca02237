"""Messages that were filed and not read yet."""

from __future__ import annotations

from typing import Final

from credenda.storage.job_kinds import EXTRACT, THINK
from credenda.storage.store import JobFilter, JobStatus, Reader

__all__ = ["count_waiting_messages"]

_WAITING: Final = frozenset({JobStatus.QUEUED, JobStatus.PROCESSING, JobStatus.FAILED})
_READING: Final = frozenset({EXTRACT, THINK})


def count_waiting_messages(reader: Reader, jobs_max: int | None = None) -> int:
    """Count the messages of jobs that have not been read yet; at most `jobs_max` jobs are looked at."""
    waiting = reader.jobs(JobFilter(statuses=_WAITING, kinds=_READING, limit=jobs_max))
    return sum(job.last - job.first + 1 for job in waiting)
