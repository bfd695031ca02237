"""Messages that were filed and not read yet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from credenda.clock import SECOND_US
from credenda.runtime import Parts
from credenda.storage.job_kinds import EXTRACT, THINK
from credenda.storage.store import JobFilter, JobStatus, Reader

_WAITING: Final = frozenset({JobStatus.QUEUED, JobStatus.PROCESSING, JobStatus.FAILED})
_READING: Final = frozenset({EXTRACT, THINK})


@dataclass(frozen=True, slots=True)
class Unread:
    """How many messages of a tenant wait to be read, and for how many seconds the oldest one has; 0 without any."""

    messages: int
    oldest_seconds: float


def measure_unread(reader: Reader, now_us: int) -> Unread:
    """Measure the messages of a tenant that are not read yet, whatever keeps them waiting, except abandoned ones."""
    messages, oldest_us = reader.duties.count_waiting(_READING)
    return Unread(messages, _to_age(now_us if oldest_us is None else oldest_us, now_us))


def count_waiting_messages(reader: Reader, jobs_max: int | None = None) -> int:
    """Count the messages of jobs that have not been read yet; at most `jobs_max` jobs are looked at."""
    waiting = reader.jobs(JobFilter(statuses=_WAITING, kinds=_READING, limit=jobs_max))
    return sum(job.last - job.first + 1 for job in waiting)


def measure_oldest_unread(parts: Parts) -> float:
    """Return for how many seconds the oldest unread message of any tenant has waited; 0 without one."""
    oldest_us = parts.store.find_oldest_waiting(_READING)
    now_us = parts.clock.now_us()
    return _to_age(now_us if oldest_us is None else oldest_us, now_us)


def _to_age(since_us: int, now_us: int) -> float:
    return max(0, now_us - since_us) / SECOND_US
