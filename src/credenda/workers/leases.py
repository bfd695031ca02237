"""Leases of jobs and named locks, their owners, and whether an owner's process is still alive.

An owner is `HOST:PID:MACHINE.BOOT.SPACE.START.NONCE`: a process number is valid only within one namespace since one
boot of the machine, and is reused later. An owner of unknown state counts as alive. On the same machine a killed
process is detected and its leases are taken over at once; on another machine a lease must end first.
"""

from __future__ import annotations

import hashlib
import logging
import os
import socket
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from credenda import limits
from credenda.clock import SECOND_US, has_ended
from credenda.errors import Conflict
from credenda.ids import draw_tag
from credenda.runtime import Parts
from credenda.storage.plan import commit_planned
from credenda.storage.store import Job, JobFilter, SchedulerLease, Writer

_log = logging.getLogger(__name__)
_START_FIELD: Final = 19
"""The index of the start time in /proc/PID/stat, counted after the process name; see proc(5)."""


class _PidScope(NamedTuple):
    """The scope in which a process number is valid; "" is unknown."""

    machine: str
    boot: str
    space: str


def name_process() -> str:
    """Name this process in leases; the nonce distinguishes it from an earlier process with the same number."""
    return _name_owner(os.getpid())


@cache
def _name_owner(pid: int) -> str:
    return f"{socket.gethostname()}:{pid}:{'.'.join((*_locate_process(), _read_process_state(pid)[1], draw_tag()))}"


@cache
def _locate_process() -> _PidScope:
    """Return the scope of the process numbers of this process, from Linux; unknown on other systems."""
    boot = space = machine = ""
    with suppress(OSError):
        machine = _shorten_hash(Path("/etc/machine-id").read_text("utf-8"))
    with suppress(OSError):
        boot = _shorten_hash(Path("/proc/sys/kernel/random/boot_id").read_text("utf-8"))
        space = _shorten_hash(str(Path("/proc/self/ns/pid").readlink()))
    return _PidScope(machine, boot, space)


def _shorten_hash(text: str) -> str:
    return hashlib.blake2b(text.strip().encode(), digest_size=4).hexdigest() if text.strip() else ""


def is_abandoned(job: Job, parts: Parts) -> bool:
    """Return whether the process that leased a job is gone."""
    if has_ended(job.lease_until_us, parts.clock.now_us()):
        return True
    return is_gone(job.lease_owner, parts.owner)


def is_gone(owner: str, mine: str) -> bool:
    """Return whether the process of an owner is known to be gone; `mine` is the owner of this process.

    True only for this host: the number is unused, or belongs to another process, or the machine has booted since.
    """
    host, _, rest = owner.partition(":")
    pid, _, told = rest.partition(":")
    if host != socket.gethostname() or not pid.isdigit() or owner == mine or owner.startswith(f"{mine}:"):
        return False
    machine, boot, space, start, *_ = (*told.partition(":")[0].split("."), "", "", "", "")
    there = _PidScope(machine, boot, space)
    here = _locate_process()
    if there.boot and here.boot and there.boot != here.boot:
        return bool(here.machine) and there.machine == here.machine
    if there.space != here.space and there.space:
        return False
    if int(pid) == os.getpid():
        return True
    runs, began = _read_process_state(int(pid))
    return not runs or bool(start and began and start != began)


def _read_process_state(pid: int) -> tuple[bool, str]:
    """Return whether a process runs, and its start in ticks since boot, if known.

    A killed process whose parent has not yet collected its exit status does not run.
    """
    try:
        os.kill(pid, 0)
        told = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(") ")[2].split()
    except ProcessLookupError:
        return False, ""
    except OSError:  # no permission to signal it, or a system without /proc
        return True, ""
    return told[:1] != ["Z"], told[_START_FIELD] if len(told) > _START_FIELD else ""


class _LostLeaseError(Exception):
    """Another process has taken the job over."""


def commit_leased(
    parts: Parts, jobs: Sequence[Job], decide: Callable[[Writer], object], end: Callable[[Writer], object]
) -> None:
    """Decide on a view, and file it with what `end` files in a short unit; nothing if another process has a job."""

    def finish(writer: Writer) -> None:
        _check_leased(writer, jobs)
        end(writer)

    with suppress(_LostLeaseError):
        commit_planned(parts.store, parts.user_id, decide, finish)


def commit_end(parts: Parts, jobs: Sequence[Job], end: Callable[[Writer], object]) -> None:
    """File what `end` files, which decides nothing; nothing if another process has a job."""

    def finish(writer: Writer) -> None:
        _check_leased(writer, jobs)
        end(writer)

    with suppress(_LostLeaseError):
        parts.store.commit(parts.user_id, finish)


def _check_leased(writer: Writer, jobs: Sequence[Job]) -> None:
    if not all(is_leased(writer, job) for job in jobs):
        raise _LostLeaseError


def renew_leases(parts: Parts, jobs: Sequence[Job]) -> None:
    """Renew the leases of jobs that this process still has."""

    def work(writer: Writer) -> None:
        until_us = parts.clock.now_us() + limits.JOB_LEASE_SECONDS * SECOND_US
        for job in jobs:
            if is_leased(writer, job):
                writer.put(replace(job, lease_until_us=until_us))

    parts.store.commit(parts.user_id, work)


def is_leased(writer: Writer, job: Job) -> bool:
    """Return whether this process still has the lease of a job: it may have expired and passed to another process."""
    return any(
        (now.status, now.lease_owner, now.attempts) == (job.status, job.lease_owner, job.attempts)
        for now in writer.jobs(JobFilter(id=job.id))
    )


# Named locks in the database, each with a lease.


def make_lease(parts: Parts, seconds: int, name: str = "", owner: str = "") -> SchedulerLease:
    """Make a lease of this many seconds from now, of the leadership unless it is named; 0 seconds release it."""
    now_us = parts.clock.now_us()
    return SchedulerLease(name=name, owner=owner or parts.owner, now_us=now_us, until_us=now_us + seconds * SECOND_US)


class HeldError(Exception):
    """Another run holds the lock."""


def take(parts: Parts, lead: SchedulerLease) -> bool:
    """Take or renew a lock or the leadership; return whether it was taken over from a killed process.

    Raises `Conflict` while another run holds it that may still be running.
    """
    try:
        parts.store.commit(parts.user_id, lambda writer: writer.put(lead))
    except Conflict as error:
        holder = error.ids.get("owner", "")
        if not is_gone(holder, parts.owner):
            raise
        parts.store.commit(parts.user_id, lambda writer: writer.put(replace(lead, over=holder)))
        _log.warning("took over from a process that is gone", extra={"duty": lead.name})
        return True
    return False


@dataclass(slots=True)
class Lock:
    """A held lock; `taken` if it was taken over from a killed process. A `free` lock takes nothing."""

    parts: Parts
    name: str
    owner: str
    seconds: int
    free: bool = False
    taken: bool = False

    def renew(self) -> None:
        """Take or renew the lock for its seconds; raises `HeldError` if another run holds it."""
        if self.free:
            return
        try:
            self.taken = take(self.parts, make_lease(self.parts, self.seconds, self.name, self.owner)) or self.taken
        except Conflict as error:
            raise HeldError(error.what) from error

    def give_up(self) -> None:
        """Release the lock, unless another run has taken it over."""
        with suppress(Conflict):
            if not self.free:
                lead = make_lease(self.parts, 0, self.name, self.owner)
                self.parts.store.commit(self.parts.user_id, lambda writer: writer.put(lead))


@contextmanager
def hold_lock(parts: Parts, name: str, seconds: int, *, free: bool = False) -> Generator[Lock]:
    """Hold a lock and release it at the end; two runs of one process exclude each other, too.

    The holder renews it before `seconds` have passed. Raises `HeldError` while another run holds it, also at a renewal.
    With `free` no lock is taken.
    """
    lock = Lock(parts, name, f"{parts.owner}:{draw_tag()}", seconds, free=free)
    lock.renew()
    try:
        yield lock
    finally:
        lock.give_up()
