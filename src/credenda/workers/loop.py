"""The job loop: take a lease, run, complete; yield to callers.

The jobs of a tenant run in order: while one process has some of them, no other process takes later ones. Jobs that call
a model have an order of their own. The delay of a failed job doubles with each attempt; after `job_attempts` attempts
the job is given up, with its reason. A batch ends with the job in which 16 messages are reached, and a job of more
messages is read in portions, between which others have a turn. A job whose process died is taken over as soon as
another process on the same machine looks, or when its lease expires.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import socket
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib import import_module
from itertools import islice, takewhile
from pathlib import Path
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, Final, NamedTuple

from credenda import limits, workers
from credenda.clock import SECOND_US, has_ended, seconds
from credenda.errors import Conflict, CredendaError, Unavailable
from credenda.ids import IdKind, draw_tag, parse_id_number
from credenda.index.document_names import name_memory_document
from credenda.lazy import import_on_use
from credenda.runtime import Parts
from credenda.storage.plan import commit_planned
from credenda.storage.records import CALL, EMBED, EXTRACT, REREAD, THINK, mark_complete
from credenda.storage.store import (
    Access,
    EventFilter,
    Job,
    JobFilter,
    JobStatus,
    Reader,
    SchedulerLease,
    VectorCopies,
    Writer,
)
from credenda.telemetry import record_job

if TYPE_CHECKING:
    from credenda.index import resident as disk_vectors
    from credenda.providers.llm.client import ModelClient
    from credenda.workers.llm_jobs import ModelAnswer
    from credenda.write.llm import turns
else:
    disk_vectors = import_on_use("credenda.index.resident")
    turns = import_on_use("credenda.write.llm.turns")


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
class TaskLock:
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
def hold_lock(parts: Parts, name: str, seconds: int, *, free: bool = False) -> Generator[TaskLock]:
    """Hold a lock and release it at the end; two runs of one process exclude each other, too.

    The holder renews it before `seconds` have passed. Raises `HeldError` while another run holds it, also at a renewal.
    With `free` no lock is taken.
    """
    lock = TaskLock(parts, name, f"{parts.owner}:{draw_tag()}", seconds, free=free)
    lock.renew()
    try:
        yield lock
    finally:
        lock.give_up()


# Writes in idle time: buffered impressions, the snapshot of a changed index, and the vectors of a large memory.


COMPRESSED: Final = "compressed"
"""The watermark that records that some vectors have few bits, and since when."""
_EXACT_BITS: Final = 16
_PAGES: Final = 20
"""Pages of vectors that are copied at a time: some 10,000 vectors."""


def flush_accesses(parts: Parts) -> None:
    """Write the buffered impressions; after a failure they stay buffered."""
    waiting = parts.accesses.drain()
    if waiting:
        with parts.store.reader(parts.user_id) as reader:  # a tenant erased since has no rows to update
            waiting = [one for one in waiting if one.memory_id.endswith(f"-{reader.tenant.tag}")]
    if not waiting:
        return
    try:
        parts.store.commit(parts.user_id, lambda writer: _write_accesses(parts, writer, waiting))
    except CredendaError:
        for access in waiting:
            parts.accesses.add(access)
        raise


def _write_accesses(parts: Parts, writer: Writer, waiting: Sequence[Access]) -> None:
    """Insert impressions, and queue embedding jobs for recalled memories whose vectors have few bits (C-024)."""
    for access in waiting:
        writer.put(access)
    if parts.embedder is None or writer.duties.watermark(COMPRESSED) is None:
        return
    tag = writer.tenant.tag
    codes = {name_memory_document(one.memory_id, tag): one.memory_id for one in waiting}
    stored = writer.vectors(list(codes), parts.embedder.model_id)
    rough = [codes[vector.code] for vector in stored if vector.bits < _EXACT_BITS]
    for memory_id in rough:
        evidence = writer.evidence(memory_ids=[memory_id])
        if evidence:
            number = parse_id_number(evidence[0].span.event_id, IdKind.EVENT, tag)
            writer.put(Job(kind=EMBED, first=number, last=number))
    if rough:
        parts.jobs_ready.set()


def copy_large_vectors(parts: Parts, *, pages: int = _PAGES) -> int:
    """Copy vectors of a memory that may be too large for an index in memory to the index of its backend.

    At most so many pages; returns how many vectors were copied. A backend without such an index copies nothing.
    """
    if parts.embedder is None:
        return 0
    model_id, copied = parts.embedder.model_id, 0
    for _ in range(pages):
        with parts.store.reader(parts.user_id) as reader:
            if reader.duties.heads.vector <= limits.RESIDENT_DOCUMENTS:
                return copied
            copies, tag = disk_vectors.copy_vectors(reader, model_id), reader.tenant.tag
        if copies is None:
            return copied
        parts.store.commit(parts.user_id, partial(_put_copies, tag=tag, copies=copies))
        copied += len(copies.vectors)
    return copied


def _put_copies(writer: Writer, *, tag: str, copies: VectorCopies) -> None:
    if writer.tenant.tag == tag:  # not erased since
        writer.put(copies)


def save_index(parts: Parts) -> None:
    """Write a snapshot of the index when it has changed enough, so that the next process starts fast."""
    if not parts.resident.in_use:
        return
    model_id = parts.embedder.model_id if parts.embedder else None
    with parts.store.reader(parts.user_id) as reader:
        index = parts.indexes.held(reader, model_id=model_id, store=parts.store_name)
        tag = reader.tenant.tag
    if index is not None and parts.indexes.needs_saving(index):
        image = parts.indexes.image(index, tag)

        def work(writer: Writer) -> None:
            if writer.tenant.tag == tag and writer.duties.lineage(index.heads) == index.lineage:  # not erased since
                writer.put(image)

        parts.store.commit(parts.user_id, work)


# The next messages of a job, which are a portion of it where it has many. Not pure: jobs are rows of the store.


MESSAGES: Final = 16
"""Messages that are read for a user before another one has a turn."""


def _count_done(job: Job) -> int:
    return int(json.loads(job.outcome).get("done", 0)) if job.outcome else 0


EMBEDDED: Final = 64
"""Messages that are embedded for a user before another one has a turn: texts of equal length are embedded at once."""


def choose_batch(jobs: Iterable[Job]) -> list[Job]:
    """Return the first jobs, up to that in which the messages of a batch are reached."""
    chosen: list[Job] = []
    share = 0.0
    for job in jobs:
        if share >= 1:
            break
        chosen.append(job)
        share += (job.last - job.first + 1 - _count_done(job)) / (EMBEDDED if job.kind == EMBED else MESSAGES)
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


_log = logging.getLogger(__name__)
_WAITING: Final = frozenset({JobStatus.QUEUED, JobStatus.PROCESSING, JobStatus.FAILED})
_ASKING: Final = frozenset({THINK, REREAD})
"""Kinds of jobs that call a model."""
_IDLE_SECONDS: Final = 1.0
_STAND_BACK_SECONDS: Final = 0.05
_SETTLE_STEP_SECONDS: Final = 0.01
_RENEW_SECONDS: Final = limits.JOB_LEASE_SECONDS / 4
"""After so long the leases of the jobs that wait in a batch are renewed."""
_ERROR_CHARACTERS: Final = 300
_DUTY_SECONDS: Final = 60.0


def _is_due(parts: Parts, job: Job, *, respect_backoff: bool) -> bool:
    if job.status is JobStatus.PROCESSING:
        return is_abandoned(job, parts)
    return not (respect_backoff or job.kind == REREAD) or has_ended(job.run_after_us, parts.clock.now_us())


def _list_due(parts: Parts, jobs: Sequence[Job], *, respect_backoff: bool) -> list[Job]:
    """Return the due jobs among these; none while another process, or another thread of this one, runs some of them."""
    if any(job.status is JobStatus.PROCESSING and not is_abandoned(job, parts) for job in jobs):
        return []
    return [job for job in jobs if _is_due(parts, job, respect_backoff=respect_backoff)]


def list_excluded_kinds(parts: Parts) -> frozenset[str]:
    """Return the kinds of jobs that this loop cannot run: calls, and without a model, second readings."""
    return frozenset({CALL, REREAD}) if parts.llm is None else frozenset({CALL})


def _filter_llm_jobs(parts: Parts, line: ModelClient) -> JobFilter:
    """Return the filter of the jobs that call a model, without second attempts while it cannot be called."""
    quiet = not has_ended(line.rereads_after_us, parts.clock.now_us())
    kinds = frozenset({THINK}) if quiet else _ASKING
    return JobFilter(statuses=_WAITING, kinds=kinds, limit=EMBEDDED)


def _lease(
    parts: Parts,
    wanted: JobFilter,
    *,
    respect_backoff: bool,
    choose: Callable[[Reader, list[Job]], list[Job]] = lambda _, due: choose_batch(due),
    seconds_more: float = 0.0,
) -> list[Job]:
    """Lease the due jobs that `choose` takes of a view, in one transaction, unless another process was faster."""
    lease_us = int((limits.JOB_LEASE_SECONDS + seconds_more) * SECOND_US)
    with parts.store.reader(parts.user_id) as reader:
        found = reader.jobs(wanted)
        due = _list_due(parts, found, respect_backoff=respect_backoff)
        chosen = {job.id for job in choose(reader, due)} if due else set[str]()
    if not chosen:
        return []
    places = [place for place, job in enumerate(found, start=1) if job.id in chosen]
    wanted = replace(wanted, limit=max(places))  # whatever comes after them is nobody's before they are

    def work(writer: Writer) -> list[Job]:
        still = _list_due(parts, writer.jobs(wanted), respect_backoff=respect_backoff)
        leased = [
            replace(
                job,
                status=JobStatus.PROCESSING,
                attempts=job.attempts + 1,
                lease_owner=parts.owner,
                lease_until_us=parts.clock.now_us() + lease_us,
            )
            for job in still
            if job.id in chosen
        ]
        for job in leased:
            writer.put(job)
        return leased

    return parts.store.commit(parts.user_id, work)


def _record_failure(parts: Parts, job: Job, error: Exception) -> None:
    """Record the failure of a job and the time of its next attempt, if any. The reason never contains memory text."""
    dead = job.attempts >= parts.settings.job_attempts
    wait_us = limits.JOB_BACKOFF_SECONDS * SECOND_US * 2 ** (job.attempts - 1)
    reason = f"{type(error).__name__}: {error}" if isinstance(error, CredendaError) else type(error).__name__
    report = replace(
        job,
        status=JobStatus.DEAD if dead else JobStatus.FAILED,
        run_after_us=parts.clock.now_us() + wait_us,
        lease_owner="",
        lease_until_us=0,
        error=reason[:_ERROR_CHARACTERS],
    )
    (workers.handlers.give_up_job if dead else workers.handlers.report_failure)(parts, job, report)
    _log.warning("job failed", extra={"job_id": job.id, "kind": job.kind, "attempts": job.attempts, "dead": dead})


def run_due_jobs(
    parts: Parts,
    *,
    respect_backoff: bool = True,
    yield_to_callers: bool = False,
    stop: Event | None = None,
    until_event: int | None = None,
) -> int:
    """Run one batch of due jobs and return their number.

    `respect_backoff` respects the delay of failed jobs; `until_event` excludes jobs for later events.
    """
    if yield_to_callers:
        parts.active_calls.wait_idle(_STAND_BACK_SECONDS)
    # Name the jobs that this process runs one after the other: all but those that ask a model.
    others = list_excluded_kinds(parts) if parts.llm is None else list_excluded_kinds(parts) | _ASKING
    jobs = _lease(
        parts,
        replace(JobFilter(statuses=_WAITING, other_kinds=others, limit=EMBEDDED), until_event=until_event),
        respect_backoff=respect_backoff,
    )
    done, renewed = 0, seconds()

    def go_on() -> bool:
        """Yield to callers and renew leases between two messages; False once the loop is to stop."""
        nonlocal renewed
        if stop is not None and stop.is_set():
            return False
        if yield_to_callers:
            parts.active_calls.wait_idle(_STAND_BACK_SECONDS)
        if seconds() - renewed > _RENEW_SECONDS:
            renew_leases(parts, jobs[done:])
            renewed = seconds()
        return True

    try:
        while done < len(jobs) and go_on():
            done += _run(parts, _choose_unit(parts, jobs[done:]), go_on)
    finally:
        if done < len(jobs):
            _release_leases(parts, jobs[done:])
    return done


def run_llm_jobs(
    parts: Parts,
    *,
    respect_backoff: bool = True,
    yield_to_callers: bool = False,
    stop: Event | None = None,
    until_event: int | None = None,
) -> int:
    """Send the next due messages to a model, apply its answers in order, and return their number.

    It takes as many passages as the model may process at once. `respect_backoff` and `until_event` are those of
    `run_due_jobs`; a second attempt always waits for its time. Once `stop` is set, messages without an answer stay
    queued.
    """
    line = parts.llm
    if line is None:
        return 0
    wanted = replace(_filter_llm_jobs(parts, line), until_event=until_event)
    slack = (2 + limits.LLM_CONTINUATIONS) * parts.settings.llm_timeout_seconds
    groups: list[list[str]] = []

    def choose(reader: Reader, due: list[Job]) -> list[Job]:
        found = turns.group_jobs(reader, due, line.model.at_once)
        groups[:] = [[job.id for job in group] for group in found]
        return [job for group in found for job in group]

    jobs = _lease(parts, wanted, respect_backoff=respect_backoff, choose=choose, seconds_more=slack)
    leased = {job.id: job for job in jobs}
    found = ([leased[name] for name in group if name in leased] for group in groups)
    units = [unit for unit in found if unit]
    try:
        thoughts = workers.llm_jobs.ask_about_jobs(parts, line, units, stop)
    except BaseException:
        _release_leases(parts, jobs)
        raise
    unanswered = [job for unit, thought in zip(units, thoughts, strict=True) if thought is None for job in unit]
    for unit, thought in zip(units, thoughts, strict=True):
        if thought is not None:
            if yield_to_callers:
                parts.active_calls.wait_idle(_STAND_BACK_SECONDS)
            _believe(parts, unit, thought)
    if unanswered:
        _release_leases(parts, unanswered)
    return len(jobs) - len(unanswered)


def _believe(parts: Parts, jobs: Sequence[Job], thought: ModelAnswer) -> None:
    try:
        workers.llm_jobs.apply_answer(parts, jobs, thought)
    except Exception as error:  # noqa: BLE001 - the job boundary: any failure is filed with the job
        for job in jobs:
            _record_failure(parts, job, error)
    if parts.embedder is not None:
        parts.jobs_ready.set()


def _choose_unit(parts: Parts, jobs: Sequence[Job]) -> list[Job]:
    """Return the first jobs that run together: such as embed, or as read a message each.

    A job that failed before runs alone, so that it fails alone.
    """
    head = jobs[0]
    if head.kind == EMBED:
        fresh = takewhile(lambda job: job.kind == EMBED and job.attempts == 1, jobs)
    elif head.kind == EXTRACT and parts.llm is None:
        short = takewhile(lambda job: job.kind == EXTRACT and job.attempts == 1 and job.first == job.last, jobs)
        fresh = islice(short, workers.handlers.TURNS_A_COMMIT)
    else:
        return [head]
    return list(fresh) or [head]


def _run(parts: Parts, unit: list[Job], go_on: Callable[[], bool]) -> int:
    """Run jobs together and return how many; messages whose reading fails together are read one by one."""
    try:
        with record_job(unit[0].kind, len(unit)):
            if len(unit) == 1:
                workers.handlers.run_job(parts, unit[0])
            elif unit[0].kind == EMBED:
                workers.handlers.embed_batch(parts, unit)
            else:
                return workers.handlers.extract_batch(parts, unit, go_on)
    except Exception as error:  # noqa: BLE001 - the job boundary: any failure is filed with the job
        if unit[0].kind == EXTRACT and len(unit) > 1:
            return sum(_run(parts, [job], go_on) for job in takewhile(lambda job: job is unit[0] or go_on(), unit))
        for job in _drop_erased(parts, unit):
            _record_failure(parts, job, error)
    return len(unit)


def _drop_erased(parts: Parts, jobs: list[Job]) -> list[Job]:
    """Remove the jobs of a tenant that was erased since, even if a new tenant has the same name."""
    with parts.store.reader(parts.user_id) as reader:
        return [job for job in jobs if job.id.endswith(f"-{reader.tenant.tag}")]


def _release_leases(parts: Parts, jobs: list[Job]) -> None:
    """Release leases that were not used; those of jobs that have ended, or that another process has, stay."""
    held = _drop_erased(parts, jobs)
    if not held:
        return

    def work(writer: Writer) -> None:
        for job in held:
            if not is_leased(writer, job):
                continue
            returned = replace(
                job, status=JobStatus.QUEUED, attempts=job.attempts - 1, lease_owner="", lease_until_us=0
            )
            writer.put(returned)

    parts.store.commit(parts.user_id, work)


def settle(parts: Parts, timeout_seconds: float) -> None:
    """Run or await every job for this tenant's events so far; raises `Unavailable` after the timeout.

    Failed jobs are retried at once, without their delay. Jobs that were given up do not block, nor do messages that
    wait for an unavailable model: the claims found without it are applied by then. Events recorded during the call are
    not waited for; otherwise the call would not return while they continue.
    """
    deadline = seconds() + timeout_seconds
    pause = Event()
    with parts.store.reader(parts.user_id) as reader:
        found = reader.find_events(EventFilter(newest_first=True, redacted=True, limit=1))
        newest = parse_id_number(found[0].id, IdKind.EVENT, reader.tenant.tag) if found else 0
    while True:
        ran = run_due_jobs(parts, respect_backoff=False, until_event=newest)
        ran += run_llm_jobs(parts, respect_backoff=False, until_event=newest)
        if not ran:
            if not _has_pending(parts, newest):
                return
            pause.wait(_SETTLE_STEP_SECONDS)
        if seconds() > deadline and _has_pending(parts, newest):
            raise Unavailable(
                "not all messages have been processed yet",
                why=f"jobs are still waiting after {timeout_seconds:g} s",
                fix="call settle again with more time, or see `credenda stats`",
            )


def _has_pending(parts: Parts, until_event: int) -> bool:
    with parts.store.reader(parts.user_id) as reader:
        # Return whether any job remains; a second attempt counts once its time has come.
        usual = JobFilter(statuses=_WAITING, other_kinds=frozenset({CALL, REREAD}), until_event=until_event, limit=1)
        if reader.jobs(usual):
            return True
        if parts.llm is None:
            return False
        due = replace(_filter_llm_jobs(parts, parts.llm), until_event=until_event, due_us=parts.clock.now_us(), limit=1)
        return bool(reader.jobs(due))


class Worker:
    """Background threads that run this tenant's jobs: one for most jobs, one for those that call a model."""

    def __init__(self, parts: Parts, *, duties: Callable[[], object] | None = None) -> None:
        """Prepare the threads for `start`; `duties` is called when idle, at most once a minute."""
        self._parts = parts
        self._duties = duties
        self._duties_at = seconds() + _DUTY_SECONDS
        self._wake = parts.jobs_ready
        self._stop = Event()
        self._threads: list[Thread] = []
        self._lock = Lock()
        self._policies_at_us = 0

    def start(self) -> None:
        """Start the threads, unless they run already."""
        warm = getattr(self._parts.extractor, "warm", None)
        if callable(warm):
            warm()  # now: compiling later would delay a caller by tens of milliseconds
        import_module("credenda.workers.handlers")  # likewise
        with self._lock:
            if self._threads:
                return
            self._threads.append(Thread(target=self._run, name="credenda-worker", daemon=True))
            if self._parts.llm is not None:
                self._threads.append(Thread(target=self._think, name="credenda-thinker", daemon=True))
            for thread in self._threads:
                thread.start()

    def stop(self) -> None:
        """Stop after the current job and wait for it; queued jobs stay queued for the next process."""
        self._stop.set()
        self._wake.set()
        self._parts.llm_jobs_ready.set()
        with self._lock:
            threads, self._threads = self._threads, []
        for thread in threads:
            thread.join()

    def _run(self) -> None:
        while not self._stop.is_set():
            self._wake.clear()
            try:
                ran = run_due_jobs(self._parts, yield_to_callers=True, stop=self._stop)
                if not ran:
                    flush_accesses(self._parts)
                    save_index(self._parts)
                    self._expire()
                    # Run the due tasks; a process that ends within a minute never reaches this.
                    if self._duties is not None and seconds() >= self._duties_at:
                        self._duties_at = seconds() + _DUTY_SECONDS
                        self._parts.store.retry_owed()
                        copy_large_vectors(self._parts)
                        self._duties()
            except Exception as error:  # noqa: BLE001 - the job boundary: the worker outlives whatever a store raises
                ran = 0
                _log.warning("worker waits", extra={"error": type(error).__name__})
            if not ran and not self._stop.is_set():
                self._wake.wait(_IDLE_SECONDS)

    def _expire(self) -> None:
        """Delete expired rows, a few batches at a time; nothing under a legal hold."""
        now_us = self._parts.clock.now_us()
        if not has_ended(self._policies_at_us, now_us):
            return
        try:
            report = workers.handlers.apply_policies(self._parts, batches_max=limits.POLICY_BATCHES)
        except Conflict:
            report = None
        if report is None or not report.more:
            self._policies_at_us = now_us + limits.POLICY_EVERY_SECONDS * SECOND_US

    def _think(self) -> None:
        waits = self._parts.llm_jobs_ready
        while not self._stop.is_set():
            waits.clear()
            try:
                ran = run_llm_jobs(self._parts, yield_to_callers=True, stop=self._stop)
            except Exception as error:  # noqa: BLE001 - the job boundary: the worker outlives whatever a store raises
                ran = 0
                _log.warning("thinker waits", extra={"error": type(error).__name__})
            if not ran and not self._stop.is_set():
                waits.wait(_IDLE_SECONDS)
