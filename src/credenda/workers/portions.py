"""The next messages of a job, which are a portion of it where it has many. Not pure: jobs are rows of the store.

A call may store a thousand messages by one job. Neither another user nor a caller waits for its end.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from credenda.storage.records import mark_complete
from credenda.storage.store import Job, JobStatus

__all__ = ["MESSAGES", "choose_batch", "end_portion", "take_portion"]

MESSAGES: Final = 16
"""Messages that are read for a user before another one has a turn."""


def _count_done(job: Job) -> int:
    return int(json.loads(job.outcome).get("done", 0)) if job.outcome else 0


def choose_batch(jobs: Iterable[Job]) -> list[Job]:
    """Return the first jobs, up to that in which the messages of a batch are reached."""
    chosen: list[Job] = []
    messages = 0
    for job in jobs:
        if messages >= MESSAGES:
            break
        chosen.append(job)
        messages += job.last - job.first + 1 - _count_done(job)
    return chosen


def take_portion(job: Job) -> Job:
    """Return a job narrowed to its next messages, and to all that are left where those are few."""
    first = job.first + _count_done(job)
    return replace(job, first=first, last=min(job.last, first + MESSAGES - 1))


def end_portion(job: Job, portion: Job) -> Job:
    """Return a job after a portion: complete, or queued again with its progress."""
    if portion.last >= job.last:
        return replace(mark_complete(job), outcome="")
    progress = {"done": portion.last - job.first + 1, "total": job.last - job.first + 1}
    return replace(
        job,
        status=JobStatus.QUEUED,
        attempts=job.attempts - 1,
        lease_owner="",
        lease_until_us=0,
        outcome=json.dumps(progress),
    )
