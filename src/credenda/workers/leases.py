"""Whose a job is, and whether whoever took it still lives."""

from __future__ import annotations

import os
import socket
from functools import cache
from pathlib import Path

from credenda.ids import new_tag
from credenda.parts import Parts
from credenda.storage.store import Job, JobFilter, Writer

__all__ = ["is_abandoned", "is_leased", "process_owner"]


def process_owner() -> str:
    """Name this process in leases; the nonce tells it from an earlier one with the same number."""
    return _owner(os.getpid())


@cache
def _owner(pid: int) -> str:
    return f"{socket.gethostname()}:{pid}:{new_tag()}"


def is_abandoned(job: Job, parts: Parts) -> bool:
    """Say whether the process that leased a job is gone."""
    if job.lease_until_us <= parts.clock.now_us():
        return True
    host, _, rest = job.lease_owner.partition(":")
    pid = rest.partition(":")[0]
    if host != socket.gethostname() or not pid.isdigit():
        return False
    if int(pid) == os.getpid():
        return job.lease_owner != parts.owner
    return not _is_running(int(pid))


def _is_running(pid: int) -> bool:
    """Say whether a process runs. One that was killed and whose parent has not yet asked for its end does not."""
    try:
        os.kill(pid, 0)
        state = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b") ")[2][:1]
    except ProcessLookupError:
        return False
    except OSError:  # not ours to signal, or a system without /proc
        return True
    return state != b"Z"


def is_leased(writer: Writer, job: Job) -> bool:
    """Say whether a job is still ours: its lease may have run out, and another process gone on with it."""
    return any(
        (now.status, now.lease_owner, now.attempts) == (job.status, job.lease_owner, job.attempts)
        for now in writer.jobs(JobFilter(id=job.id))
    )
