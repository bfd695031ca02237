"""The processes that work on a memory, as their leases on jobs and scheduled tasks tell."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from credenda.runtime import Parts
from credenda.storage.store import Job, JobFilter, JobStatus, SchedulerLease

__all__ = ["WorkerInfo", "list_workers"]

_JOBS: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerInfo:
    """A process that holds leases: its host and number, the jobs that it works on, and the tasks that it leads.

    `leads` has "" for the schedule of this memory, else the name of a task. A process with nothing to do holds no
    lease, and is not known.
    """

    host: str
    process: str
    is_here: bool
    """Whether it is this process."""
    jobs: tuple[str, ...]
    leads: tuple[str, ...]
    until_us: int
    """When the last of its leases ends, unless it is renewed."""


@dataclass(slots=True)
class _Leases:
    jobs: list[str] = field(default_factory=list[str])
    leads: list[str] = field(default_factory=list[str])
    until_us: int = 0


def list_workers(parts: Parts) -> list[WorkerInfo]:
    """Return the processes that hold a lease on a job or task of this memory."""
    now_us = parts.clock.now_us()
    with parts.store.reader(parts.user_id) as reader:
        running = JobFilter(statuses=frozenset({JobStatus.PROCESSING}), newest_first=True, limit=_JOBS)
        jobs, leases = reader.jobs(running), reader.duties.leases(now_us)
    return _group_by_process(jobs, leases, here=_cut_owner(parts.owner), now_us=now_us)


def _group_by_process(
    jobs: Sequence[Job], leases: Sequence[SchedulerLease], *, here: tuple[str, str], now_us: int
) -> list[WorkerInfo]:
    held: defaultdict[tuple[str, str], _Leases] = defaultdict(_Leases)
    for job in jobs:
        if job.lease_owner and job.lease_until_us > now_us:
            one = held[_cut_owner(job.lease_owner)]
            one.jobs.append(job.id)
            one.until_us = max(one.until_us, job.lease_until_us)
    for lease in leases:
        one = held[_cut_owner(lease.owner)]
        one.leads.append(lease.name)
        one.until_us = max(one.until_us, lease.until_us)
    return [
        WorkerInfo(
            host=host,
            process=process,
            is_here=(host, process) == here,
            jobs=tuple(one.jobs),
            leads=tuple(one.leads),
            until_us=one.until_us,
        )
        for (host, process), one in sorted(held.items())
    ]


def _cut_owner(owner: str) -> tuple[str, str]:
    """Return the host and the number of a process from its name in leases, `HOST:NUMBER:…`."""
    host, _, rest = owner.partition(":")
    return host, rest.partition(":")[0]
